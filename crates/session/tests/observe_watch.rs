//! Watches (spec 9.2).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use futures::channel::oneshot;
use std::cell::RefCell;
use std::rc::Rc;
use support::{Bench, NOTES, SCRATCH, append, bench, root, set, task};
use tidehold_delta::{Json, encode_batch, json};
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID};
use tidehold_session::limits::WATCH_PENDING;
use tidehold_session::observe::{AlreadyStarted, ListenerError, Revision, Watch, WatchEnd};
use tidehold_session::records::{TaskOutcome, TaskOwnership, TaskState};
use tidehold_session::{SessionError, Tx};

const AT: ConversationId = ROOT_CONVERSATION_ID;

type Log = Rc<RefCell<Vec<Json>>>;

/// The tuples and the value of a revision.
fn shown(revision: &Revision) -> Json {
    Json::array([encode_batch(&revision.ops), revision.value.clone()])
}

async fn watched(bench: &Bench) -> Watch {
    root(&bench.session).await;
    set(&bench.session, &NOTES, "n", 0).await.unwrap();
    watch(bench).await
}

async fn watch(bench: &Bench) -> Watch {
    bench.session.watch_doc(&NOTES, AT).await.unwrap().unwrap()
}

async fn count_to(bench: &Bench, to: u64) {
    let from = bench.session.snapshot(&NOTES, AT).await.unwrap().unwrap();
    let from = from.get("n").and_then(Json::as_u64).unwrap();
    for n in from + 1..=to {
        set(&bench.session, &NOTES, "n", n).await.unwrap();
    }
}

fn listen(watch: &Watch) -> Log {
    let log: Log = Rc::default();
    let seen = Rc::clone(&log);
    let started = watch.start(async move |revision: Revision| {
        seen.borrow_mut().push(shown(&revision));
        Ok::<_, SessionError>(())
    });
    started.unwrap();
    log
}

/// A listener whose every call waits for its gate.
fn listen_gated(watch: &Watch) -> (Log, Rc<RefCell<Vec<oneshot::Sender<()>>>>) {
    let (log, gates): (Log, Rc<RefCell<Vec<_>>>) = Default::default();
    let (seen, open) = (Rc::clone(&log), Rc::clone(&gates));
    let started = watch.start(async move |revision: Revision| {
        let (sender, gate) = oneshot::channel();
        open.borrow_mut().push(sender);
        seen.borrow_mut().push(shown(&revision));
        gate.await
    });
    started.unwrap();
    (log, gates)
}

async fn retire(bench: &Bench) {
    let retired = bench
        .session
        .commit(async |tx: Tx| tx.retire_doc(&NOTES, AT).await);
    retired.await.unwrap();
}

fn counted(n: u64) -> Json {
    json!([[["s", ["n"], n]], { "n": n }])
}

fn replaced(value: Json) -> Json {
    json!([[["r", value.clone()]], value])
}

#[test]
fn a_watch_shows_its_acquisition_and_buffers_until_it_is_started() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        count_to(&bench, 2).await;
        assert_eq!(watch.value(), json!({ "n": 0 }));
        let log = listen(&watch);
        assert!(log.borrow().is_empty(), "never inline");
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(1), counted(2)]);
        let snapshot = bench.session.snapshot(&NOTES, AT).await.unwrap().unwrap();
        assert!(watch.value().same(&snapshot));
        let again = watch.start(async |_| Ok::<_, SessionError>(()));
        assert_eq!(again, Err(AlreadyStarted));
    });
}

#[test]
fn calls_follow_one_another_and_commits_wait_for_none() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let (log, gates) = listen_gated(&watch);
        count_to(&bench, 3).await;
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(1)]);
        // The value is that of the call that runs, not the newest.
        assert_eq!(watch.value(), json!({ "n": 1 }));
        for n in 1..=2 {
            gates.borrow_mut().pop().unwrap().send(()).unwrap();
            bench.turn().await;
            assert_eq!(watch.value(), json!({ "n": n + 1 }));
        }
        assert_eq!(log.borrow().len(), 3);
    });
}

