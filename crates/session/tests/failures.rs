//! One rule a kind of error (spec 10.1): what ends the session, who is told what, and what is contained.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::{Bench, NOTES, append, bench, entry, root};
use tidehold_session::host::{Host, Millis};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::storage::{EntryQuery, Storage, StorageError};
use tidehold_session::{FailureCause, Session, SessionEnd, SessionError, SessionFailed, SessionOptions, Tx};
use tidehold_storage::fault::CommitFault;
use tidehold_storage::memory::MemoryStorage;

fn cause(error: SessionError) -> FailureCause {
    match error {
        SessionError::Failed(SessionFailed { cause }) => cause,
        other => panic!("not a failed session: {other:?}"),
    }
}

fn is_injected(cause: &FailureCause) -> bool {
    matches!(cause, FailureCause::Storage(error) if matches!(**error, StorageError::Backend(_)))
}

#[test]
fn the_call_that_met_the_error_gets_it_and_every_other_one_its_cause() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        bench.storage.allow_commits(Some(0), CommitFault::Before);
        let held = bench.storage.hold_commits();
        let mut first = Box::pin(append(session, "first"));
        assert!((&mut first).now_or_never().is_none());
        let mut queued = Box::pin(append(session, "queued"));
        assert!((&mut queued).now_or_never().is_none());
        let mut snapshot = session.snapshot(&NOTES, ROOT_CONVERSATION_ID);
        assert!((&mut snapshot).now_or_never().is_none());
        drop(held);
        assert!(matches!(first.await, Err(SessionError::Storage(_))));
        assert!(is_injected(&cause(queued.await.unwrap_err())));
        assert!(is_injected(&cause(snapshot.await.unwrap_err())));
        assert!(is_injected(&cause(append(session, "later").await.unwrap_err())));
        assert!(is_injected(&cause(session.head().await.unwrap_err())));
    });
}

#[test]
fn a_storage_call_under_way_fails_whatever_it_returned() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let held = bench.storage.hold_reads();
        let mut read = session.conversation(ROOT_CONVERSATION_ID);
        assert!((&mut read).now_or_never().is_none());
        session.fail("the books do not balance".to_owned());
        drop(held);
        let FailureCause::Bookkeeping(text) = cause(read.await.unwrap_err()) else {
            panic!("the read met no storage error");
        };
        assert_eq!(&*text, "the books do not balance");
    });
    // A commit too, though storage has it.
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let published = Rc::new(Cell::new(0));
        let count = Rc::clone(&published);
        let _listener = session.subscribe_commits(move |_| count.set(count.get() + 1));
        let held = bench.storage.hold_commits();
        let mut commit = Box::pin(append(session, "x"));
        assert!((&mut commit).now_or_never().is_none());
        bench.storage.allow_reads(Some(0));
        assert!(matches!(session.head().await, Err(SessionError::Storage(_))));
        drop(held);
        assert!(is_injected(&cause(commit.await.unwrap_err())));
        assert_eq!(published.get(), 0);
        session.closed().await;
        let stored = bench.storage.inner().reopen();
        assert!(stored.entry(EntryId(2)).await.unwrap().is_some());
    });
}

#[test]
fn a_read_inside_a_transaction_is_told_of_a_failure_outside() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let asked = Rc::new(RefCell::new(None));
        let slot = Rc::clone(&asked);
        let failing = session.clone();
        let commit = session.commit(async move |tx: Tx| {
            failing.fail("elsewhere".to_owned());
            *slot.borrow_mut() = Some(tx.conversation(ROOT_CONVERSATION_ID).await);
            tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await
        });
        cause(commit.await.unwrap_err());
        cause(asked.borrow_mut().take().unwrap().unwrap_err());
    });
}

