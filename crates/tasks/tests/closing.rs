//! What a close meets and leaves alone (spec 5.1, rule 2).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use futures::FutureExt;
use futures::channel::oneshot;
use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::records::TaskOutcome;
use tidehold_session::{SessionEnd, SessionError};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

#[test]
fn closing_writes_no_outcome_and_the_task_goes_on_after_reopening() {
    let mut bench = Bench::new(stuck());
    let id = bench.create(json!({}));
    bench.settle();
    let (session, scheduler) = (bench.session.clone(), bench.scheduler.clone());
    bench.run(async move {
        session.close().await.unwrap();
        scheduler.join_invocations().await;
    });
    let mut bench = bench.restart();
    let record = bench.record(id);
    assert_eq!((status(&record), record.abort_requested), ("pending", false));
    bench.log.borrow_mut().clear();
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.log(), [format!("second {id}")]);
}

#[test]
fn work_whose_commit_settles_during_a_close_has_a_wake() {
    let mut bench = Bench::new(stuck());
    let held = bench.storage.hold_commits();
    let session = bench.session.clone();
    bench.run(async move {
        let created = session.commit(async move |tx| {
            let options = TaskOptions::in_conversation(ROOT);
            create(&tx, &Probe::<Plain>::new(), &json!({}), options).await
        });
        let (mut created, mut closing) = (Box::pin(created), session.close());
        assert!((&mut created).now_or_never().is_none());
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        assert!(created.await.is_ok(), "it was admitted before");
        closing.await.unwrap();
    });
    assert!(bench.last_alarm().is_some());
}

/// Code that ignores its signal until the gate opens.
fn deaf(gate: oneshot::Receiver<()>) -> Probe {
    let gate = RefCell::new(Some(gate));
    stuck().phase("first", move |_, _: Rt| {
        let gate = gate.borrow_mut().take();
        async move {
            if let Some(gate) = gate {
                gate.await.unwrap();
            }
            Ok(())
        }
    })
}

#[test]
fn a_close_stays_pending_with_the_storage_open_until_deaf_code_returns() {
    for fails in [false, true] {
        let (open, gate) = oneshot::channel();
        let mut bench = Bench::new(deaf(gate));
        let id = bench.create(json!({}));
        bench.settle();
        let (session, storage, host) = (bench.session.clone(), bench.storage.clone(), bench.runtime.host());
        bench.run(async move {
            if fails {
                session.fail("the test says so".to_owned());
            }
            let (mut closing, mut closed) = (session.close(), session.closed());
            assert!((&mut closing).now_or_never().is_none());
            host.sleep_until(host.now() + 1_000).await;
            assert!((&mut closing).now_or_never().is_none());
            assert!((&mut closed).now_or_never().is_none());
            assert!(storage.head().await.is_ok(), "the storage is open");
            open.send(()).unwrap();
            assert_eq!(closing.await.is_err(), fails);
            let ended = closed.await;
            assert_eq!(matches!(ended, SessionEnd::Failed(_)), fails);
            assert!(storage.head().await.is_err(), "the storage is closed");
        });
        // Nothing of the old code follows; another life runs the task again.
        let mut bench = bench.restart();
        assert_eq!(bench.status(id), "pending");
        bench.log.borrow_mut().clear();
        bench.scheduler.resume();
        bench.settle();
        assert_eq!(bench.log(), [format!("first {id}")]);
    }
}

#[test]
fn code_is_signalled_when_every_close_listener_was_called() {
    let order: Rc<RefCell<Vec<&str>>> = Rc::default();
    let seen = Rc::clone(&order);
    let probe = Probe::new().phase("first", move |_, runtime: Rt| {
        let seen = Rc::clone(&seen);
        async move {
            runtime.signal().aborted().await;
            seen.borrow_mut().push("signalled");
            Ok(())
        }
    });
    let mut bench = Bench::new(probe);
    bench.create(json!({}));
    bench.settle();
    let (session, asked, live) = (bench.session.clone(), Rc::clone(&order), bench.scheduler.clone());
    bench.run(async move {
        // Younger than the scheduler's.
        let _listener = session.subscribe_close(move |_| {
            asked.borrow_mut().push(match live.scheduling() {
                Scheduling::Closing => "late",
                _ => "listener",
            });
        });
        session.close().await.unwrap();
    });
    assert_eq!(*order.borrow(), ["listener", "signalled"]);
}

/// Closes while a slow commit holds the line, with `meanwhile` called before the close begins.
fn close_behind_a_slow_commit(bench: &mut Bench, meanwhile: impl FnOnce() + 'static) {
    let (session, host) = (bench.session.clone(), bench.runtime.host());
    let (release, hold) = oneshot::channel::<()>();
    bench.run(async move {
        let slow = session.commit(async move |_| {
            hold.await.unwrap();
            Ok::<(), SessionError>(())
        });
        let script = async {
            host.sleep_until(host.now() + 1).await;
            meanwhile();
            host.sleep_until(host.now() + 1).await;
            let (closed, ()) = futures::join!(session.close(), async { release.send(()).unwrap() });
            closed.unwrap();
        };
        let (slow, ()) = futures::join!(slow, script);
        slow.unwrap();
    });
    bench.settle();
}