#[test]
fn a_hundred_revisions_pend_and_one_more_makes_them_one_replacement() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        count_to(&bench, 100).await;
        let log = listen(&watch);
        bench.turn().await;
        assert_eq!(log.borrow().len(), WATCH_PENDING);
        assert_eq!(log.borrow()[99], counted(100));
    });
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let (log, gates) = listen_gated(&watch);
        count_to(&bench, 1).await;
        bench.turn().await;
        // The one being delivered does not count, and is not replaced.
        count_to(&bench, 102).await;
        // Exact ones follow the replacement, until the next overflow replaces it too.
        count_to(&bench, 104).await;
        gates.borrow_mut().pop().unwrap().send(()).unwrap();
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(1), replaced(json!({ "n": 102 }))]);
        count_to(&bench, 203).await;
        for _ in 0..2 {
            gates.borrow_mut().pop().unwrap().send(()).unwrap();
            bench.turn().await;
        }
        assert_eq!(log.borrow()[2..], [replaced(json!({ "n": 203 }))]);
        assert_eq!(watch.value(), json!({ "n": 203 }));
    });
}

#[test]
fn retirement_is_the_last_call_and_then_the_watch_is_over() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let (log, gates) = listen_gated(&watch);
        let mut closed = watch.closed();
        count_to(&bench, 1).await;
        retire(&bench).await;
        set(&bench.session, &NOTES, "n", 9).await.unwrap();
        bench.turn().await;
        gates.borrow_mut().pop().unwrap().send(()).unwrap();
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(1), replaced(Json::Null)]);
        assert_eq!(watch.value(), Json::Null);
        assert!((&mut closed).now_or_never().is_none(), "the call still runs");
        gates.borrow_mut().pop().unwrap().send(()).unwrap();
        assert!(matches!(closed.await, WatchEnd::Retired));
        assert!(matches!(watch.stop(), WatchEnd::Retired));
        bench.turn().await;
        assert_eq!(log.borrow().len(), 2, "the next incarnation is not followed");
    });
}

#[test]
fn retirement_folds_into_an_overflow() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        count_to(&bench, 100).await;
        retire(&bench).await;
        let log = listen(&watch);
        let ended = watch.closed().await;
        assert!(matches!(ended, WatchEnd::Retired));
        assert_eq!(*log.borrow(), [replaced(Json::Null)]);
    });
}

#[test]
fn the_end_of_a_task_ends_the_watches_of_its_documents() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let id = session
            .commit(async |tx: Tx| {
                let id = tx.create_task(task(TaskOwnership::Conversation)).await?;
                tx.doc(&SCRATCH, id).await?.at("n").set(1_u64)?;
                Ok::<_, SessionError>(id)
            })
            .await
            .unwrap();
        let watch = session.watch_doc(&SCRATCH, id).await.unwrap().unwrap();
        let log = listen(&watch);
        session
            .commit(async move |tx: Tx| {
                let mut record = tx.task(id).await?.unwrap();
                let outcome = TaskOutcome::Completed { result: Json::Null };
                record.state = TaskState::Terminal { outcome };
                tx.stage_task(record).await
            })
            .await
            .unwrap();
        assert!(matches!(watch.closed().await, WatchEnd::Retired));
        assert_eq!(*log.borrow(), [replaced(Json::Null)]);
    });
}

#[test]
fn a_failing_listener_ends_its_watch_alone_and_is_reported() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let (panicking, other) = (self::watch(&bench).await, self::watch(&bench).await);
        let calls = Rc::new(RefCell::new(0));
        let count = Rc::clone(&calls);
        let started = watch.start(async move |_| {
            *count.borrow_mut() += 1;
            Err("no thanks")
        });
        started.unwrap();
        panicking
            .start(async |_| -> Result<(), SessionError> { panic!("oops") })
            .unwrap();
        let log = listen(&other);
        count_to(&bench, 2).await;
        bench.turn().await;
        let WatchEnd::ListenerError(error) = watch.closed().await else {
            panic!("the listener failed");
        };
        assert!(matches!(&error, ListenerError::Returned(error) if error.to_string() == "no thanks"));
        assert_eq!(*calls.borrow(), 1, "what was pending is gone");
        let ended = panicking.stop();
        assert!(matches!(ended, WatchEnd::ListenerError(ListenerError::Panicked(text)) if text == "oops"));
        assert_eq!(*log.borrow(), [counted(1), counted(2)]);
        let mut reports = bench.reports();
        reports.sort();
        assert_eq!(
            reports,
            [
                "a watch listener of document test.notes failed: no thanks",
                "a watch listener of document test.notes failed: panicked: oops",
            ]
        );
    });
}

