//! What one transaction and one batch may hold, and how a session fails that is not storage's fault.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::{NOTES, entry, open, root, task};
use tidehold_delta::Json;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{
    ContextEdit, ContextEditAction, EntryDraft, InputStatus, SubmissionSettlement, SubmissionState,
    TaskOutcome, TaskOwnership, TaskRecord, TaskState,
};
use tidehold_session::{FailureCause, Rejection, Session, SessionError, SessionOptions, Tx};
use tidehold_storage::memory::MemoryStorage;

/// More than a batch, in a part of a record that is not its main payload.
fn huge() -> Json {
    Json::from("x".repeat(17 * 1024 * 1024))
}

fn too_large<T>(result: &Result<T, SessionError>) -> bool {
    matches!(
        result,
        Err(SessionError::Rejected(Rejection::BatchTooLarge { .. }))
    )
}

#[test]
fn every_part_of_every_record_is_weighed() {
    open(async |session| {
        root(&session).await;
        let id = session
            .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
            .await
            .unwrap();
        let target: EntryId = session
            .commit(async |tx: Tx| {
                Ok::<_, SessionError>(tx.append_entry(ROOT_CONVERSATION_ID, entry("e")).await?.id)
            })
            .await
            .unwrap();
        let submission = session
            .commit(async move |tx: Tx| {
                let state = SubmissionState::Input(InputStatus::Placed { entry: target });
                tx.create_submission(ROOT_CONVERSATION_ID, None, None, state)
                    .await
            })
            .await
            .unwrap();

        let edited = session
            .commit(async move |tx: Tx| {
                let draft = EntryDraft {
                    edits: Some(vec![ContextEdit {
                        target,
                        action: ContextEditAction::Replace {
                            messages: vec![huge()],
                        },
                    }]),
                    ..entry("edit")
                };
                tx.append_entry(ROOT_CONVERSATION_ID, draft).await
            })
            .await;
        assert!(too_large(&edited), "edits");

        let ended = session
            .commit(async move |tx: Tx| {
                let record = tx.candidate_task(id).await?.unwrap();
                let outcome = TaskOutcome::Completed { result: huge() };
                tx.stage_task(TaskRecord {
                    state: TaskState::Terminal { outcome },
                    ..record
                })
                .await
            })
            .await;
        assert!(too_large(&ended), "outcome");

        let settled = session
            .commit(async move |tx: Tx| {
                let settlement = SubmissionSettlement::Unanswered {
                    reason: "none".into(),
                    detail: Some(huge()),
                };
                tx.settle_submission(submission.id, settlement)
            })
            .await;
        assert!(too_large(&settled), "detail");
        assert!(session.health().is_ok());
    });
}

#[test]
fn retiring_twice_is_retiring_once() {
    open(async |session| {
        root(&session).await;
        for recreate in [false, true] {
            session
                .commit(async |tx: Tx| {
                    tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("a").set(1_u64)?;
                    Ok::<_, SessionError>(())
                })
                .await
                .unwrap();
            session
                .commit(async move |tx: Tx| {
                    tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                    if recreate {
                        tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("b").set(1_u64)?;
                        tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                    }
                    tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await
                })
                .await
                .unwrap();
            let gone = session.snapshot(&NOTES, ROOT_CONVERSATION_ID).await.unwrap();
            assert_eq!(gone, None);
        }
    });
}

/// The kernel's own failures are not storage's, and a report handler that panics changes nothing.
#[test]
fn a_failure_of_bookkeeping_is_named_as_what_it_is() {
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&reports);
    let options = SessionOptions {
        on_report: Some(Rc::new(move |report| {
            log.borrow_mut().push(report);
            std::panic::resume_unwind(Box::new("the handler fails"));
        })),
        ..SessionOptions::default()
    };
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let storage = Rc::new(MemoryStorage::new("incarnation".to_owned()));
    let session = Session::open(storage, runtime.host(), options);
    let failed = runtime
        .run(async move {
            root(&session).await;
            session.fail("the books do not balance".to_owned());
            session.fail("later".to_owned());
            session.commit(async |tx: Tx| tx.create_root().await).await
        })
        .unwrap();
    let Err(SessionError::Failed(failed)) = failed else {
        unreachable!("{failed:?}");
    };
    assert!(matches!(failed.cause, FailureCause::Bookkeeping(_)));
    assert_eq!(failed.to_string(), "the session failed: the books do not balance");
    assert_eq!(
        *reports.borrow(),
        ["the session failed: the books do not balance"]
    );
}
