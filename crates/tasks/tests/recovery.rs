//! Crashes and reopens: what survives, what the open writes, what it does not do (spec 5.1 and 5.4, invariant 6).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use futures::channel::oneshot;
use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::ids::{Seq, TaskId};
use tidehold_session::records::{AbortMarkReason, TaskOutcome};
use tidehold_session::storage::Storage;
use tidehold_session::{Session, SessionError};
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn head(bench: &mut Bench) -> Option<Seq> {
    let session: Session = bench.session.clone();
    bench.run(async move { session.head().await }).unwrap()
}

/// `first` moves on, `second` never returns by itself.
fn stuck() -> Probe {
    Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            runtime.advance(json!({ "phase": "second" })).await
        })
        .phase("second", |_, runtime: Rt| async move {
            runtime.signal().aborted().await;
            Ok(())
        })
}

#[test]
fn an_open_makes_running_tasks_pending_in_one_commit_and_dispatches_nothing() {
    let mut bench = Bench::new(stuck());
    let (a, b) = (bench.create(json!({})), bench.create(json!({})));
    bench.settle();
    let before = head(&mut bench);
    bench.log.borrow_mut().clear();
    let mut bench = bench.restart();
    bench.settle();
    assert_eq!((bench.status(a), bench.status(b)), ("pending", "pending"));
    assert_eq!(bench.record(a).checkpoint(), Some(&json!({ "phase": "second" })));
    assert_eq!(bench.log(), Vec::<String>::new());
    assert_eq!(bench.scheduler.scheduling(), Scheduling::Paused);
    assert_eq!(head(&mut bench).unwrap().0, before.unwrap().0 + 1);
    assert_eq!(bench.inspected(a), json!({ "kind": "ready", "migrates": false }));
    // Nobody asked for anything: the alarm does.
    assert_eq!(bench.last_alarm(), Some(bench.now()));
    bench.scheduler.on_alarm();
    assert!(
        bench.last_alarm() > Some(bench.now()),
        "the fired alarm is used up, the next is set before any work"
    );
    bench.settle();
    assert_eq!(bench.log(), [format!("second {a}"), format!("second {b}")]);
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.log().len(), 2, "resume is idempotent");
}

#[test]
fn an_open_without_live_work_writes_nothing_and_clears_the_alarm() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    let id = bench.create(json!({}));
    bench.wait(id);
    assert_eq!(bench.last_alarm(), None);
    let before = head(&mut bench);
    let mut bench = bench.restart();
    assert_eq!(head(&mut bench), before);
    assert_eq!(*bench.recorder.alarms.borrow(), [None]);
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
}

#[test]
fn the_effect_is_retried_from_its_intent_after_any_crash() {
    // Commits of one task: create, reserve, checkpoint, outcome. Each may be lost before or after it is stored.
    for fault in [CommitFault::Before, CommitFault::After] {
        for commits in 0..3 {
            let effects: Rc<RefCell<Vec<TaskId>>> = Rc::default();
            let charged = Rc::clone(&effects);
            let probe = Probe::new()
                .phase("first", |_, runtime: Rt| async move {
                    runtime.advance(json!({ "phase": "charge" })).await
                })
                .phase("charge", move |_, runtime: Rt| {
                    let charged = Rc::clone(&charged);
                    async move {
                        charged.borrow_mut().push(runtime.task_id());
                        runtime.finish(Outcome::Completed(json!("receipt"))).await
                    }
                });
            let mut bench = Bench::new(probe).restart();
            let id = bench.create(json!({}));
            bench.storage.allow_commits(Some(commits), fault);
            bench.scheduler.resume();
            bench.settle();
            assert!(bench.session.health().is_err());
            let mut bench = bench.restart();
            assert_eq!(
                bench.outcome(id),
                TaskOutcome::Completed {
                    result: json!("receipt")
                }
            );
            let lost_outcome = commits == 2 && fault == CommitFault::Before;
            assert_eq!(
                effects.borrow().len(),
                if lost_outcome { 2 } else { 1 },
                "{commits} {fault:?}"
            );
        }
    }
}

