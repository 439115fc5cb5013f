//! Reading what a child wrote.

use crate::limits::EVIDENCE_PAGE;
use crate::run::Child;
use tidehold_delta::Json;
use tidehold_harness::docs::LIVE;
use tidehold_harness::entries::ASSISTANT;
use tidehold_models::message::{AssistantMessage, Message};
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{EntryRecord, InputStatus, SubmissionState};
use tidehold_session::storage::{Cursor, EntryQuery, ScanOrder};
use tidehold_session::{Session, SessionError};

/// A child's entries, oldest first, a few at a time.
pub(crate) struct Entries<'a> {
    session: &'a Session,
    query: EntryQuery,
    page: std::vec::IntoIter<EntryRecord>,
    next: Next,
}

enum Next {
    First,
    Cursor(Cursor),
    End,
}

impl<'a> Entries<'a> {
    pub fn of(session: &'a Session, conversation: ConversationId) -> Self {
        let query = EntryQuery {
            conversation_id: conversation,
            min_entry_id: None,
            max_entry_id: None,
            order: Some(ScanOrder::Ascending),
        };
        Self {
            session,
            query,
            page: Vec::new().into_iter(),
            next: Next::First,
        }
    }

    /// The next entry. Nothing beyond the page it stands on is read.
    pub async fn next(&mut self) -> Result<Option<EntryRecord>, SessionError> {
        loop {
            if let Some(entry) = self.page.next() {
                return Ok(Some(entry));
            }
            let cursor = match &self.next {
                Next::First => None,
                Next::Cursor(cursor) => Some(cursor),
                Next::End => return Ok(None),
            };
            let page = self
                .session
                .scan_entries(&self.query, EVIDENCE_PAGE, cursor)
                .await?;
            self.page = page.items.into_iter();
            self.next = page.next.map_or(Next::End, Next::Cursor);
        }
    }
}

/// The model's message of an entry, when it is one.
pub(crate) fn assistant(entry: &EntryRecord) -> Option<AssistantMessage> {
    if &*entry.kind != ASSISTANT {
        return None;
    }
    message(entry.model.as_ref()?.first()?)
}

fn message(json: &Json) -> Option<AssistantMessage> {
    match json.to_typed::<Message>() {
        Ok(Message::Assistant(message)) => Some(message),
        Ok(Message::System(_) | Message::User(_) | Message::ToolResult(_)) | Err(_) => None,
    }
}

/// The text of an answer; `None` when the entry is no answer.
pub(crate) async fn answer(session: &Session, id: EntryId) -> Result<Option<String>, SessionError> {
    let stored = session.entry(id).await?;
    Ok(stored
        .as_ref()
        .and_then(|stored| assistant(&stored.entry))
        .map(|message| message.text()))
}

/// What is being written right now, from the value of `pi.live`.
pub(crate) fn partial(live: Option<&Json>) -> Option<String> {
    let written = live?.get("generation")?.get("message")?;
    message(written)
        .map(|message| message.text())
        .filter(|text| !text.is_empty())
}

/// Whether a child wrote any text, finished or not.
pub(crate) async fn wrote(session: &Session, conversation: ConversationId) -> Result<bool, SessionError> {
    if partial(session.snapshot(&LIVE, conversation).await?.as_ref()).is_some() {
        return Ok(true);
    }
    let mut entries = Entries::of(session, conversation);
    while let Some(entry) = entries.next().await? {
        if assistant(&entry).is_some_and(|message| !message.text().is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The content of the prompt a child was given: the message of its first input.
pub(crate) async fn prompt(session: &Session, child: Child) -> Result<Option<Json>, SessionError> {
    let Some(submission) = session.submission(child.submission).await? else {
        return Ok(None);
    };
    let entry = match submission.state {
        SubmissionState::Input(InputStatus::Placed { entry } | InputStatus::Done { entry, .. }) => entry,
        SubmissionState::Input(InputStatus::Unanswered {
            entry: Some(entry), ..
        }) => entry,
        SubmissionState::Input(InputStatus::Queued | InputStatus::Unanswered { entry: None, .. })
        | SubmissionState::Write(_) => return Ok(None),
    };
    let stored = session.entry(entry).await?;
    let message = stored
        .as_ref()
        .and_then(|stored| stored.entry.model.as_ref()?.first());
    Ok(message.and_then(|message| message.get("content")).cloned())
}
