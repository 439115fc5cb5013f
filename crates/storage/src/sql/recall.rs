//! What a commit need not read again, because this storage wrote or read it before.
//!
//! A commit takes the whole of it, changes it beside the rows, and gives it back only when the transaction succeeded.
//! So it says exactly what is stored, and a commit that fails, whatever the cause, leaves nothing remembered.

use super::read::documents::Tail;
use crate::limits::RECALLED;
use tidehold_delta::Text;
use tidehold_session::ids::ConversationId;

/// What is stored of a task that is about to be replaced.
pub(super) struct TaskFacts {
    pub(super) conversation: ConversationId,
    pub(super) kind: Text,
    pub(super) ended: bool,
    pub(super) chunks: u64,
}

/// Documents and tasks that are likely to change again. Nothing is remembered of what has ended.
#[derive(Default)]
pub(super) struct Recall {
    pub(super) documents: Recent<Tail>,
    pub(super) tasks: Recent<TaskFacts>,
}

/// The values used last, by id, the latest at the end. A list: so few ids are searched faster than hashed.
pub(super) struct Recent<T>(Vec<(u64, T)>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Recent<T> {
    /// Takes a value out. Whoever changes what it stands for puts the new one back.
    pub(super) fn take(&mut self, id: u64) -> Option<T> {
        let at = self.0.iter().rposition(|(known, _)| *known == id)?;
        Some(self.0.remove(at).1)
    }

    /// Remembers a value that is not in here, and forgets the one unused for longest when there are too many.
    pub(super) fn put(&mut self, id: u64, value: T) {
        if self.0.len() >= RECALLED {
            self.0.remove(0);
        }
        self.0.push((id, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_unused_for_longest_goes_first() {
        let mut recent = Recent::default();
        for id in 0..RECALLED as u64 {
            recent.put(id, id * 10);
        }
        assert_eq!(recent.take(0), Some(0));
        recent.put(0, 1);
        recent.put(1_000, 2);
        assert_eq!((recent.take(1), recent.take(0)), (None, Some(1)));
        assert_eq!(recent.take(0), None);
        assert_eq!(recent.0.len(), RECALLED - 1);
    }
}