#[test]
fn an_abort_resumes_in_its_stage_after_any_crash() {
    for fault in [CommitFault::Before, CommitFault::After] {
        for commits in 0..3 {
            let mut bench = Bench::new(stuck());
            let id = bench.create(json!({}));
            let child = bench.create_with(json!({}), TaskOptions::owned_by(id));
            bench.settle();
            bench.storage.allow_commits(Some(commits), fault);
            let (scheduler, session) = (bench.scheduler.clone(), bench.session.clone());
            bench.run(async move {
                let _lost = scheduler.abort_task(id).await;
                while session.health().is_ok() {
                    session.host().sleep_until(session.host().now() + 1).await;
                }
            });
            let mut bench = bench.restart();
            if commits == 0 && fault == CommitFault::Before {
                assert!(!bench.record(id).abort_requested);
                bench.abort(id);
            }
            assert_eq!(outcome_name(&bench.outcome(id)), "aborted", "{commits} {fault:?}");
            assert_eq!(outcome_name(&bench.outcome(child)), "aborted");
            let aborts: Vec<_> = bench
                .log()
                .into_iter()
                .filter(|line| line.starts_with("abort"))
                .collect();
            assert_eq!(aborts.last(), Some(&format!("abort {id}")));
        }
    }
}

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
    let stored = bench.storage.inner().reopen();
    let after = futures::executor::block_on(stored.head());
    assert_eq!(after.unwrap(), before);
}

fn abandoning() -> Probe {
    stuck().on_abort(|task, runtime: Rt| async move {
        let reason = match task.record.abort_reason {
            Some(AbortMarkReason::Restart) => "restart",
            None => "request",
        };
        runtime
            .finish(Outcome::Aborted {
                reason: Some(reason.into()),
                result: None,
            })
            .await
    })
}

#[test]
fn what_was_only_awaited_in_memory_is_abandoned_when_scheduling_starts() {
    let mut bench = Bench::new(abandoning());
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let abandoned = bench.create_with(json!({}), options);
    let below = bench.create_with(json!({}), TaskOptions::owned_by(abandoned));
    let kept = bench.create(json!({}));
    bench.settle();
    let mut bench = bench.restart();
    bench.settle();
    assert!(
        !bench.record(abandoned).abort_requested,
        "opening alone marks nothing"
    );
    for id in [below, abandoned] {
        let reason = Some("restart".into());
        assert_eq!(bench.outcome(id), TaskOutcome::Aborted { reason, result: None });
    }
    assert_eq!(bench.status(kept), "running");
    assert!(!bench.log().contains(&format!("restart {abandoned}")));
}

#[test]
fn an_abandoned_task_without_a_definition_waits_for_it_and_a_request_orphans_it() {
    let abandoned_and_blocked = || {
        let mut bench = Bench::new(abandoning());
        let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
        let id = bench.create_with(json!({}), options);
        bench.settle();
        let mut bench = bench.restart_with(|registry| registry.remove("probe"));
        bench.scheduler.resume();
        bench.settle();
        assert_eq!(bench.record(id).abort_reason, Some(AbortMarkReason::Restart));
        assert_eq!(
            bench.inspected(id),
            json!({ "kind": "blocked", "reason": "missing_task" })
        );
        assert_eq!(bench.last_alarm(), None);
        (bench, id)
    };
    let (mut bench, id) = abandoned_and_blocked();
    bench.registry.install(Rc::new(abandoning()));
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Aborted {
            reason: Some("restart".into()),
            result: None
        }
    );
    let (mut bench, id) = abandoned_and_blocked();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(message(&bench.outcome(id)), "missing_task");
}

fn reopen(mut bench: Bench) -> Bench {
    bench.settle();
    bench.restart()
}

