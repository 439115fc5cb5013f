//! What a commit is (spec 3 and 4): atomicity, visibility, table rules, documents, failures.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::{NOTES, SCRATCH, entry, open, open_faulty, root, task};
use tidehold_delta::Json;
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::records::{
    ConversationOwnership, InputStatus, SubmissionSettlement, SubmissionState, TaskOutcome, TaskOwnership,
    TaskState,
};
use tidehold_session::storage::{EntryQuery, ScanOrder};
use tidehold_session::{Rejection, SessionError, Tx};

fn entries_of(conversation: ConversationId) -> EntryQuery {
    EntryQuery {
        conversation_id: conversation,
        min_entry_id: None,
        max_entry_id: None,
        order: Some(ScanOrder::Ascending),
    }
}

#[test]
fn a_commit_is_visible_as_a_whole_and_publishes_once() {
    open(async |session| {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let _watch = session.subscribe_commits(move |publication| {
            log.borrow_mut().push((
                publication.entries.len(),
                publication.documents.len(),
                publication.tasks.len(),
            ));
        });
        root(&session).await;
        let made = session
            .commit(async |tx: Tx| {
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("a").set(1_u64)?;
                let first = tx.append_entry(ROOT_CONVERSATION_ID, entry("one")).await?;
                let second = tx.append_entry(ROOT_CONVERSATION_ID, entry("two")).await?;
                let task = tx.create_task(task(TaskOwnership::Conversation)).await?;
                Ok::<_, SessionError>((first.id, second.id, task))
            })
            .await
            .unwrap();
        assert!(made.0 < made.1);
        let page = session
            .scan_entries(&entries_of(ROOT_CONVERSATION_ID), 10, None)
            .await
            .unwrap();
        assert_eq!(
            page.items.iter().map(|entry| entry.id).collect::<Vec<_>>(),
            [made.0, made.1]
        );
        assert!(session.task(made.2).await.unwrap().unwrap().is_live());
        assert_eq!(
            session
                .snapshot(&NOTES, ROOT_CONVERSATION_ID)
                .await
                .unwrap()
                .unwrap()
                .get("a"),
            Some(&Json::from(1_u64))
        );
        assert_eq!(*seen.borrow(), [(0, 0, 0), (2, 1, 1)]);
    });
}

#[test]
fn a_failing_callback_leaves_nothing() {
    open(async |session| {
        root(&session).await;
        let published = Rc::new(RefCell::new(0));
        let count = Rc::clone(&published);
        let _watch = session.subscribe_commits(move |_| *count.borrow_mut() += 1);
        let refused = session
            .commit(async |tx: Tx| {
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                tx.append_entry(ROOT_CONVERSATION_ID, entry("gone")).await?;
                Err::<(), _>(SessionError::Rejected(Rejection::Other("no".into())))
            })
            .await;
        assert!(matches!(
            refused,
            Err(SessionError::Rejected(Rejection::Other(_)))
        ));
        assert_eq!(
            session.snapshot(&NOTES, ROOT_CONVERSATION_ID).await.unwrap(),
            None
        );
        assert!(
            session
                .scan_entries(&entries_of(ROOT_CONVERSATION_ID), 10, None)
                .await
                .unwrap()
                .items
                .is_empty()
        );
        assert_eq!(*published.borrow(), 0);
    });
}

#[test]
fn a_panicking_callback_rolls_back_and_the_session_goes_on() {
    open(async |session| {
        root(&session).await;
        let panicked = session
            .commit(async |tx: Tx| {
                tx.append_entry(ROOT_CONVERSATION_ID, entry("gone")).await?;
                panic!("oops");
                #[allow(unreachable_code)]
                Ok::<(), SessionError>(())
            })
            .await;
        assert!(matches!(panicked, Err(SessionError::CallbackPanicked(text)) if text == "oops"));
        assert!(
            session
                .scan_entries(&entries_of(ROOT_CONVERSATION_ID), 10, None)
                .await
                .unwrap()
                .items
                .is_empty()
        );
        session
            .commit(async |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry("kept")).await)
            .await
            .unwrap();
    });
}

#[test]
fn table_reads_end_with_the_first_table_write() {
    open(async |session| {
        root(&session).await;
        let read = session
            .commit(async |tx: Tx| {
                assert!(tx.conversation(ROOT_CONVERSATION_ID).await?.is_some());
                tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await?;
                // Documents stay readable and writable.
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("k").set("v")?;
                assert_eq!(
                    tx.peek(&NOTES, ROOT_CONVERSATION_ID).await?.unwrap().get("k"),
                    Some(&Json::from("v"))
                );
                tx.entry(EntryId(1)).await
            })
            .await;
        assert!(matches!(read, Err(SessionError::ReadAfterWrite("entry"))));
    });
}

