//! Reading the model context of a conversation, and continuing it at the next read (spec 2.1).

use super::{Inner, Session};
use crate::context::{ContextView, Derived};
use crate::error::{Rejection, SessionError};
use crate::host::Millis;
use crate::ids::{ConversationId, EntryId};
use crate::limits::{CONTEXT_BYTES, SCAN_PAGE};
use crate::records::EntryRecord;
use crate::storage::{EntryQuery, ScanOrder};
use crate::weight;
use futures::future::LocalBoxFuture;
use std::rc::Rc;

/// Derivations kept for the next read, the last used last.
#[derive(Default)]
pub(crate) struct Contexts(Vec<Kept>);

struct Kept {
    conversation: ConversationId,
    derived: Derived,
    /// Encoded bytes of its entries, about.
    bytes: usize,
    used: Millis,
}

impl Contexts {
    /// The derivation, for its only user.
    fn take(&mut self, conversation: ConversationId) -> Option<Kept> {
        let at = self.0.iter().position(|kept| kept.conversation == conversation)?;
        Some(self.0.remove(at))
    }

    /// Keeps a derivation while all of them together stay small.
    fn put(&mut self, kept: Kept) {
        // One of an older cutoff could not be continued by a reader of now.
        let further = match self.take(kept.conversation) {
            Some(other) if other.derived.newest() > kept.derived.newest() => other,
            _ => kept,
        };
        // What is too large alone would only drive out the others.
        if further.bytes > CONTEXT_BYTES {
            return;
        }
        self.0.push(further);
        let mut bytes = 0;
        let newest_first = self.0.iter().rev();
        let fitting = newest_first.take_while(|kept| {
            bytes += kept.bytes;
            bytes <= CONTEXT_BYTES
        });
        let surplus = self.0.len() - fitting.count();
        self.0.drain(..surplus);
    }

    /// Forgets what was not used for `retention`.
    pub fn evict(&mut self, now: Millis, retention: Millis) {
        self.0.retain(|kept| kept.used.saturating_add(retention) > now);
    }
}

impl Session {
    /// The context of a conversation, as of a visible entry or of now. A read after an append reads and derives only what
    /// was appended, while the entries of the context together stay below [`CONTEXT_BYTES`]; a longer one is derived anew each
    /// time.
    ///
    /// # Errors
    /// [`Rejection::EntryNotVisible`].
    pub fn context<'a>(
        &'a self,
        conversation: ConversationId,
        at: Option<EntryId>,
    ) -> LocalBoxFuture<'a, Result<ContextView, SessionError>> {
        Box::pin(async move {
            self.health()?;
            // One read, however many calls it takes: a close meanwhile lets it end.
            let (_hold, inner) = (self.0.hold(), &self.0);
            if let Some(kept) = inner.continued(conversation, at).await? {
                return Ok(inner.keep_context(kept));
            }
            if let Some(entry) = at {
                let found = inner.storage.visible_entry(conversation, entry);
                let found = inner.read(found).await?;
                found.ok_or(Rejection::EntryNotVisible { entry, conversation })?;
            }
            let kept = inner.derived_anew(conversation, at).await?;
            Ok(inner.keep_context(kept))
        })
    }
}

impl Inner {
    /// The kept derivation brought to the cutoff; `None` where there is none to continue.
    async fn continued(
        &self,
        conversation: ConversationId,
        at: Option<EntryId>,
    ) -> Result<Option<Kept>, SessionError> {
        let Some(mut kept) = self.contexts.borrow_mut().take(conversation) else {
            return Ok(None);
        };
        let newest = kept.derived.newest();
        if at.is_some() && at < newest {
            self.contexts.borrow_mut().put(kept);
            return Ok(None);
        }
        if at.is_some() && at == newest {
            return Ok(Some(kept));
        }
        let from = newest.map(|newest| EntryId(newest.0 + 1));
        let newer = self.range(conversation, from, at).await?;
        // A cutoff that is not there is not visible.
        if at.is_some() && newer.last().map(|entry| entry.id) != at {
            return Ok(None);
        }
        kept.bytes += weight_of(&newer);
        Ok(kept.derived.extend(newer).is_ok().then_some(kept))
    }

    async fn derived_anew(
        &self,
        conversation: ConversationId,
        at: Option<EntryId>,
    ) -> Result<Kept, SessionError> {
        loop {
            let marker = self.storage.find_latest_head_marker(conversation, at);
            let marker = self.read(marker).await?;
            let from = marker.as_ref().map(|marker| marker.head);
            let marker = marker.map(|marker| Rc::new(marker.entry));
            let range = self.range(conversation, from, at).await?;
            // Committed while this was read: another marker rules the range.
            let is_newer = |entry: &&Rc<EntryRecord>| {
                entry.head.is_some() && marker.as_ref().is_none_or(|marker| entry.id > marker.id)
            };
            if range.iter().rev().find(is_newer).is_none() {
                return Ok(Kept {
                    conversation,
                    bytes: weight_of(&range),
                    derived: Derived::new(marker, range),
                    used: self.host.now(),
                });
            }
        }
    }

    /// Visible entries between both, ascending.
    async fn range(
        &self,
        conversation: ConversationId,
        from: Option<EntryId>,
        through: Option<EntryId>,
    ) -> Result<Vec<Rc<EntryRecord>>, SessionError> {
        let query = EntryQuery {
            conversation_id: conversation,
            min_entry_id: from,
            max_entry_id: through,
            order: Some(ScanOrder::Ascending),
        };
        let mut range = Vec::new();
        let mut cursor = None;
        loop {
            let page = self.storage.scan_entries(&query, SCAN_PAGE, cursor.as_ref());
            let page = self.read(page).await?;
            range.extend(page.items.into_iter().map(Rc::new));
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(range),
            }
        }
    }

    fn keep_context(&self, mut kept: Kept) -> ContextView {
        let view = kept.derived.view();
        kept.used = self.host.now();
        self.contexts.borrow_mut().put(kept);
        view
    }
}

fn weight_of(entries: &[Rc<EntryRecord>]) -> usize {
    entries.iter().map(|entry| weight::of_entry(entry)).sum()
}
