//! The counters of an open storage: the next id, the next sequence number, and how far both are reserved.
//!
//! Stored marks are the first numbers never handed out. A number below its mark costs nothing; one at it raises both
//! marks by a block, one row for both. A reopen continues at the marks, so that whatever was handed out before, stored
//! or not, stays below (gaps are permitted).

use crate::limits::{ID_BLOCK, MAX_NUMBER, SEQ_BLOCK};
use tidehold_session::ids::Seq;
use tidehold_session::storage::StorageError;

/// The first numbers never handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) id: u64,
    pub(super) seq: u64,
}

/// A plain value: a change makes a new one, which replaces the old after the database has accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counters {
    next_id: u64,
    next_seq: u64,
    /// No id above this is stored.
    highest: u64,
    head: Option<u64>,
    /// `None` before the first commit.
    marks: Option<Marks>,
}

impl Counters {
    pub(super) fn empty() -> Self {
        // Id 1 is the root conversation's.
        Self {
            next_id: 2,
            next_seq: 1,
            highest: 0,
            head: None,
            marks: None,
        }
    }

    pub(super) fn reopened(marks: Marks) -> Self {
        Self {
            next_id: marks.id,
            next_seq: marks.seq,
            highest: marks.id.saturating_sub(1),
            head: Some(marks.seq.saturating_sub(1)),
            marks: Some(marks),
        }
    }

    pub(super) fn is_stored(&self) -> bool {
        self.marks.is_some()
    }

    pub(super) fn head(&self) -> Option<Seq> {
        self.head.map(Seq)
    }

    /// Whether no stored record can have this id, so that a new one needs no look.
    pub(super) fn is_fresh(&self, id: u64) -> bool {
        id > self.highest
    }

    /// The next id. Before the first commit there is nothing to store a mark in; that commit stores one above it.
    pub(super) fn mint(self) -> Result<(u64, Self), StorageError> {
        let id = self.next_id;
        if id > MAX_NUMBER {
            return Err(StorageError::IdsExhausted);
        }
        let after = Self {
            next_id: id + 1,
            ..self
        };
        Ok((
            id,
            if after.is_stored() {
                after.with_marks()
            } else {
                after
            },
        ))
    }

    /// The counters after a commit whose largest id is `highest`, which always have marks.
    pub(super) fn commit(self, highest: u64) -> Result<(Seq, Self), StorageError> {
        let seq = self.next_seq;
        if seq > MAX_NUMBER {
            return Err(StorageError::Backend("the sequence numbers are exhausted".into()));
        }
        let after = Self {
            next_id: self.next_id.max(highest + 1),
            next_seq: seq + 1,
            highest: self.highest.max(highest),
            head: Some(seq),
            marks: self.marks,
        };
        Ok((Seq(seq), after.with_marks()))
    }

    /// The marks that have to be stored to get from `before` to here.
    pub(super) fn raised_since(&self, before: &Self) -> Option<Marks> {
        self.marks.filter(|marks| before.marks != Some(*marks))
    }

    fn with_marks(self) -> Self {
        let reserved = self
            .marks
            .is_some_and(|marks| self.next_id <= marks.id && self.next_seq <= marks.seq);
        if reserved {
            return self;
        }
        let marks = Marks {
            id: (self.next_id + ID_BLOCK).min(MAX_NUMBER + 1),
            seq: (self.next_seq + SEQ_BLOCK).min(MAX_NUMBER + 1),
        };
        Self {
            marks: Some(marks),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reopen_starts_above_everything_handed_out() {
        let (_, mut counters) = Counters::empty().commit(1).unwrap();
        for _ in 0..ID_BLOCK * 3 {
            let (id, after) = counters.mint().unwrap();
            assert!(Counters::reopened(after.marks.unwrap()).next_id > id);
            counters = after;
        }
    }

    #[test]
    fn a_block_costs_one_mark() {
        let (_, mut counters) = Counters::empty().commit(1).unwrap();
        let mut raised = 0;
        for _ in 0..ID_BLOCK * 4 {
            let (_, after) = counters.mint().unwrap();
            raised += u32::from(after.raised_since(&counters).is_some());
            let (_, after) = after.commit(0).unwrap();
            counters = after;
        }
        assert!(raised <= 4, "{raised}");
    }

    #[test]
    fn after_a_reopen_mint_and_commit_share_a_mark() {
        let counters = Counters::reopened(Marks { id: 100, seq: 50 });
        let (id, minted) = counters.mint().unwrap();
        assert_eq!(id, 100);
        assert!(minted.raised_since(&counters).is_some());
        let (seq, committed) = minted.commit(id).unwrap();
        assert_eq!(seq, Seq(50));
        assert_eq!(committed.raised_since(&minted), None);
    }

    #[test]
    fn the_last_id_is_2_pow_53_minus_1() {
        let (_, counters) = Counters::empty().commit(MAX_NUMBER - 1).unwrap();
        let (id, counters) = counters.mint().unwrap();
        assert_eq!(id, MAX_NUMBER);
        assert_eq!(counters.mint(), Err(StorageError::IdsExhausted));
        assert_eq!(
            Counters::reopened(counters.marks.unwrap()).mint(),
            Err(StorageError::IdsExhausted)
        );
    }
}