#[test]
fn handles_die_with_their_callback() {
    open(async |session| {
        root(&session).await;
        let (tx, draft) = session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                Ok::<_, SessionError>((tx.clone(), draft))
            })
            .await
            .unwrap();
        assert!(matches!(
            tx.conversation(ROOT_CONVERSATION_ID).await,
            Err(SessionError::Revoked)
        ));
        assert!(matches!(
            tx.doc(&NOTES, ROOT_CONVERSATION_ID).await,
            Err(SessionError::Revoked)
        ));
        assert!(draft.at("late").set(1_u64).is_err());
        assert!(draft.get().is_err());
    });
}

#[test]
fn a_document_is_created_once_and_changes_by_operations() {
    open(async |session| {
        root(&session).await;
        let kinds = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&kinds);
        let _watch = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                log.borrow_mut().push(match &change.kind {
                    DocumentChangeKind::Created { .. } => "created".to_owned(),
                    DocumentChangeKind::Changed { ops, .. } => format!("{} ops", ops.len()),
                    DocumentChangeKind::Copied { .. } => "copied".to_owned(),
                    DocumentChangeKind::Retired => "retired".to_owned(),
                });
            }
        });
        for _ in 0..2 {
            session
                .commit(async |tx: Tx| {
                    let first = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                    let again = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                    first
                        .at("n")
                        .set(first.at("n").get()?.and_then(|n| n.as_u64()).unwrap_or(0) + 1)?;
                    assert_eq!(again.at("n").get()?, first.at("n").get()?);
                    Ok::<_, SessionError>(())
                })
                .await
                .unwrap();
        }
        // No change, no commit.
        session
            .commit(async |tx: Tx| tx.doc(&NOTES, ROOT_CONVERSATION_ID).await.map(drop))
            .await
            .unwrap();
        session
            .commit(async |tx: Tx| tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await)
            .await
            .unwrap();
        assert_eq!(
            session.snapshot(&NOTES, ROOT_CONVERSATION_ID).await.unwrap(),
            None
        );
        assert_eq!(*kinds.borrow(), ["created", "1 ops", "retired"]);
    });
}

