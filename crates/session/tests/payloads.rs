//! Payloads that no storage can write are refused where they are staged: the commit is rejected and the session goes on. What is just
//! within bounds is stored and read back.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

use std::rc::Rc;
use support::task;
use tidehold_delta::{Json, MAX_DEPTH, json};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID, SubmissionId, TaskId};
use tidehold_session::records::*;
use tidehold_session::storage::Storage;
use tidehold_session::{Rejection, Session, SessionError, SessionOptions, Tx};
use tidehold_storage::sql::native::NativeDriver;
use tidehold_storage::{MemoryStorage, SqlStorage};

/// Over memory, and over SQLite, which encodes.
fn open<T: 'static>(body: impl AsyncFn(Session) -> T + Clone + 'static) {
    let sql = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
    let storages: [Rc<dyn Storage>; 2] = [Rc::new(MemoryStorage::new("test")), Rc::new(sql)];
    for storage in storages {
        let mut runtime = LocalRuntime::virtual_clock(1_000_000, 7);
        let session = Session::open(storage, runtime.host(), SessionOptions::default());
        let body = body.clone();
        let done = runtime.run(async move {
            support::root(&session).await;
            body(session.clone()).await;
            session.health().unwrap();
        });
        done.unwrap();
    }
}

/// An array in an array and so on: `depth` of them.
fn nested(depth: usize) -> Json {
    (1..depth).fold(json!([]), |inner, _| json!([inner]))
}

/// What no record can hold at a place with `above` containers around it, and the deepest that it can.
fn unfit(above: usize) -> [Json; 3] {
    [
        json!([f64::NAN]),
        json!(f64::INFINITY),
        nested(MAX_DEPTH - above + 1),
    ]
}

fn fit(above: usize) -> Json {
    nested(MAX_DEPTH - above)
}

fn refused<T: std::fmt::Debug>(result: Result<T, SessionError>) {
    assert!(
        matches!(result, Err(SessionError::Rejected(Rejection::NotStrictJson(_)))),
        "{result:?}"
    );
}

/// One payload at one place of a record, and the containers around it.
#[derive(Clone, Copy, Debug)]
enum Place {
    Message,
    Data,
    Replacement,
}

async fn append(session: &Session, place: Place, value: Json) -> Result<EntryRecord, SessionError> {
    let mut draft = EntryDraft::of_messages("e", Vec::new());
    match place {
        Place::Message => draft.model = Some(vec![value]),
        Place::Data => draft.data = Some(value),
        Place::Replacement => {
            let action = ContextEditAction::Replace {
                messages: vec![value],
            };
            draft.edits = Some(vec![ContextEdit {
                target: EntryId(1),
                action,
            }]);
        }
    }
    session
        .commit(async move |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, draft).await)
        .await
}

#[test]
fn entries_hold_strict_json() {
    open(async |session: Session| {
        for (place, above) in [(Place::Message, 2), (Place::Data, 1), (Place::Replacement, 4)] {
            for value in unfit(above) {
                refused(append(&session, place, value).await);
            }
            let stored = append(&session, place, fit(above)).await.unwrap();
            let found = session.entry(stored.id).await.unwrap().unwrap();
            assert_eq!(found.entry, stored, "{place:?}");
        }
    });
}

#[test]
fn an_edit_names_an_id_that_can_be_stored() {
    open(async |session: Session| {
        let edit = |target| ContextEdit {
            target: EntryId(target),
            action: ContextEditAction::Omit,
        };
        let draft = EntryDraft {
            edits: Some(vec![edit(1 << 53)]),
            ..EntryDraft::of_messages("e", Vec::new())
        };
        let appended = session
            .commit(async move |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, draft).await)
            .await;
        assert!(matches!(
            appended,
            Err(SessionError::Rejected(Rejection::NumberTooLarge { .. }))
        ));
    });
}

/// States and memos of a task, with the containers around the payload.
fn places(value: &Json) -> Vec<(TaskState, Option<Json>, usize)> {
    let checkpoint = || json!({});
    let error = |detail: Json| TaskOutcomeError {
        message: "m".into(),
        detail: Some(detail),
    };
    vec![
        (
            TaskState::Pending {
                checkpoint: checkpoint(),
            },
            Some(value.clone()),
            2,
        ),
        (
            TaskState::Running {
                checkpoint: value.clone(),
            },
            None,
            2,
        ),
        (
            TaskState::Waiting {
                checkpoint: value.clone(),
                on: Vec::new(),
                policy: JoinPolicy::AllSettled,
                until: None,
            },
            None,
            2,
        ),
        (
            TaskState::Completing {
                outcome: TaskOutcome::Completed {
                    result: value.clone(),
                },
            },
            None,
            3,
        ),
        (
            TaskState::Completing {
                outcome: TaskOutcome::Failed {
                    error: error(json!(1)),
                    result: Some(value.clone()),
                },
            },
            None,
            3,
        ),
        (
            TaskState::Completing {
                outcome: TaskOutcome::Aborted {
                    reason: None,
                    result: Some(value.clone()),
                },
            },
            None,
            3,
        ),
        (
            TaskState::Completing {
                outcome: TaskOutcome::Faulted {
                    error: error(value.clone()),
                },
            },
            None,
            4,
        ),
        (
            TaskState::Terminal {
                outcome: TaskOutcome::Failed {
                    error: error(value.clone()),
                    result: None,
                },
            },
            None,
            4,
        ),
    ]
}