#[test]
fn opens_without_progress_back_off_and_progress_resets_them() {
    let mut bench = Bench::new(stuck());
    let id = bench.create(json!({ "start": { "phase": "second" } }));
    let mut distances = Vec::new();
    for opens in 1..=6 {
        bench = reopen(bench);
        assert_eq!(bench.scheduler.opens_without_progress(), opens);
        distances.push(bench.last_alarm().unwrap() - bench.now());
        // The alarm runs the task, which then takes the object down before it commits anything.
        bench.scheduler.on_alarm();
    }
    assert_eq!(distances, [0, 0, 20_000, 40_000, 80_000, 160_000]);
    bench.settle();
    assert_eq!(
        bench.last_alarm(),
        Some(bench.now() + 160_000),
        "work under way is watched at the same distance"
    );
    assert_eq!(outcome_name(bench.abort_outcome(id)), "aborted");
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    let bench = bench.restart();
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
}

#[test]
fn a_call_schedules_at_once_and_forgives() {
    let mut bench = Bench::new(stuck());
    bench.create(json!({ "start": { "phase": "second" } }));
    for _ in 0..4 {
        bench = reopen(bench);
    }
    assert_eq!(bench.last_alarm(), Some(bench.now() + 40_000));
    bench.scheduler.resume_by_call();
    bench.settle();
    assert_eq!(bench.last_alarm(), Some(bench.now() + 10_000));
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    bench = reopen(bench);
    assert_eq!(bench.scheduler.opens_without_progress(), 1);
}

#[test]
fn a_poked_task_is_not_lost_in_a_crash() {
    let probe = Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            runtime
                .advance(json!({ "phase": "parked", "external": true }))
                .await
        })
        .phase("parked", |task, runtime: Rt| async move {
            if task.record.started_at.is_some() && runtime.memo_get::<Json>("answer").await?.is_some() {
                return runtime.finish(Outcome::Completed(json!("answered"))).await;
            }
            runtime.poked().await?;
            runtime.memo("answer", &true).await?;
            runtime.advance(json!({ "phase": "parked" })).await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.last_alarm(), None, "parked for the outside: no alarm");
    // The poke is the last thing that is stored.
    bench.storage.allow_commits(Some(1), CommitFault::Before);
    let scheduler = bench.scheduler.clone();
    bench.run(async move { scheduler.poke(id).await }).unwrap();
    bench.settle();
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), Some(bench.now()), "the poke wakes the object");
    bench.log.borrow_mut().clear();
    bench.scheduler.on_alarm();
    bench.settle();
    assert_eq!(bench.log(), [format!("parked {id}")], "it runs again");
}

#[test]
fn a_poke_counts_until_the_task_has_moved_on_or_waits_again() {
    // Woken, it looks for some time, and then waits again.
    let probe = Probe::new().phase("parked", |_, runtime: Rt| async move {
        runtime.sleep(runtime.now() + 100).await?;
        loop {
            runtime.poked().await?;
        }
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "parked", "external": true } }));
    bench.runtime.advance(100);
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), None);
    let poke = |bench: &mut Bench| {
        let scheduler = bench.scheduler.clone();
        bench.run(async move { scheduler.poke(id).await }).unwrap();
        bench.settle();
    };
    poke(&mut bench);
    assert_eq!(bench.status(id), "running");
    assert!(
        bench.last_alarm().is_some(),
        "a crash from here on would lose the look"
    );
    let mut bench = bench.restart();
    assert_eq!(
        bench.last_alarm(),
        Some(bench.now()),
        "it was started and did not answer"
    );
    bench.scheduler.on_alarm();
    bench.runtime.advance(100);
    assert_eq!(bench.last_alarm(), None, "it waits again");
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), None);
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    poke(&mut bench);
    bench.runtime.advance(100);
    poke(&mut bench);
    assert_eq!(
        bench.last_alarm(),
        None,
        "a poke while it waits is answered by waiting on"
    );
}

impl Bench {
    fn abort_outcome(&mut self, id: TaskId) -> &'static TaskOutcome {
        self.abort(id);
        Box::leak(Box::new(self.outcome(id)))
    }
}