#[test]
fn retire_and_recreate_in_one_commit_make_a_new_incarnation() {
    open(async |session| {
        root(&session).await;
        session
            .commit(async |tx: Tx| {
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("old").set(true)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        let ids = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&ids);
        let _watch = session.subscribe_commits(move |publication| {
            log.borrow_mut()
                .extend(publication.documents.iter().map(|change| change.record.id));
        });
        session
            .commit(async |tx: Tx| {
                tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                assert_eq!(tx.peek(&NOTES, ROOT_CONVERSATION_ID).await?, None);
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("new").set(true)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        assert_eq!(ids.borrow().len(), 2);
        assert_ne!(ids.borrow().first(), ids.borrow().last());
        let value = session
            .snapshot(&NOTES, ROOT_CONVERSATION_ID)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (value.get("old"), value.get("new")),
            (None, Some(&Json::from(true)))
        );
    });
}

#[test]
fn a_finished_task_takes_its_documents_along() {
    open(async |session| {
        root(&session).await;
        let id = session
            .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
            .await
            .unwrap();
        session
            .commit(async move |tx: Tx| {
                tx.doc(&SCRATCH, id).await?.at("k").set(1_u64)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        assert!(session.snapshot(&SCRATCH, id).await.unwrap().is_some());
        session
            .commit(async move |tx: Tx| {
                let mut record = tx.task(id).await?.unwrap();
                let outcome = TaskOutcome::Completed { result: Json::Null };
                record.state = TaskState::Terminal { outcome };
                tx.stage_task(record).await?;
                assert!(matches!(
                    tx.doc(&SCRATCH, id).await,
                    Err(SessionError::Rejected(Rejection::TaskFinished(_)))
                ));
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        assert!(session.snapshot(&SCRATCH, id).await.unwrap().is_none());
        assert!(session.task(id).await.unwrap().unwrap().ended_at.is_some());
    });
}

#[test]
fn new_work_needs_a_live_owner_in_the_final_candidates() {
    open(async |session| {
        root(&session).await;
        let owner = session
            .commit(async |tx: Tx| tx.create_task(task(TaskOwnership::Conversation)).await)
            .await
            .unwrap();
        let refused = session
            .commit(async move |tx: Tx| {
                let mut record = tx.task(owner).await?.unwrap();
                tx.create_conversation(ConversationOwnership::Task(owner)).await?;
                record.abort_requested = true;
                tx.stage_task(record).await
            })
            .await;
        assert!(matches!(refused, Err(SessionError::Rejected(Rejection::OwnerNotLive(id))) if id == owner));
        let child = session
            .commit(async move |tx: Tx| {
                let child = tx.create_conversation(ConversationOwnership::Task(owner)).await?;
                Ok::<_, SessionError>(child)
            })
            .await
            .unwrap();
        assert_eq!(child.owner.unwrap().conversation_id, ROOT_CONVERSATION_ID);
    });
}

#[test]
fn submissions_settle_once_and_only_placed_inputs_are_answered() {
    open(async |session| {
        root(&session).await;
        let queued = session
            .commit(async |tx: Tx| {
                let state = SubmissionState::Input(InputStatus::Queued);
                tx.create_submission(ROOT_CONVERSATION_ID, Some("r".into()), None, state)
                    .await
            })
            .await
            .unwrap();
        let id = queued.id;
        let early = session
            .commit(async move |tx: Tx| {
                tx.settle_submission(id, SubmissionSettlement::Done { answer: EntryId(9) })
            })
            .await;
        assert!(matches!(early, Err(SessionError::Rejected(Rejection::NotPlaced))));
        session
            .commit(async move |tx: Tx| {
                let placed = tx.append_entry(ROOT_CONVERSATION_ID, entry("in")).await?;
                tx.place_submission(id, placed.id)?;
                let answer = tx.append_entry(ROOT_CONVERSATION_ID, entry("out")).await?;
                tx.settle_submission(id, SubmissionSettlement::Done { answer: answer.id })
            })
            .await
            .unwrap();
        session
            .commit(async move |tx: Tx| {
                let late = SubmissionSettlement::Unanswered {
                    reason: "aborted".into(),
                    detail: None,
                };
                tx.settle_submission(id, late)
            })
            .await
            .unwrap();
        let record = session.submission(id).await.unwrap().unwrap();
        assert!(matches!(
            record.state,
            SubmissionState::Input(InputStatus::Done { .. })
        ));
        let found = session
            .commit(async |tx: Tx| tx.submission_by_request(ROOT_CONVERSATION_ID, "r").await)
            .await;
        assert_eq!(found.unwrap().unwrap().id, id);
    });
}

#[test]
fn a_batch_above_the_limit_rejects_the_call_and_not_the_session() {
    open(async |session| {
        root(&session).await;
        let huge = session
            .commit(async |tx: Tx| {
                tx.append_entry(ROOT_CONVERSATION_ID, entry(&"x".repeat(17 << 20)))
                    .await
            })
            .await;
        assert!(matches!(
            huge,
            Err(SessionError::Rejected(Rejection::BatchTooLarge { .. }))
        ));
        session
            .commit(async |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry("small")).await)
            .await
            .unwrap();
    });
}

#[test]
fn a_storage_error_ends_the_session_with_its_cause() {
    open_faulty(async |session, arm| {
        root(&session).await;
        let ended = Rc::new(RefCell::new(0));
        let count = Rc::clone(&ended);
        let _close = session.subscribe_close(move |_| *count.borrow_mut() += 1);
        arm();
        let first = session
            .commit(async |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await)
            .await;
        assert!(matches!(first, Err(SessionError::Storage(_))), "{first:?}");
        let later = session
            .commit(async |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry("y")).await)
            .await;
        assert!(matches!(later, Err(SessionError::Failed(_))));
        assert!(matches!(
            session.conversation(ROOT_CONVERSATION_ID).await,
            Err(SessionError::Failed(_))
        ));
        assert_eq!(*ended.borrow(), 1);
    });
}

#[test]
fn a_callback_that_swallowed_a_failed_read_cannot_commit() {
    open_faulty(async |session, arm| {
        root(&session).await;
        arm();
        let swallowed = session
            .commit(async |tx: Tx| {
                let _lost = tx.conversation(ROOT_CONVERSATION_ID).await;
                tx.bind(ROOT_CONVERSATION_ID);
                Ok::<_, SessionError>(())
            })
            .await;
        assert!(matches!(swallowed, Err(SessionError::Failed(_))));
    });
}

#[test]
fn an_invalid_read_fails_its_call_alone() {
    open(async |session| {
        root(&session).await;
        let unknown = session
            .scan_entries(&entries_of(ConversationId(999)), 10, None)
            .await;
        assert!(matches!(unknown, Err(SessionError::Request(_))));
        session
            .commit(async |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await)
            .await
            .unwrap();
    });
}