async fn stage(
    session: &Session,
    id: TaskId,
    state: TaskState,
    memo: Option<Json>,
) -> Result<(), SessionError> {
    let mut record = session.task(id).await?.unwrap();
    record.state = state;
    if let Some(memo) = memo {
        record.memos.insert("m", memo);
    }
    session
        .commit(async move |tx: Tx| tx.stage_task(record).await)
        .await
}

#[test]
fn tasks_hold_strict_json() {
    open(async |session: Session| {
        for input_only in [true, false] {
            for value in unfit(if input_only { 1 } else { 2 }) {
                let mut create = task(TaskOwnership::Conversation);
                match input_only {
                    true => create.input = value,
                    false => create.checkpoint = value,
                }
                refused(
                    session
                        .commit(async move |tx: Tx| tx.create_task(create).await)
                        .await,
                );
            }
        }
        let count = places(&json!(0)).len();
        for place in 0..count {
            let id = session
                .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
                .await
                .unwrap();
            let at = |value: &Json| places(value).swap_remove(place);
            let (_, _, above) = at(&json!(0));
            for value in unfit(above) {
                let (state, memo, _) = at(&value);
                refused(stage(&session, id, state, memo).await);
            }
            let (state, memo, _) = at(&fit(above));
            stage(&session, id, state.clone(), memo).await.unwrap();
            assert_eq!(session.task(id).await.unwrap().unwrap().state, state);
        }
    });
}

#[test]
fn a_wait_ends_at_a_time_that_can_be_stored() {
    open(async |session: Session| {
        let id = session
            .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
            .await
            .unwrap();
        let until = |until| TaskState::Waiting {
            checkpoint: json!({}),
            on: Vec::new(),
            policy: JoinPolicy::AllSettled,
            until: Some(until),
        };
        let staged = stage(&session, id, until(u64::MAX), None).await;
        assert!(matches!(
            staged,
            Err(SessionError::Rejected(Rejection::NumberTooLarge { .. }))
        ));
        stage(&session, id, until((1 << 53) - 1), None).await.unwrap();
    });
}

async fn submit(
    session: &Session,
    conversation: ConversationId,
    request: Option<&'static str>,
) -> Result<SubmissionRecord, SessionError> {
    session
        .commit(async move |tx: Tx| {
            let state = SubmissionState::Input(InputStatus::Queued);
            tx.create_submission(conversation, request.map(Into::into), None, state)
                .await
        })
        .await
}

#[test]
fn settlements_hold_strict_json() {
    open(async |session: Session| {
        let id: SubmissionId = submit(&session, ROOT_CONVERSATION_ID, None).await.unwrap().id;
        let settle = async |detail: Json| {
            let settlement = SubmissionSettlement::Unanswered {
                reason: "r".into(),
                detail: Some(detail),
            };
            session
                .commit(async move |tx: Tx| tx.settle_submission(id, settlement))
                .await
        };
        for value in unfit(1) {
            refused(settle(value).await);
        }
        settle(fit(1)).await.unwrap();
    });
}

#[test]
fn a_request_id_is_taken_once_a_conversation() {
    open(async |session: Session| {
        let taken = |result: Result<SubmissionRecord, SessionError>| {
            matches!(
                result,
                Err(SessionError::Rejected(Rejection::RequestIdTaken { .. }))
            )
        };
        submit(&session, ROOT_CONVERSATION_ID, Some("r")).await.unwrap();
        assert!(taken(submit(&session, ROOT_CONVERSATION_ID, Some("r")).await));
        let twice = session
            .commit(async |tx: Tx| {
                let state = || SubmissionState::Input(InputStatus::Queued);
                tx.create_submission(ROOT_CONVERSATION_ID, Some("s".into()), None, state())
                    .await?;
                tx.create_submission(ROOT_CONVERSATION_ID, Some("s".into()), None, state())
                    .await
            })
            .await;
        assert!(taken(twice));
        submit(&session, ROOT_CONVERSATION_ID, Some("s")).await.unwrap();

        let child = session
            .commit(async |tx: Tx| tx.create_conversation(ConversationOwnership::Ownerless).await)
            .await
            .unwrap();
        submit(&session, child.id, Some("r")).await.unwrap();
        let nowhere = submit(&session, ConversationId(999), None).await;
        assert!(matches!(
            nowhere,
            Err(SessionError::Rejected(Rejection::MissingConversation(_)))
        ));
    });
}
