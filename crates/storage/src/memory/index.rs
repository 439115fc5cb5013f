//! The memory backend as the index of one that keeps its data elsewhere: a batch is checked, made durable by its owner, and
//! only then published here.

use super::MemoryStorage;
use super::commit::{self, Copies};
use crate::batch::Plan;
use crate::limits::MAX_NUMBER;
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::storage::StorageError;

impl MemoryStorage {
    /// Checks a batch against what is stored. Whatever is answered, nothing changed.
    ///
    /// # Errors
    /// [`StorageError::Batch`], or [`StorageError::Corrupt`] when the source of a copy is.
    pub(crate) fn prepare(&self, plan: &Plan<'_>) -> Result<Copies, StorageError> {
        commit::validate(&self.state.borrow(), plan)
    }

    /// Stores what [`prepare`](Self::prepare) has just accepted, as commit `seq`.
    pub(crate) fn publish(&self, plan: &Plan<'_>, copies: Copies, seq: Seq) {
        commit::apply(&mut self.state.borrow_mut(), plan, copies, seq);
    }

    /// The newest commit.
    pub(crate) fn newest(&self) -> Option<Seq> {
        self.state.borrow().head
    }

    /// The number of the next commit.
    ///
    /// # Errors
    /// [`StorageError::Backend`] when there is none left.
    pub(crate) fn next_seq(&self) -> Result<Seq, StorageError> {
        let next = self.state.borrow().next_seq();
        if next.0 > MAX_NUMBER {
            return Err(StorageError::Backend("the sequence numbers are exhausted".into()));
        }
        Ok(next)
    }

    /// The id that the next mint hands out, when it is not beyond the largest.
    pub(crate) fn next_id(&self) -> u64 {
        self.state.borrow().next_id
    }

    /// Every id up to this one is spent.
    pub(crate) fn spend_ids_to(&self, id: u64) {
        let mut state = self.state.borrow_mut();
        state.next_id = state.next_id.max(id.saturating_add(1));
    }

    /// Whether a document keeps its history; `None` when there is no such document.
    pub(crate) fn is_rewindable(&self, id: DocumentId) -> Option<bool> {
        let state = self.state.borrow();
        let document = state.documents.get(&id.0)?;
        Some(document.record.is_rewindable())
    }
}
