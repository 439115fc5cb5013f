//! What is over once a callback settled, and what stops a commit whatever its callback answers (spec 3.3, 3.4 and 10.1).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::{NOTES, OWN, SCRATCH, change, entry, open, open_counted, root, task};
use tidehold_delta::{Draft, DraftError, Json, json};
use tidehold_session::documents::{ConversationDoc, DocToken};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::ROOT_CONVERSATION_ID as ROOT;
use tidehold_session::records::{
    ConversationOwnership, ConversationRecord, TaskOutcome, TaskOwnership, TaskState,
};
use tidehold_session::session::ConversationHook;
use tidehold_session::storage::{ConversationQuery, StorageError};
use tidehold_session::{Rejection, Session, SessionError, SessionOptions, Tx};
use tidehold_storage::MemoryStorage;

fn no() -> SessionError {
    SessionError::Rejected(Rejection::Other("no".into()))
}

#[test]
fn drafts_die_with_their_callback_however_it_settles() {
    open(async |session| {
        root(&session).await;
        for panics in [false, true] {
            let leaked: Rc<RefCell<Vec<(Tx, Draft)>>> = Rc::default();
            let leak = Rc::clone(&leaked);
            let failed = session
                .commit(async move |tx: Tx| {
                    let draft = tx.doc(&NOTES, ROOT).await?;
                    leak.borrow_mut().push((tx.clone(), draft));
                    assert!(!panics, "the callback ends in a panic");
                    Err::<(), _>(no())
                })
                .await;
            assert!(failed.is_err());
            let (tx, draft) = leaked.borrow()[0].clone();
            assert_eq!(draft.get(), Err(DraftError::Revoked));
            assert_eq!(draft.at("n").set(1_u64), Err(DraftError::Revoked));
            assert!(matches!(tx.doc(&NOTES, ROOT).await, Err(SessionError::Revoked)));
        }
    });
}

#[test]
fn an_escaped_draft_edits_nothing_while_its_commit_is_still_judged() {
    open_counted(async |session, storage| {
        root(&session).await;
        let owner = change(&session, async |tx| {
            tx.create_task(task(TaskOwnership::Conversation)).await
        })
        .await;
        // Without what is known of the owner, so that it is read after the callback.
        let session = Session::open(storage.clone(), session.host().clone(), SessionOptions::default());
        let escaped: Rc<RefCell<Option<Draft>>> = Rc::default();
        let (slot, slow) = (Rc::clone(&escaped), Rc::clone(&storage));
        let held = Rc::new(RefCell::new(None));
        let hold = Rc::clone(&held);
        let commit = session.commit(async move |tx: Tx| {
            let draft = tx.doc(&NOTES, ROOT).await?;
            draft.at("n").set(1_u64)?;
            tx.create_task(task(TaskOwnership::Task(owner))).await?;
            *slot.borrow_mut() = Some(draft);
            *hold.borrow_mut() = Some(slow.hold_reads());
            Ok::<_, SessionError>(())
        });
        let meddling = async {
            session.host().sleep_until(session.host().now() + 1).await;
            let draft = escaped.borrow().clone().unwrap();
            assert_eq!(draft.at("n").set(2_u64), Err(DraftError::Revoked));
            held.borrow_mut().take();
        };
        let (committed, ()) = futures::join!(commit, meddling);
        committed.unwrap();
        assert_eq!(
            session.snapshot(&NOTES, ROOT).await.unwrap(),
            Some(json!({ "n": 1 }))
        );
    });
}

