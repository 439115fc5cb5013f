//! Where a run stands, from its anchor's record alone. Pure.

use crate::run::{Checkpoint, Child, End, RunResult, readable};
use tidehold_delta::Json;
use tidehold_session::records::{TaskOutcome, TaskRecord, TaskState};

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Standing {
    /// Not started.
    Queued,
    Running,
    /// Live, but nothing installed can continue it.
    Interrupted,
    Ended(End),
}

impl Standing {
    /// Whether something works on it, as far as the registry of live tasks knows.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// The standing of a record. `blocked`: no installed definition takes it, or what it waits for.
pub(crate) fn of_record(record: &TaskRecord, blocked: bool) -> Standing {
    match &record.state {
        TaskState::Terminal { outcome } => Standing::Ended(end_of(outcome)),
        // A held outcome needs no definition: it ends once its child has.
        TaskState::Completing { .. } => Standing::Running,
        TaskState::Pending { .. } | TaskState::Running { .. } | TaskState::Waiting { .. } if blocked => {
            Standing::Interrupted
        }
        TaskState::Pending { .. } if record.started_at.is_none() => Standing::Queued,
        TaskState::Pending { .. } | TaskState::Running { .. } | TaskState::Waiting { .. } => {
            Standing::Running
        }
    }
}

/// The child that the record itself names: in its checkpoint while it is live, in its result afterwards.
pub(crate) fn child_of(record: &TaskRecord) -> Option<Child> {
    if let Some(checkpoint) = record.checkpoint() {
        return match checkpoint.to_typed() {
            Ok(Checkpoint::Watch { child, .. }) => Some(child),
            Ok(Checkpoint::Launch) | Err(_) => None,
        };
    }
    record.outcome().and_then(result_of).map(|result| result.child)
}

fn end_of(outcome: &TaskOutcome) -> End {
    if let Some(result) = result_of(outcome) {
        return result.end;
    }
    // Outcomes that the scheduler wrote, or that no code of this version did. Nothing is known of what was written.
    let failed = |reason: &str, message: &str| End::Failed {
        reason: reason.into(),
        detail: Some(readable(&Json::from(message))),
        wrote: false,
    };
    match outcome {
        TaskOutcome::Completed { .. } => failed("unreadable_result", "the stored result cannot be read"),
        TaskOutcome::Failed { error, .. } => failed("failed", &error.message),
        TaskOutcome::Faulted { error } => failed("faulted", &error.message),
        TaskOutcome::Aborted { reason, .. } => End::Cancelled {
            reason: reason.clone(),
            wrote: false,
        },
        // Only an abort orphans a task: somebody stopped a run that no code could stop properly.
        TaskOutcome::Orphaned { reason } => End::Cancelled {
            reason: Some(reason.clone()),
            wrote: false,
        },
    }
}

fn result_of(outcome: &TaskOutcome) -> Option<RunResult> {
    match outcome {
        TaskOutcome::Completed { result } => result.to_typed().ok(),
        TaskOutcome::Failed { result, .. } | TaskOutcome::Aborted { result, .. } => {
            result.as_ref()?.to_typed().ok()
        }
        TaskOutcome::Orphaned { .. } | TaskOutcome::Faulted { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidehold_delta::Object;
    use tidehold_delta::json;
    use tidehold_session::ids::{ConversationId, EntryId, SubmissionId, TaskId};
    use tidehold_session::records::{JoinPolicy, TaskOutcomeError};

    fn record(state: TaskState) -> TaskRecord {
        TaskRecord {
            id: TaskId(2),
            conversation_id: ConversationId(1),
            kind: crate::run::KIND.into(),
            version: 1,
            input: json!({}),
            owner: None,
            background: true,
            abort_requested: false,
            abort_reason: None,
            abandon_on_restart: false,
            started_at: Some(5),
            ended_at: None,
            state,
            memos: Object::new(),
        }
    }

    #[test]
    fn every_state_has_a_standing_and_names_its_child() {
        let child = Child {
            conversation: ConversationId(3),
            submission: SubmissionId(4),
        };
        let watch = || json!({ "phase": "watch", "conversation": 3, "submission": 4, "deadline": 9 });
        let waiting = record(TaskState::Waiting {
            checkpoint: watch(),
            on: vec![TaskId(6)],
            policy: JoinPolicy::AllSettled,
            until: Some(9),
        });
        assert_eq!(of_record(&waiting, false), Standing::Running);
        assert_eq!(of_record(&waiting, true), Standing::Interrupted);
        assert_eq!(child_of(&waiting), Some(child));
        let fresh = TaskRecord {
            started_at: None,
            ..record(TaskState::Pending { checkpoint: watch() })
        };
        assert_eq!(of_record(&fresh, false), Standing::Queued);
        let end = End::Succeeded { answer: EntryId(7) };
        let result = Json::from_serialize(&RunResult {
            child,
            end: end.clone(),
        })
        .expect("a result");
        assert_eq!(
            result,
            json!({ "conversation": 3, "submission": 4, "outcome": "succeeded", "answer": 7 })
        );
        let outcome = TaskOutcome::Completed { result };
        let held = record(TaskState::Completing {
            outcome: outcome.clone(),
        });
        assert_eq!(of_record(&held, true), Standing::Running);
        let done = record(TaskState::Terminal { outcome });
        assert_eq!(of_record(&done, false), Standing::Ended(end));
        assert_eq!(child_of(&done), Some(child));
    }

    #[test]
    fn outcomes_without_a_result_are_told_without_secrets() {
        let error = TaskOutcomeError {
            message: "key sk-0123456789abcdef".into(),
            detail: None,
        };
        let faulted = record(TaskState::Terminal {
            outcome: TaskOutcome::Faulted { error },
        });
        let Standing::Ended(end) = of_record(&faulted, false) else {
            panic!("ended")
        };
        assert_eq!(end.sentence(), "The run failed: faulted: key [REDACTED]");
        assert_eq!(child_of(&faulted), None);
        let orphaned = TaskOutcome::Orphaned {
            reason: "missing_task".into(),
        };
        let Standing::Ended(end) = of_record(&record(TaskState::Terminal { outcome: orphaned }), false)
        else {
            panic!("ended")
        };
        assert_eq!(
            end,
            End::Cancelled {
                reason: Some("missing_task".into()),
                wrote: false
            }
        );
    }
}