/// `first` commits `second` and returns in its own way once the gate opens.
fn gated(gate: oneshot::Receiver<()>, throws: bool) -> Probe {
    let gate = RefCell::new(Some(gate));
    stuck().phase("first", move |_, runtime: Rt| {
        let gate = gate.borrow_mut().take();
        async move {
            runtime.advance(json!({ "phase": "second" })).await?;
            if let Some(gate) = gate {
                gate.await.unwrap();
            }
            if throws {
                Err(TaskFault::Failed("thrown".into()))
            } else {
                Ok(())
            }
        }
    })
}

#[test]
fn a_step_that_meets_a_close_starts_no_phase_and_writes_no_fault() {
    for throws in [false, true] {
        let (open, gate) = oneshot::channel();
        let mut bench = Bench::new(gated(gate, throws));
        let id = bench.create(json!({}));
        bench.settle();
        bench.log.borrow_mut().clear();
        close_behind_a_slow_commit(&mut bench, move || open.send(()).unwrap());
        assert_eq!(bench.log(), Vec::<String>::new(), "no phase starts while closing");
        let mut bench = bench.restart();
        assert_eq!(bench.status(id), "pending");
        bench.scheduler.resume();
        bench.settle();
        assert_eq!(bench.log(), [format!("second {id}")]);
    }
}

#[test]
fn a_pass_that_meets_a_close_reserves_nothing() {
    let mut bench = Bench::new(stuck());
    bench.create(json!({}));
    bench.settle();
    let mut bench = bench.restart();
    let before = head(&mut bench);
    let scheduler = bench.scheduler.clone();
    close_behind_a_slow_commit(&mut bench, move || scheduler.resume());
    let stored = bench.medium.open();
    let after = futures::executor::block_on(stored.head());
    assert_eq!(after.unwrap(), before);
}

#[test]
fn a_close_keeps_memos_and_marks_and_starts_no_abort_handler() {
    // Deaf code, so that the mark is stored and the run has not ended when the close begins.
    let (open, gate) = oneshot::channel();
    let gate = RefCell::new(Some(gate));
    let probe = stuck()
        .phase("first", move |_, runtime: Rt| {
            let gate = gate.borrow_mut().take();
            async move {
                runtime.memo("kept", &7).await?;
                if let Some(gate) = gate {
                    gate.await.unwrap();
                }
                Err(TaskFault::Failed("interrupted".into()))
            }
        })
        .on_abort(|task, runtime: Rt| async move {
            let kept = task.record.memos.get("kept").cloned();
            runtime
                .finish(Outcome::Aborted {
                    reason: None,
                    result: kept,
                })
                .await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    let (session, scheduler) = (bench.session.clone(), bench.scheduler.clone());
    bench.run(async move {
        let mut abort = scheduler.abort_task(id);
        assert!((&mut abort).now_or_never().is_none());
        let mut receipt = scheduler.wait_for_task(id);
        assert!((&mut receipt).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        // Whoever waits is told at once, whatever the code does.
        for wait in [abort.await.map(drop), receipt.await.map(drop)] {
            assert!(matches!(wait, Err(SessionError::Closed)), "{wait:?}");
        }
        open.send(()).unwrap();
        closing.await.unwrap();
    });
    assert_eq!(bench.log(), [format!("first {id}")]);
    let mut bench = bench.restart();
    let record = bench.record(id);
    assert_eq!((status(&record), record.abort_requested), ("pending", true));
    assert_eq!(record.memos.get("kept"), Some(&json!(7)));
    let outcome = bench.outcome(id);
    let result = Some(json!(7));
    assert_eq!(outcome, TaskOutcome::Aborted { reason: None, result });
    assert_eq!(bench.log(), [format!("first {id}"), format!("abort {id}")]);
}

#[test]
fn a_closed_session_starts_nothing_whatever_is_asked_of_it() {
    let mut bench = Bench::new(stuck());
    let id = bench.create(json!({}));
    bench.settle();
    let mut bench = bench.restart();
    bench.log.borrow_mut().clear();
    let (session, scheduler) = (bench.session.clone(), bench.scheduler.clone());
    bench.run(async move {
        session.close().await.unwrap();
        assert!(matches!(scheduler.try_resume(), Err(SessionError::Closed)));
        scheduler.resume();
        scheduler.on_alarm();
        assert_eq!(scheduler.scheduling(), Scheduling::Closing);
    });
    bench.settle();
    assert_eq!(bench.log(), Vec::<String>::new());
    assert_eq!(bench.status(id), "pending");
}