#[test]
fn a_failed_session_closes_itself_once_nothing_is_under_way() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let (held, running) = (bench.storage.hold_reads(), session.keep_open());
        let mut read = session.conversation(ROOT_CONVERSATION_ID);
        assert!((&mut read).now_or_never().is_none());
        bench.storage.allow_commits(Some(0), CommitFault::Before);
        assert!(append(session, "x").await.is_err());
        bench.turn().await;
        let mut closed = session.closed();
        assert!((&mut closed).now_or_never().is_none());
        drop(held);
        assert!(read.await.is_err());
        bench.turn().await;
        assert!((&mut closed).now_or_never().is_none(), "code still runs");
        drop(running);
        let SessionEnd::Failed(failed) = closed.await else {
            panic!("it failed");
        };
        assert!(is_injected(&failed.cause));
        assert!(matches!(bench.storage.head().await, Err(StorageError::Closed)));
        // A call of close waits for the end and is told like every call.
        assert!(is_injected(&cause(session.close().await.unwrap_err())));
    });
}

#[test]
fn a_failure_during_a_close_is_the_end() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let held = bench.storage.hold_commits();
        bench.storage.allow_commits(Some(0), CommitFault::Before);
        let mut commit = Box::pin(append(session, "x"));
        assert!((&mut commit).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        assert!(matches!(commit.await, Err(SessionError::Storage(_))));
        assert!(is_injected(&cause(closing.await.unwrap_err())));
        assert!(matches!(session.closed().await, SessionEnd::Failed(_)));
        assert!(matches!(bench.storage.head().await, Err(StorageError::Closed)));
    });
}

#[test]
fn closed_settles_failed_also_when_the_backend_does_not_close() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        bench.storage.fail_close();
        session.fail("first".to_owned());
        let SessionEnd::Failed(failed) = session.closed().await else {
            panic!("it failed");
        };
        assert!(matches!(failed.cause, FailureCause::Bookkeeping(_)));
        let reports = bench.reports();
        assert_eq!(reports[0], "the session failed: first");
        assert!(reports[1].contains("did not close"), "{reports:?}");
        assert_eq!(reports.len(), 2);
    });
}

#[test]
fn the_failure_is_reported_once_after_the_seal() {
    let seen: Rc<RefCell<Vec<bool>>> = Rc::default();
    let session: Rc<RefCell<Option<Session>>> = Rc::default();
    let (log, asked) = (Rc::clone(&seen), Rc::clone(&session));
    let options = SessionOptions {
        on_report: Some(Rc::new(move |_| {
            let sealed = asked.borrow().as_ref().unwrap().health().is_err();
            log.borrow_mut().push(sealed);
            panic!("a handler broke");
        })),
        ..SessionOptions::default()
    };
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let opened = Session::open(Rc::new(MemoryStorage::new("test")), runtime.host(), options);
    *session.borrow_mut() = Some(opened.clone());
    let ended = runtime.run(async move {
        opened.fail("first".to_owned());
        opened.fail("second".to_owned());
        opened.closed().await
    });
    let Some(SessionEnd::Failed(failed)) = ended else {
        panic!("{ended:?}");
    };
    assert!(matches!(failed.cause, FailureCause::Bookkeeping(text) if &*text == "first"));
    assert_eq!(*seen.borrow(), [true]);
}

#[test]
fn an_invalid_request_is_the_calls_own_for_reads_alone() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let unknown = EntryQuery {
            conversation_id: ConversationId(999),
            min_entry_id: None,
            max_entry_id: None,
            order: None,
        };
        let read = session.scan_entries(&unknown, 1, None).await;
        assert!(matches!(read, Err(SessionError::Request(_))));
        // A callback may go on without it.
        let inside = session
            .commit(async move |tx: Tx| {
                let read = tx.scan_entries(&unknown, 1, None).await;
                assert!(matches!(read, Err(SessionError::Request(_))));
                tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await
            })
            .await;
        assert!(inside.is_ok());
    });
    for mint in [false, true] {
        bench(async move |bench: Bench| {
            let session = &bench.session;
            root(session).await;
            bench.storage.fail_with(StorageError::Request("no".to_owned()));
            if mint {
                bench.storage.allow_mints(Some(0));
            } else {
                bench.storage.allow_commits(Some(0), CommitFault::Before);
            }
            assert!(matches!(
                append(session, "x").await,
                Err(SessionError::Storage(_))
            ));
            assert!(session.health().is_err());
        });
    }
}