thread_local! {
    static INITIALS: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn no_initial_value_is_made_for_a_transaction_that_has_settled() {
    static ABSENT: ConversationDoc = DocToken::of_conversation("test.absent", 1, OWN, || {
        INITIALS.set(INITIALS.get() + 1);
        Json::empty_object()
    });
    open_counted(async |session, storage| {
        root(&session).await;
        let held = storage.hold_reads();
        let late = Rc::new(RefCell::new(Vec::new()));
        let (log, spawner) = (Rc::clone(&late), session.clone());
        let settled = session.commit(async move |tx: Tx| {
            spawner.spawn(async move {
                let acquired = tx.doc(&ABSENT, ROOT).await.map(drop);
                log.borrow_mut().push(acquired);
            });
            Ok::<_, SessionError>(())
        });
        // The callback may settle before the acquisition began; then it was never pending.
        let settled = settled.await;
        assert!(
            matches!(settled, Ok(()) | Err(SessionError::PendingAcquisition)),
            "{settled:?}"
        );
        drop(held);
        session.host().sleep_until(session.host().now() + 1).await;
        assert!(
            matches!(late.borrow()[..], [Err(SessionError::Revoked)]),
            "{late:?}"
        );
        assert_eq!(INITIALS.get(), 0);
    });
}

#[test]
fn a_task_that_the_transaction_finishes_has_no_documents_any_more() {
    open(async |session| {
        root(&session).await;
        let id = change(&session, async |tx| {
            let id = tx.create_task(task(TaskOwnership::Conversation)).await?;
            tx.doc(&SCRATCH, id).await.map(|_| id)
        })
        .await;
        change(&session, async move |tx| {
            tx.doc(&SCRATCH, id).await?.at("n").set(1_u64)?;
            let mut record = tx.candidate_task(id).await?.unwrap();
            record.state = TaskState::Terminal {
                outcome: TaskOutcome::Completed { result: Json::Null },
            };
            tx.stage_task(record).await?;
            for access in [
                tx.doc(&SCRATCH, id).await.map(drop),
                tx.peek(&SCRATCH, id).await.map(drop),
                tx.retire_doc(&SCRATCH, id).await,
            ] {
                assert!(
                    matches!(access, Err(SessionError::Rejected(Rejection::TaskFinished(_)))),
                    "{access:?}"
                );
            }
            Ok(())
        })
        .await;
        assert_eq!(session.snapshot(&SCRATCH, id).await.unwrap(), None);
    });
}

struct Refusing;

impl ConversationHook for Refusing {
    fn created<'a>(
        &'a self,
        _: &'a Tx,
        record: &'a ConversationRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        let refuses = record.id != ROOT;
        Box::pin(async move { if refuses { Err(no()) } else { Ok(()) } })
    }
}

#[test]
fn a_creation_whose_hook_failed_is_never_committed() {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let options = SessionOptions {
        conversation_created: Some(Rc::new(Refusing)),
        ..SessionOptions::default()
    };
    let session = Session::open(Rc::new(MemoryStorage::new("test")), runtime.host(), options);
    let done = runtime.run(async move {
        root(&session).await;
        let at = change(&session, async |tx| {
            Ok(tx.append_entry(ROOT, entry("a")).await?.id)
        })
        .await;
        for forks in [false, true] {
            let swallowed = session
                .commit(async move |tx: Tx| {
                    let made = match forks {
                        true => {
                            tx.fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                                .await
                        }
                        false => tx.create_conversation(ConversationOwnership::Ownerless).await,
                    };
                    assert!(made.is_err());
                    Ok::<_, SessionError>(())
                })
                .await;
            assert!(
                matches!(swallowed, Err(SessionError::Rejected(Rejection::Other(_)))),
                "{swallowed:?}"
            );
        }
        let query = ConversationQuery::default();
        session
            .scan_conversations(&query, 10, None)
            .await
            .unwrap()
            .items
            .len()
    });
    assert_eq!(done, Some(1));
}

#[test]
fn a_fork_that_fails_halfway_stages_nothing() {
    static THEN: ConversationDoc = DocToken::of_conversation(
        "test.then",
        1,
        tidehold_session::documents::History::Rewindable {
            fork: tidehold_session::documents::ForkPolicy::AsOf,
        },
        Json::empty_object,
    );
    open_counted(async |session, storage| {
        root(&session).await;
        let at = change(&session, async |tx| {
            tx.doc(&THEN, ROOT).await?;
            Ok(tx.append_entry(ROOT, entry("a")).await?.id)
        })
        .await;
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let _listening = session.subscribe_commits(move |publication| {
            log.borrow_mut().push((
                publication.conversations.len(),
                publication.documents.len(),
                publication.entries.len(),
            ));
        });
        let faulty = Rc::clone(&storage);
        change(&session, async move |tx| {
            // The entry and the first scan are answered, the second scan is not: an error of its call alone.
            faulty.fail_with(StorageError::Request("not now".into()));
            faulty.allow_reads(Some(2));
            let forked = tx
                .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await;
            assert!(matches!(forked, Err(SessionError::Request(_))), "{forked:?}");
            faulty.allow_reads(None);
            tx.append_entry(ROOT, entry("b")).await.map(drop)
        })
        .await;
        assert_eq!(*seen.borrow(), [(0, 0, 1)]);
    });
}

