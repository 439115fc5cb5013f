//! The text is that of `Serialize`, for every shape a record can have.

use super::*;
use serde::Serialize;
use tidehold_delta::{Object, Text, json};
use tidehold_session::ids::*;

fn encoded(write: impl FnOnce(&mut Writer<'_>)) -> Result<String, StorageError> {
    let mut text = String::new();
    encode(&mut text, write).map(|()| text)
}

fn same<T: Serialize>(record: &T, write: impl FnOnce(&mut Writer<'_>)) {
    let wanted = Json::from_serialize(record).unwrap().to_string();
    assert_eq!(encoded(write).unwrap(), wanted);
}

fn name() -> Text {
    "a \"name\"\n{".into()
}

fn values() -> Vec<Json> {
    vec![json!(null), json!("{"), json!({ "a": [1.5, { "b{": (-3) }] })]
}

fn maybe<T>(value: T) -> [Option<T>; 2] {
    [None, Some(value)]
}

#[test]
fn conversations() {
    let (conversation_id, at, task_id) = (ConversationId(7), EntryId(8), TaskId(9));
    for parent in maybe(ConversationParent { conversation_id, at }) {
        for owner in maybe(ConversationOwner {
            conversation_id,
            task_id,
        }) {
            let id = ConversationId(12);
            let record = ConversationRecord { id, parent, owner };
            same(&record, |writer| writer.conversation(&record));
        }
    }
}

#[test]
fn entries() {
    let edits = || {
        let (omit, replace) = (ContextEditAction::Omit, |messages| ContextEditAction::Replace {
            messages,
        });
        let actions = [omit, replace(vec![]), replace(values())];
        let target = EntryId(3);
        actions.map(|action| ContextEdit { target, action }).to_vec()
    };
    for model in [None, Some(vec![]), Some(values())] {
        for data in [None, Some(json!(null)), Some(json!({ "a": {} }))] {
            for edits in [None, Some(vec![]), Some(edits())] {
                for head in maybe(EntryId(5)) {
                    let record = EntryRecord {
                        id: EntryId(4),
                        conversation_id: ConversationId(1),
                        kind: name(),
                        model: model.clone(),
                        data: data.clone(),
                        head,
                        edits: edits.clone(),
                        by_task_id: head.map(|head| TaskId(head.0)),
                    };
                    same(&record, |writer| writer.entry(&record));
                }
            }
        }
    }
}

#[test]
fn submissions() {
    let (entry, answer) = (EntryId(3), EntryId(4));
    let mut states = vec![
        SubmissionState::Input(InputStatus::Queued),
        SubmissionState::Input(InputStatus::Placed { entry }),
        SubmissionState::Input(InputStatus::Done { entry, answer }),
        SubmissionState::Write(WriteStatus::Queued),
        SubmissionState::Write(WriteStatus::Done { entry }),
    ];
    for detail in [None, Some(json!(null)), Some(json!({ "a": [1] }))] {
        for entry in maybe(entry) {
            let (reason, detail) = (name(), detail.clone());
            let unanswered = InputStatus::Unanswered {
                entry,
                reason,
                detail,
            };
            states.push(SubmissionState::Input(unanswered));
        }
        let reason = name();
        states.push(SubmissionState::Write(WriteStatus::Unanswered { reason, detail }));
    }
    for state in states {
        for request_id in maybe(name()) {
            let record = SubmissionRecord {
                id: SubmissionId(2),
                conversation_id: ConversationId(1),
                content_hash: request_id.clone(),
                request_id,
                state: state.clone(),
            };
            same(&record, |writer| writer.submission(&record));
        }
    }
}

fn outcomes() -> Vec<TaskOutcome> {
    let mut outcomes = Vec::new();
    for value in values() {
        outcomes.push(TaskOutcome::Completed {
            result: value.clone(),
        });
        for optional in maybe(value) {
            let error = TaskOutcomeError {
                message: name(),
                detail: optional.clone(),
            };
            outcomes.push(TaskOutcome::Faulted { error: error.clone() });
            for reason in maybe(name()) {
                let result = optional.clone();
                outcomes.push(TaskOutcome::Aborted { reason, result });
            }
            outcomes.push(TaskOutcome::Failed {
                error,
                result: optional,
            });
        }
    }
    outcomes.push(TaskOutcome::Orphaned { reason: name() });
    outcomes
}

fn states() -> Vec<TaskState> {
    let mut states = Vec::new();
    for checkpoint in values() {
        let copy = || checkpoint.clone();
        states.push(TaskState::Pending { checkpoint: copy() });
        states.push(TaskState::Running { checkpoint: copy() });
        for (on, policy) in [
            (vec![], JoinPolicy::FailFast),
            (vec![TaskId(4), TaskId(5)], JoinPolicy::AllSettled),
        ] {
            for until in maybe(77) {
                states.push(TaskState::Waiting {
                    checkpoint: copy(),
                    on: on.clone(),
                    policy,
                    until,
                });
            }
        }
    }
    for outcome in outcomes() {
        let copy = outcome.clone();
        states.push(TaskState::Completing { outcome: copy });
        states.push(TaskState::Terminal { outcome });
    }
    states
}

fn task(state: TaskState, full: bool) -> TaskRecord {
    TaskRecord {
        id: TaskId(20),
        conversation_id: ConversationId(1),
        kind: name(),
        version: 3,
        input: json!({ "text": "i" }),
        owner: full.then_some(TaskId(5)),
        background: full,
        abort_requested: !full,
        abort_reason: full.then_some(AbortMarkReason::Restart),
        abandon_on_restart: full,
        started_at: full.then_some(1_000),
        ended_at: full.then_some(2_000),
        state,
        memos: match full {
            true => values()
                .into_iter()
                .zip(0..)
                .map(|(v, n)| (format!("{n}{{"), v))
                .collect(),
            false => Object::new(),
        },
    }
}

#[test]
fn tasks() {
    for state in states() {
        for full in [false, true] {
            let record = task(state.clone(), full);
            same(&record, |writer| writer.task(&record));
        }
    }
}

fn nested(levels: usize) -> Json {
    (0..levels).fold(json!(1), |inner, _| Json::array([inner]))
}

/// The same records are refused as `Serialize` would refuse, at the same depth.
#[test]
fn what_has_no_json_form_is_refused() {
    let refused = |record: &TaskRecord| {
        let written = encoded(|writer| writer.task(record));
        assert_eq!(written.is_err(), Json::from_serialize(record).is_err());
        matches!(written, Err(StorageError::Batch(_)))
    };
    let detail = |detail| TaskState::Terminal {
        outcome: TaskOutcome::Faulted {
            error: TaskOutcomeError {
                message: name(),
                detail: Some(detail),
            },
        },
    };
    let result = |result| TaskState::Terminal {
        outcome: TaskOutcome::Completed { result },
    };
    let running = |checkpoint| TaskState::Running { checkpoint };
    let shapes: [(usize, &dyn Fn(Json) -> TaskRecord); 5] = [
        (4, &|value| task(detail(value), false)),
        (3, &|value| task(result(value), false)),
        (2, &|value| task(running(value), false)),
        (1, &|input| TaskRecord {
            input,
            ..task(running(json!(1)), false)
        }),
        (2, &|memo| TaskRecord {
            memos: Object::from_iter([(name(), memo)]),
            ..task(running(json!(1)), false)
        }),
    ];
    for (above, shape) in shapes {
        assert!(!refused(&shape(nested(MAX_DEPTH - above))));
        assert!(refused(&shape(nested(MAX_DEPTH - above + 1))));
        assert!(refused(&shape(Json::Number(f64::NAN))));
        assert!(refused(&shape(Json::array([Json::Number(f64::INFINITY)]))));
    }
    let number = |started_at| TaskRecord {
        started_at: Some(started_at),
        ..task(running(json!(1)), false)
    };
    assert!(!refused(&number(MAX_NUMBER)));
    assert!(refused(&number(MAX_NUMBER + 1)));
    let entry = |model, messages| EntryRecord {
        id: EntryId(4),
        conversation_id: ConversationId(1),
        kind: name(),
        model: Some(vec![model]),
        data: None,
        head: None,
        edits: Some(vec![ContextEdit {
            target: EntryId(3),
            action: ContextEditAction::Replace {
                messages: vec![messages],
            },
        }]),
        by_task_id: None,
    };
    for (model, messages) in [(510, 508), (511, 508), (510, 509)] {
        let record = entry(nested(model), nested(messages));
        let written = encoded(|writer| writer.entry(&record));
        assert_eq!(written.is_err(), Json::from_serialize(&record).is_err());
        assert_eq!(written.is_err(), model + messages > 1018);
    }
}