#[test]
fn a_hosts_listener_that_panics_is_reported_and_the_others_hear_of_the_commit() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let heard: Rc<RefCell<Vec<&str>>> = Rc::default();
        let hear = |name: &'static str| {
            let heard = Rc::clone(&heard);
            move || heard.borrow_mut().push(name)
        };
        let (first, second, third) = (hear("first"), hear("second"), hear("third"));
        let _first = session.subscribe_commits(move |_| first());
        let _broken = session.subscribe_commits(|_| panic!("one"));
        let _second = session.attach(move |_| second());
        let _again = session.subscribe_commits(|_| panic!("two"));
        let _third = session.subscribe_commits(move |_| third());
        append(session, "x").await.unwrap();
        assert_eq!(*heard.borrow(), ["first", "second", "third"]);
        assert_eq!(
            bench.reports(),
            [
                "a commit listener panicked: one",
                "a commit listener panicked: two"
            ]
        );
        append(session, "y").await.unwrap();
        assert_eq!(heard.borrow().len(), 6);
    });
}

#[test]
fn a_components_listener_that_panics_fails_the_session_and_the_commit_stands() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let heard = Rc::new(RefCell::new(Vec::new()));
        let (commits, ends) = (Rc::clone(&heard), Rc::clone(&heard));
        let _broken = session.attach(|_| panic!("the mirror broke"));
        let _commits = session.subscribe_commits(move |_| commits.borrow_mut().push("commit"));
        let _ends = session.subscribe_close(move |_| ends.borrow_mut().push("end"));
        let id = append(session, "x").await.expect("it is committed");
        assert_eq!(*heard.borrow(), ["commit", "end"]);
        let failed = cause(append(session, "y").await.unwrap_err());
        assert!(matches!(failed, FailureCause::Bookkeeping(text) if text.contains("the mirror broke")));
        session.closed().await;
        let stored = bench.storage.inner().reopen();
        assert!(stored.entry(id).await.unwrap().is_some());
        assert_eq!(bench.reports().len(), 1);
    });
}

#[test]
fn a_disposed_listener_hears_nothing_more_and_disposing_in_a_listener_is_fine() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let heard = Rc::new(Cell::new(0));
        let count = Rc::clone(&heard);
        let own = Rc::new(RefCell::new(None));
        let dispose = Rc::clone(&own);
        let subscription = session.subscribe_commits(move |_| {
            count.set(count.get() + 1);
            drop(dispose.borrow_mut().take());
        });
        *own.borrow_mut() = Some(subscription);
        append(session, "x").await.unwrap();
        append(session, "y").await.unwrap();
        assert_eq!(heard.get(), 1);
    });
}

/// A host whose clock breaks on demand: adoption asks it.
struct BrokenClock {
    host: Rc<dyn Host>,
    broken: Rc<Cell<bool>>,
}

impl Host for BrokenClock {
    fn now(&self) -> Millis {
        assert!(!self.broken.get(), "the clock broke");
        self.host.now()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        self.host.sleep_until(at)
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.host.spawn(future);
    }

    fn entropy(&self, bytes: &mut [u8]) {
        self.host.entropy(bytes);
    }
}

#[test]
fn a_batch_that_cannot_be_adopted_fails_the_session_that_is_behind_its_storage_now() {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let storage = Rc::new(MemoryStorage::new("test"));
    let broken = Rc::new(Cell::new(false));
    let host = BrokenClock {
        host: runtime.host(),
        broken: Rc::clone(&broken),
    };
    let session = Session::open(Rc::clone(&storage) as _, Rc::new(host), SessionOptions::default());
    let id = runtime.run(async move {
        root(&session).await;
        let appended = session
            .commit(async move |tx: Tx| {
                let made = tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await?;
                broken.set(true);
                Ok::<_, SessionError>(made.id)
            })
            .await;
        let failed = cause(appended.unwrap_err());
        assert!(matches!(failed, FailureCause::Bookkeeping(text) if text.contains("the clock broke")));
        assert!(matches!(session.closed().await, SessionEnd::Failed(_)));
        EntryId(2)
    });
    let stored = storage.reopen();
    assert!(
        stored
            .entry(id.unwrap())
            .now_or_never()
            .unwrap()
            .unwrap()
            .is_some()
    );
}
