//! What a session knows without asking storage: never what was staged and not committed, and nothing of what ended.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::{SCRATCH, entry, open_counted, root, task};
use tidehold_delta::json;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::limits::KNOWN;
use tidehold_session::records::{ConversationOwnership, TaskOutcome, TaskOwnership, TaskRecord, TaskState};
use tidehold_session::storage::Storage;
use tidehold_session::{Rejection, Session, SessionError, Tx};
use tidehold_storage::fault::CommitFault;

async fn create_task(session: &Session) -> TaskId {
    session
        .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
        .await
        .unwrap()
}

fn at(record: &TaskRecord, step: u64) -> TaskRecord {
    TaskRecord {
        state: TaskState::Running {
            checkpoint: json!({ "step": step }),
        },
        ..record.clone()
    }
}

async fn stage(session: &Session, record: TaskRecord) -> Result<(), SessionError> {
    session
        .commit(async move |tx: Tx| tx.stage_task(record).await)
        .await
}

/// The records that commits said they replaced, in order.
fn replaced(session: &Session) -> (Rc<RefCell<Vec<TaskRecord>>>, tidehold_session::Subscription) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let watch = session.subscribe_commits(move |publication| {
        let before = publication
            .tasks
            .iter()
            .filter_map(|change| change.before.as_deref());
        log.borrow_mut().extend(before.cloned());
    });
    (seen, watch)
}

#[test]
fn what_was_committed_is_not_read_again() {
    open_counted(async |session, storage| {
        root(&session).await;
        let id = create_task(&session).await;
        let record = session.task(id).await.unwrap().unwrap();
        storage.allow_reads(Some(0));
        for step in 0..3 {
            let next = at(&record, step);
            session
                .commit(async move |tx: Tx| {
                    tx.append_entry(ROOT_CONVERSATION_ID, entry("more")).await?;
                    tx.stage_task(next).await
                })
                .await
                .unwrap();
        }
        storage.allow_reads(None);
        let stored = session.task(id).await.unwrap().unwrap();
        assert_eq!(stored.checkpoint(), Some(&json!({ "step": 2 })));
    });
}

#[test]
fn a_commit_that_is_rolled_back_teaches_nothing() {
    open_counted(async |session, _| {
        root(&session).await;
        let id = create_task(&session).await;
        let record = session.task(id).await.unwrap().unwrap();
        let (staged, made) = (at(&record, 1), Rc::new(RefCell::new(ConversationId(0))));
        let slot = Rc::clone(&made);
        let rolled_back = session
            .commit(async move |tx: Tx| {
                tx.stage_task(staged).await?;
                let child = tx.create_conversation(ConversationOwnership::Ownerless).await?;
                *slot.borrow_mut() = child.id;
                Err::<(), _>(SessionError::Rejected(Rejection::Other("no".into())))
            })
            .await;
        assert!(rolled_back.is_err());
        let (seen, _watch) = replaced(&session);
        stage(&session, at(&record, 2)).await.unwrap();
        assert_eq!(*seen.borrow(), [record]);
        let made = *made.borrow();
        let missing = session
            .commit(async move |tx: Tx| tx.append_entry(made, entry("lost")).await)
            .await;
        assert!(matches!(
            missing,
            Err(SessionError::Rejected(Rejection::MissingConversation(id))) if id == made
        ));
    });
}

#[test]
fn each_change_replaces_the_one_before() {
    open_counted(async |session, storage| {
        root(&session).await;
        let id = create_task(&session).await;
        let mut expected = vec![session.task(id).await.unwrap().unwrap()];
        let (seen, _watch) = replaced(&session);
        for step in 1..5 {
            stage(&session, at(&expected[0], step)).await.unwrap();
            expected.push(storage.task(id).await.unwrap().unwrap());
        }
        expected.pop();
        assert_eq!(*seen.borrow(), expected);
    });
}

#[test]
fn a_finished_task_is_read_and_still_refuses_documents() {
    open_counted(async |session, storage| {
        root(&session).await;
        let id = create_task(&session).await;
        let record = session.task(id).await.unwrap().unwrap();
        let outcome = TaskOutcome::Completed { result: json!(1) };
        let ended = TaskRecord {
            state: TaskState::Terminal { outcome },
            ..record
        };
        stage(&session, ended).await.unwrap();
        let refused = session
            .commit(async move |tx: Tx| tx.doc(&SCRATCH, id).await.map(drop))
            .await;
        assert!(matches!(
            refused,
            Err(SessionError::Rejected(Rejection::TaskFinished(_)))
        ));
        storage.allow_reads(Some(0));
        let read = session
            .commit(async move |tx: Tx| tx.candidate_task(id).await)
            .await;
        assert!(read.unwrap_err().is_fatal());
    });
}

#[test]
fn nothing_is_known_of_a_failed_session() {
    for fault in [CommitFault::Before, CommitFault::After] {
        open_counted(async move |session, storage| {
            root(&session).await;
            let id = create_task(&session).await;
            let record = session.task(id).await.unwrap().unwrap();
            storage.allow_commits(Some(0), fault);
            let next = at(&record, 1);
            let leaked = Rc::new(RefCell::new(None));
            let slot = Rc::clone(&leaked);
            let failed = session
                .commit(async move |tx: Tx| {
                    *slot.borrow_mut() = Some(tx.clone());
                    tx.stage_task(next).await
                })
                .await;
            assert!(failed.unwrap_err().is_fatal());
            assert!(stage(&session, record.clone()).await.unwrap_err().is_fatal());
            let leaked = leaked.borrow_mut().take().unwrap();
            let stored = storage.task(id).await.unwrap().unwrap();
            assert_eq!(
                stored.checkpoint() == record.checkpoint(),
                fault == CommitFault::Before
            );
            // A handle that outlived its commit is told what was, not what the session thought.
            let asked = leaked.candidate_task(id).await;
            assert!(matches!(asked, Err(SessionError::Failed(_))));
        });
    }
}

#[test]
fn more_tasks_and_conversations_than_are_known_stay_exact() {
    open_counted(async |session, storage| {
        root(&session).await;
        let mut all = Vec::new();
        for _ in 0..KNOWN + 5 {
            let made = session
                .commit(async |tx: Tx| {
                    let child = tx.create_conversation(ConversationOwnership::Ownerless).await?;
                    Ok::<_, SessionError>((
                        child.id,
                        tx.create_task(task(TaskOwnership::Conversation)).await?,
                    ))
                })
                .await;
            all.push(made.unwrap());
        }
        let (seen, _watch) = replaced(&session);
        for step in 0..3 {
            for (child, id) in all.clone() {
                let stored = storage.task(id).await.unwrap().unwrap();
                let next = at(&stored, step);
                session
                    .commit(async move |tx: Tx| {
                        tx.append_entry(child, entry("more")).await?;
                        tx.stage_task(next).await
                    })
                    .await
                    .unwrap();
                assert_eq!(seen.borrow_mut().pop(), Some(stored));
            }
        }
    });
}
