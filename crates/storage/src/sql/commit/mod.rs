//! One commit: everything that can fail early is checked and encoded first, then one transaction writes it.

mod copies;
mod documents;
mod tables;

use super::driver::{SqlDriver, SqlError};
use super::marks::Counters;
use super::recall::Recall;
use super::rows::{Reader, backend, exact};
use super::{schema, statements as sql};
use crate::batch::{self, Plan, RecordType};
use std::cell::RefCell;
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

/// What the writes of one commit share.
struct Target<'a> {
    driver: &'a dyn SqlDriver,
    /// State before the commit.
    before: Counters,
    seq: Seq,
    /// Changes with the writes. Never borrowed across one.
    recall: RefCell<Recall>,
}

impl Target<'_> {
    fn reader(&self) -> Reader<'_> {
        Reader::over(self.driver)
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
    let rows = tables::encode(&plan)?;
    let (seq, after) = before.counters.commit(plan.highest)?;
    let target = Target {
        driver,
        before: before.counters,
        seq,
        recall: RefCell::new(before.recall),
    };
    // The driver knows only its own errors; ours waits here while it rolls back.
    let mut refused = None;
    let body = &mut || {
        let written = write_all(&target, &plan, &rows, before.incarnation, &after);
        written.map_err(|error| {
            let text = error.to_string();
            refused = Some(error);
            SqlError(text)
        })
    };
    match driver.transaction(body) {
        Ok(()) => Ok(Done {
            seq,
            counters: after,
            recall: target.recall.into_inner(),
        }),
        Err(error) => Err(refused.unwrap_or_else(|| backend(error))),
    }
}

fn write_all(
    target: &Target<'_>,
    plan: &Plan<'_>,
    rows: &[tables::EncodedRow<'_>],
    incarnation: &str,
    after: &Counters,
) -> Result<(), StorageError> {
    match after.raised_since(&target.before) {
        Some(marks) if !target.before.is_stored() => schema::create(target.driver, incarnation, marks)?,
        Some(marks) => schema::set_marks(target.driver, marks)?,
        None => {}
    }
    // Copies read the state before the batch, so all of them come before any document write.
    let copies = copies::load(target, plan)?;
    for row in rows {
        tables::write(target, row)?;
    }
    documents::write(target, plan, &copies)
}
