//! Placement and settlement of submissions. Both are staged and resolved at assembly against the latest candidate, so
//! they work after table writes (spec 8.2).

use super::{SubmissionTransition, Tx, TxInner, payloads};
use crate::error::{Rejection, SessionError};
use crate::ids::{EntryId, SubmissionId};
use crate::records::{InputStatus, SubmissionRecord, SubmissionSettlement, SubmissionState, WriteStatus};
use std::rc::Rc;

impl Tx {
    /// Records a queued submission's placement at `entry`: an input becomes `placed`, a write `done` (spec 6). The
    /// caller appends the entry and edits the inbox.
    pub fn place_submission(&self, id: SubmissionId, entry: EntryId) -> Result<(), SessionError> {
        self.stage(id, SubmissionTransition::Place(entry))
    }

    /// Settles a queued or placed submission; only a placed input can be answered; a settled one stays as it is.
    pub fn settle_submission(
        &self,
        id: SubmissionId,
        settlement: SubmissionSettlement,
    ) -> Result<(), SessionError> {
        if let SubmissionSettlement::Unanswered { detail, .. } = &settlement {
            payloads::check_detail(detail.as_ref())?;
        }
        self.stage(id, SubmissionTransition::Settle(settlement))
    }

    fn stage(&self, id: SubmissionId, transition: SubmissionTransition) -> Result<(), SessionError> {
        self.table_write()?;
        self.0
            .state
            .borrow_mut()
            .submissions
            .entry(id)
            .or_default()
            .transitions
            .push(transition);
        Ok(())
    }
}

/// Final records of every submission the transaction touched.
pub(super) async fn resolve(tx: &TxInner) -> Result<Vec<Rc<SubmissionRecord>>, SessionError> {
    let candidates = std::mem::take(&mut tx.state.borrow_mut().submissions);
    let mut resolved = Vec::with_capacity(candidates.len());
    for (id, candidate) in candidates {
        let is_new = candidate.created.is_some();
        let start = match candidate.created {
            Some(record) => record,
            None => {
                let stored = tx.session.read(tx.session.storage.submission(id)).await?;
                stored.ok_or(Rejection::MissingSubmission)?
            }
        };
        let mut record = start.clone();
        for transition in candidate.transitions {
            record.state = match transition {
                SubmissionTransition::Place(entry) => placed(&record.state, entry)?,
                SubmissionTransition::Settle(settlement) => settled(&record.state, settlement)?,
            };
        }
        if is_new || record != start {
            resolved.push(Rc::new(record));
        }
    }
    Ok(resolved)
}

fn placed(state: &SubmissionState, entry: EntryId) -> Result<SubmissionState, Rejection> {
    match state {
        SubmissionState::Input(InputStatus::Queued) => {
            Ok(SubmissionState::Input(InputStatus::Placed { entry }))
        }
        SubmissionState::Write(WriteStatus::Queued) => {
            Ok(SubmissionState::Write(WriteStatus::Done { entry }))
        }
        _ => Err(Rejection::NotQueued),
    }
}

fn settled(state: &SubmissionState, settlement: SubmissionSettlement) -> Result<SubmissionState, Rejection> {
    match (state, settlement) {
        (SubmissionState::Input(InputStatus::Placed { entry }), SubmissionSettlement::Done { answer }) => {
            Ok(SubmissionState::Input(InputStatus::Done {
                entry: *entry,
                answer,
            }))
        }
        (SubmissionState::Input(status), SubmissionSettlement::Unanswered { reason, detail }) => {
            let entry = match status {
                InputStatus::Queued => None,
                InputStatus::Placed { entry } => Some(*entry),
                InputStatus::Done { .. } | InputStatus::Unanswered { .. } => return Ok(state.clone()),
            };
            Ok(SubmissionState::Input(InputStatus::Unanswered {
                entry,
                reason,
                detail,
            }))
        }
        (
            SubmissionState::Write(WriteStatus::Queued),
            SubmissionSettlement::Unanswered { reason, detail },
        ) => Ok(SubmissionState::Write(WriteStatus::Unanswered { reason, detail })),
        (
            SubmissionState::Input(InputStatus::Done { .. } | InputStatus::Unanswered { .. })
            | SubmissionState::Write(WriteStatus::Done { .. } | WriteStatus::Unanswered { .. }),
            _,
        ) => Ok(state.clone()),
        (
            SubmissionState::Input(InputStatus::Queued) | SubmissionState::Write(WriteStatus::Queued),
            SubmissionSettlement::Done { .. },
        ) => Err(Rejection::NotPlaced),
    }
}