#[test]
fn retiring_what_nobody_acquired_writes_only_its_end() {
    static V1: ConversationDoc = DocToken::of_conversation("test.versioned", 1, OWN, Json::empty_object);
    static V2: ConversationDoc = DocToken::of_conversation("test.versioned", 2, OWN, Json::empty_object)
        .migrate(|_, _| Err("nobody needs it any more".into()));
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| tx.doc(&V1, ROOT).await.map(drop)).await;
        let changes = Rc::new(Cell::new(0));
        let count = Rc::clone(&changes);
        let _listening = session
            .subscribe_commits(move |publication| count.set(count.get() + publication.documents.len()));
        change(&session, async |tx| tx.retire_doc(&V2, ROOT).await).await;
        assert_eq!(changes.get(), 1);
        assert_eq!(session.snapshot(&V1, ROOT).await.unwrap(), None);
    });
}

#[test]
fn a_retention_that_panics_is_reported_and_loses_no_publication() {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let reports = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&reports);
    let options = SessionOptions {
        document_retention_ms: Some(Rc::new(|| panic!("no retention"))),
        on_report: Some(Rc::new(move |report| log.borrow_mut().push(report))),
        ..SessionOptions::default()
    };
    let session = Session::open(Rc::new(MemoryStorage::new("test")), runtime.host(), options);
    let done = runtime.run(async move {
        let heard = Rc::new(Cell::new(0));
        let count = Rc::clone(&heard);
        let _listening = session.subscribe_commits(move |_| count.set(count.get() + 1));
        root(&session).await;
        change(&session, async |tx| tx.doc(&NOTES, ROOT).await.map(drop)).await;
        (heard.get(), session.health().is_ok())
    });
    assert_eq!(done, Some((2, true)));
    assert!(
        reports
            .borrow()
            .iter()
            .all(|report| report.contains("no retention"))
    );
    assert_eq!(reports.borrow().len(), 2);
}

#[test]
fn a_document_stays_an_object() {
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| tx.doc(&NOTES, ROOT).await.map(drop)).await;
        for root in [Json::Null, json!([1]), Json::from("text")] {
            let edited = session
                .commit(async move |tx: Tx| {
                    tx.doc(&NOTES, ROOT).await?.set(root)?;
                    Ok::<_, SessionError>(())
                })
                .await;
            assert!(
                matches!(
                    edited,
                    Err(SessionError::Rejected(Rejection::DocumentRoot { .. }))
                ),
                "{edited:?}"
            );
        }
        assert_eq!(
            session.snapshot(&NOTES, ROOT).await.unwrap(),
            Some(Json::empty_object())
        );
    });
}

#[test]
fn the_root_is_created_once_and_a_head_points_back() {
    open(async |session| {
        root(&session).await;
        let again = session
            .commit(async |tx: Tx| tx.create_root().await.map(drop))
            .await;
        assert!(
            matches!(
                again,
                Err(SessionError::Rejected(Rejection::ConversationExists(ROOT)))
            ),
            "{again:?}"
        );
        let ahead = session
            .commit(async |tx: Tx| {
                let mut draft = entry("a");
                draft.head = Some(tidehold_session::records::DraftHead::Entry(
                    tidehold_session::ids::EntryId(9_999),
                ));
                tx.append_entry(ROOT, draft).await.map(drop)
            })
            .await;
        assert!(
            matches!(
                ahead,
                Err(SessionError::Rejected(Rejection::EntryNotVisible { .. }))
            ),
            "{ahead:?}"
        );
        change(&session, async |tx| {
            tx.append_entry(ROOT, entry("b")).await.map(drop)
        })
        .await;
    });
}
