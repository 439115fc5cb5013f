//! Reads that never enable scheduling (spec 2.2).

use super::Harness;
use crate::agent::AgentState;
use crate::docs::{AGENT, USAGE, empty_usage};
use crate::error::HarnessError;
use crate::limits::MAX_PAGE_BYTES;
use crate::view;
use futures::future::LocalBoxFuture;
use tidehold_delta::Json;
use tidehold_session::context::ContextView;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::limits::SCAN_PAGE;
use tidehold_session::records::SubmissionRecord;
use tidehold_session::storage::{ConversationQuery, Cursor, EntryQuery, ScanOrder, SubmissionQuery};

/// A page of entries as public JSON, bounded in bytes; one entry always fits.
pub struct EntryPage {
    pub items: Vec<Json>,
    pub next: Option<Cursor>,
}

/// `pi.usage` documents, summed or per conversation.
pub struct Usage {
    pub total: Json,
    pub conversations: Vec<(ConversationId, Json)>,
}

impl Harness {
    /// Stored history of a conversation, newest first unless asked otherwise.
    pub fn entries<'a>(
        &'a self,
        conversation: ConversationId,
        order: Option<ScanOrder>,
        limit: usize,
        cursor: Option<Cursor>,
    ) -> LocalBoxFuture<'a, Result<EntryPage, HarnessError>> {
        Box::pin(async move {
            let query = EntryQuery {
                conversation_id: conversation,
                min_entry_id: None,
                max_entry_id: None,
                order,
            };
            let mut page = EntryPage {
                items: Vec::new(),
                next: cursor,
            };
            let mut bytes = 0;
            // One entry at a time keeps memory bounded by the page, whatever the entries weigh.
            while page.items.len() < limit {
                let step = self.session().scan_entries(&query, 1, page.next.as_ref()).await?;
                let Some(entry) = step.items.first() else {
                    page.next = None;
                    break;
                };
                let json = view::entry(entry);
                let size = json.encoded_len();
                if !page.items.is_empty() && bytes + size > MAX_PAGE_BYTES {
                    break;
                }
                bytes += size;
                page.items.push(json);
                page.next = step.next;
                if page.next.is_none() {
                    break;
                }
            }
            Ok(page)
        })
    }

    /// The derived context, optionally as of a visible entry.
    pub fn context<'a>(
        &'a self,
        conversation: ConversationId,
        at: Option<EntryId>,
    ) -> LocalBoxFuture<'a, Result<ContextView, HarnessError>> {
        Box::pin(async move { Ok(self.session().context(conversation, at).await?) })
    }

    /// The stored choices of a conversation; `{}` when absent.
    pub fn agent_state<'a>(
        &'a self,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<AgentState, HarnessError>> {
        Box::pin(async move {
            let stored = self.session().snapshot(&AGENT, conversation).await?;
            Ok(AgentState::from_document(stored.as_ref())?)
        })
    }

    /// The spend of one conversation.
    pub fn conversation_usage<'a>(
        &'a self,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<Json, HarnessError>> {
        Box::pin(async move {
            Ok(self
                .session()
                .snapshot(&USAGE, conversation)
                .await?
                .unwrap_or_else(empty_usage))
        })
    }

    /// Queued and placed submissions in id order.
    pub fn live_submissions<'a>(&'a self) -> LocalBoxFuture<'a, Result<Vec<SubmissionRecord>, HarnessError>> {
        Box::pin(async move {
            let query = SubmissionQuery {
                live: true,
                ..SubmissionQuery::default()
            };
            let mut found = Vec::new();
            let mut cursor = None;
            loop {
                let page = self
                    .session()
                    .scan_submissions(&query, SCAN_PAGE, cursor.as_ref())
                    .await?;
                found.extend(page.items);
                match page.next {
                    Some(next) => cursor = Some(next),
                    None => return Ok(found),
                }
            }
        })
    }

    /// The session total of every conversation's ledger, and each of them.
    pub fn usage<'a>(&'a self) -> LocalBoxFuture<'a, Result<Usage, HarnessError>> {
        Box::pin(async move {
            let mut usage = Usage {
                total: empty_usage(),
                conversations: Vec::new(),
            };
            let mut cursor = None;
            loop {
                let query = ConversationQuery::default();
                let page = self
                    .session()
                    .scan_conversations(&query, SCAN_PAGE, cursor.as_ref())
                    .await?;
                for record in page.items {
                    let own = self.conversation_usage(record.id).await?;
                    usage.total = crate::usage::sum(&usage.total, &own)?;
                    usage.conversations.push((record.id, own));
                }
                match page.next {
                    Some(next) => cursor = Some(next),
                    None => return Ok(usage),
                }
            }
        })
    }
}
