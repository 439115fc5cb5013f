//! Staging task records in the scheduler's own transactions.

use super::Inner;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::{Fit, Mode};
use crate::inspection::BlockedReason;
use crate::limits::PASS_BYTES;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{AbortMarkReason, TaskOutcome, TaskRecord, TaskState};
use tidehold_session::tx::Staged;
use tidehold_session::weight;
use tidehold_session::{SessionError, Tx};

/// Bytes a commit may still replace. The first record always fits.
pub(super) struct Budget {
    left: usize,
    untouched: bool,
}

impl Budget {
    pub fn new() -> Self {
        Self {
            left: PASS_BYTES,
            untouched: true,
        }
    }

    /// Takes a record's share; `false` when it must wait for the next commit.
    pub fn take(&mut self, record: &TaskRecord) -> bool {
        let bytes = weight::of_task(record);
        let fits = self.untouched || bytes <= self.left;
        self.untouched = false;
        self.left = self.left.saturating_sub(bytes);
        fits
    }
}

/// The record as its transaction would leave it so far: what others staged there must not be lost. Where they staged
/// nothing it is the mirror's own, so that its unchanged parts stay shared and nothing is read or decoded again.
pub(crate) fn as_staged(staged: &Staged, committed: &TaskRecord) -> TaskRecord {
    let found = staged.tasks.iter().find(|record| record.id == committed.id);
    found.unwrap_or(committed).clone()
}

impl Inner {
    /// The record with an abort mark.
    pub(super) async fn stage_mark(
        &self,
        tx: &Tx,
        record: &TaskRecord,
        reason: Option<AbortMarkReason>,
    ) -> Result<(), SessionError> {
        let state = match &record.state {
            TaskState::Completing { .. } if broken(Sabotage::MarkReplacesOutcome) => TaskState::Completing {
                outcome: TaskOutcome::Aborted {
                    reason: None,
                    result: None,
                },
            },
            state => state.clone(),
        };
        tx.stage_task(TaskRecord {
            abort_requested: true,
            abort_reason: reason,
            state,
            ..record.clone()
        })
        .await
    }

    /// The record with its terminal outcome, and what belongs to an outcome the scheduler wrote.
    pub(super) async fn stage_terminal(
        &self,
        tx: &Tx,
        record: &TaskRecord,
        outcome: TaskOutcome,
    ) -> Result<(), SessionError> {
        let written = matches!(
            outcome,
            TaskOutcome::Faulted { .. } | TaskOutcome::Orphaned { .. }
        );
        let ended = TaskRecord {
            state: TaskState::Terminal { outcome },
            ..record.clone()
        };
        if written {
            // Before the record is staged: the hook may still use the task's documents.
            self.options.hooks.settle_written_outcome(tx, &ended).await?;
        }
        tx.stage_task(ended).await
    }

    pub(super) async fn stage_orphan(
        &self,
        tx: &Tx,
        record: &TaskRecord,
        reason: BlockedReason,
    ) -> Result<(), SessionError> {
        let marked = TaskRecord {
            abort_requested: true,
            abort_reason: None,
            ..record.clone()
        };
        self.stage_terminal(
            tx,
            &marked,
            TaskOutcome::Orphaned {
                reason: reason.as_str().into(),
            },
        )
        .await
    }

    /// Reserves a task. One that is `running` already, because an invocation of it ended for an abort or because the open
    /// had no room for it, starts without a write.
    pub(super) async fn stage_start(
        self: &Rc<Self>,
        tx: &Tx,
        id: TaskId,
        mode: Mode,
    ) -> Result<(), SessionError> {
        let Some(task) = self.live(id) else { return Ok(()) };
        let Some(definition) = self.registry.get(&task.record.kind) else {
            return Ok(());
        };
        let mut record = task.record.as_ref().clone();
        let checkpoint = match task.fit {
            Fit::Migrated {
                version,
                input,
                checkpoint,
            } => {
                record.version = version;
                record.input = input;
                checkpoint
            }
            Fit::Fits => match record.checkpoint() {
                Some(checkpoint) => checkpoint.clone(),
                None => return Ok(()),
            },
            // The registry changed while this pass waited for a hook. The next pass decides anew.
            Fit::Untried | Fit::Blocked { .. } => return Ok(()),
        };
        if record.version == task.record.version && matches!(record.state, TaskState::Running { .. }) {
            self.start(id, mode, definition);
            return Ok(());
        }
        record.state = TaskState::Running { checkpoint };
        self.starting.borrow_mut().insert(id, definition);
        tx.stage_task(record).await
    }
}