#[test]
fn stopping_is_final_and_the_first_reason_stays() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let (log, gates) = listen_gated(&watch);
        count_to(&bench, 3).await;
        bench.turn().await;
        assert!(matches!(watch.stop(), WatchEnd::Stopped));
        assert!(matches!(watch.stop(), WatchEnd::Stopped));
        assert!(matches!(watch.closed().await, WatchEnd::Stopped));
        count_to(&bench, 4).await;
        // The call that runs goes on, to its own end; its failure is told though nobody waits for it.
        drop(gates.borrow_mut().pop());
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(1)]);
        assert!(matches!(watch.stop(), WatchEnd::Stopped));
        assert_eq!(bench.reports().len(), 1);
        bench.session.close().await.unwrap();
        assert!(matches!(watch.stop(), WatchEnd::Stopped));
    });
}

#[test]
fn a_watch_may_be_stopped_by_its_listener() {
    bench(async |bench: Bench| {
        let watch = Rc::new(watched(&bench).await);
        let (own, calls) = (Rc::downgrade(&watch), Rc::new(RefCell::new(0)));
        let count = Rc::clone(&calls);
        let started = watch.start(async move |_| {
            *count.borrow_mut() += 1;
            own.upgrade().unwrap().stop();
            Ok::<_, SessionError>(())
        });
        started.unwrap();
        count_to(&bench, 3).await;
        assert!(matches!(watch.closed().await, WatchEnd::Stopped));
        bench.turn().await;
        assert_eq!(*calls.borrow(), 1);
    });
}

#[test]
fn dropping_a_watch_cancels_it() {
    bench(async |bench: Bench| {
        let watch = watched(&bench).await;
        let log = listen(&watch);
        let closed = watch.closed();
        count_to(&bench, 1).await;
        drop(watch);
        assert!(matches!(closed.await, WatchEnd::Cancelled));
        bench.turn().await;
        assert!(log.borrow().is_empty());
    });
}

#[test]
fn a_close_and_a_failure_end_watches_at_the_seal() {
    for fails in [false, true] {
        bench(async move |bench: Bench| {
            let watch = watched(&bench).await;
            let buffering = self::watch(&bench).await;
            let log = listen(&watch);
            let held = bench.storage.hold_commits();
            let mut late = Box::pin(set(&bench.session, &NOTES, "n", 1));
            assert!((&mut late).now_or_never().is_none());
            let closing = bench.session.clone();
            let mut closing = closing.close();
            if fails {
                bench.session.fail("the test says so".to_owned());
            } else {
                assert!((&mut closing).now_or_never().is_none());
            }
            for watch in [&watch, &buffering] {
                let end = watch.closed().now_or_never().expect("ended at the seal");
                match end {
                    WatchEnd::SessionFailed(failed) if fails => {
                        assert!(failed.to_string().contains("the test says so"));
                    }
                    WatchEnd::SessionClosed if !fails => {}
                    other => panic!("{other:?}"),
                }
                assert_eq!(watch.value(), json!({ "n": 0 }));
            }
            drop(held);
            assert_eq!(late.await.is_err(), fails);
            bench.turn().await;
            assert!(log.borrow().is_empty());
        });
    }
}

#[test]
fn watches_of_a_session_that_nobody_holds_any_more_end() {
    bench(async |bench: Bench| {
        let host = Rc::clone(bench.session.host());
        let watch = watched(&bench).await;
        let closed = watch.closed();
        drop(bench);
        host.sleep_until(host.now() + 1).await;
        assert!(matches!(closed.await, WatchEnd::SessionClosed));
    });
}

#[test]
fn a_watch_misses_nothing_of_what_commits_while_it_is_acquired() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "n", 0).await.unwrap();
        let held = bench.storage.hold_commits();
        let mut before = Box::pin(set(session, &NOTES, "n", 1));
        assert!((&mut before).now_or_never().is_none());
        let mut acquisition = session.watch_doc(&NOTES, AT);
        assert!((&mut acquisition).now_or_never().is_none());
        let mut after = Box::pin(set(session, &NOTES, "n", 2));
        assert!((&mut after).now_or_never().is_none());
        drop(held);
        after.await.unwrap();
        before.await.unwrap();
        let watch = acquisition.await.unwrap().unwrap();
        assert_eq!(watch.value(), json!({ "n": 1 }));
        let log = listen(&watch);
        append(session, "elsewhere").await.unwrap();
        bench.turn().await;
        assert_eq!(*log.borrow(), [counted(2)]);
    });
}
