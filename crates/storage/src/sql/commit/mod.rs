//! One commit: it is checked against what is stored and encoded into one list of writes, then one transaction applies those.
//!
//! No read of a commit comes after a write of it: what a batch does to itself, its plan has judged already.

mod copies;
mod documents;
mod tables;

use super::driver::SqlDriver;
use super::marks::Counters;
use super::recall::Recall;
use super::rows::{Reader, backend, exact};
use super::writes::Writes;
use super::{schema, small, statements as sql};
use crate::batch::{self, RecordType};
use tidehold_session::ids::Seq;
use tidehold_session::storage::{StorageError, StorageWrite};

/// What a storage knows when a commit begins.
pub(super) struct Before<'a> {
    pub(super) counters: Counters,
    pub(super) recall: Recall,
    /// Stored by the first commit.
    pub(super) incarnation: &'a str,
}

/// What it knows after the commit.
pub(super) struct Done {
    pub(super) seq: Seq,
    pub(super) counters: Counters,
    pub(super) recall: Recall,
}

/// What the parts of one commit share.
struct Target<'a> {
    driver: &'a dyn SqlDriver,
    /// State before the commit.
    before: Counters,
    seq: Seq,
    writes: Writes,
    /// Changes with the writes.
    recall: Recall,
}

impl<'a> Target<'a> {
    /// Reads what is stored before the commit.
    fn reader(&self) -> Reader<'a> {
        Reader::new(self.driver, &self.before)
    }

    /// # Errors
    /// [`StorageError::Batch`] when another record has the id.
    fn check_new(&self, id: u64) -> Result<(), StorageError> {
        if self.before.is_fresh(id) {
            return Ok(());
        }
        let row = self.reader().first(&sql::OWNER_OF_ID, &[exact(id)])?;
        let owner = match row {
            Some(mut row) => row.optional_text()?,
            None => None,
        };
        match owner.as_deref() {
            None => Ok(()),
            Some("entry") => Err(batch::taken(id, RecordType::Entry)),
            Some("task") => Err(batch::taken(id, RecordType::Task)),
            Some("document") => Err(batch::taken(id, RecordType::Document)),
            Some("submission") => Err(batch::taken(id, RecordType::Submission)),
            Some(_) => Err(batch::taken(id, RecordType::Conversation)),
        }
    }
}

/// Commits `writes`. On an error the database is as before, or, when the commit itself fails, unknown; the caller keeps its
/// old counters, which are never ahead, and remembers nothing.
pub(super) fn commit(
    driver: &dyn SqlDriver,
    before: Before<'_>,
    writes: &[StorageWrite],
) -> Result<Done, StorageError> {
    let plan = batch::plan(writes)?;
    let (seq, after) = before.counters.commit(plan.highest)?;
    let mut target = Target {
        driver,
        before: before.counters,
        seq,
        writes: Writes::default(),
        recall: before.recall,
    };
    match after.raised_since(&target.before) {
        Some(marks) if !target.before.is_stored() => {
            schema::create(&mut target.writes, before.incarnation, marks);
        }
        Some(marks) => schema::set_marks(&mut target.writes, marks),
        None => {}
    }
    let rows = tables::encode(&mut target.writes, &plan)?;
    for row in rows {
        tables::write(&mut target, row)?;
    }
    documents::write(&mut target, &plan)?;
    small::fuse(&mut target.writes);
    driver.apply(&target.writes).map_err(backend)?;
    Ok(Done {
        seq,
        counters: after,
        recall: target.recall,
    })
}
