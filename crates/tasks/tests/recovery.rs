//! Crashes and reopens: what survives, what the open writes, what it does not do (spec 5.1 and 5.4, invariant 6).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskOutcome;
use tidehold_session::{Session, SessionError, SessionOptions};
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

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
fn what_a_later_task_gets_done_ends_the_count_that_an_earlier_one_left() {
    let probe = stuck().phase("throws", |_, _: Rt| async {
        Err(TaskFault::Failed("thrown".into()))
    });
    let mut bench = Bench::new(probe);
    let broken = bench.create(json!({ "start": { "phase": "second" } }));
    bench.settle();
    for _ in 0..2 {
        bench = reopen(bench);
    }
    assert_eq!(bench.scheduler.opens_without_progress(), 2);
    // Settled without a commit of its own code: no definition can take it.
    bench.registry.remove(Plain::NAME);
    bench.abort(broken);
    bench.wait(broken);
    // Nothing is live at this open; the count is stored all the same.
    let mut bench = bench.restart_with(|registry| registry.install(Rc::new(stuck())));
    bench.create(json!({}));
    bench.scheduler.resume();
    bench.settle();
    let bench = bench.restart();
    assert_eq!(bench.scheduler.opens_without_progress(), 1, "its own alone");
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
fn a_call_forgives_also_when_all_there_is_to_do_is_to_end_what_is_held() {
    let mut bench = Bench::new(parenting(worker()).phase("ends", done));
    let owner = bench.create(parent(json!("ends"), vec![json!({ "until": (START + 10) })]));
    bench.settle();
    // The child's end is stored, its owner's is not.
    bench.storage.allow_commits(Some(1), CommitFault::Before);
    bench.runtime.advance(10);
    for _ in 0..3 {
        bench = reopen(bench);
    }
    assert_eq!(bench.status(owner), "completing");
    assert_eq!(bench.scheduler.opens_without_progress(), 3);
    bench.scheduler.resume_by_call();
    bench.settle();
    assert_eq!(bench.status(owner), "terminal");
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
}

#[test]
fn ten_resets_within_one_phase_consume_no_attempt_and_strand_nothing() {
    let waits: Rc<RefCell<Option<futures::channel::oneshot::Receiver<()>>>> = Rc::default();
    let gate = Rc::clone(&waits);
    // An effect that needs longer than any life it is given; the attempt is counted in the checkpoint.
    let probe = Probe::new().phase("first", move |task, runtime: Rt| {
        let gate = gate.borrow_mut().take();
        async move {
            if let Some(gate) = gate {
                let _until_the_crash = gate.await;
            }
            let attempt = task.checkpoint.get("attempt").cloned().unwrap();
            runtime.finish(Outcome::Completed(attempt)).await
        }
    });
    let (open, blocked) = futures::channel::oneshot::channel();
    *waits.borrow_mut() = Some(blocked);
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "first", "attempt": 1 } }));
    bench.settle();
    let mut gates = vec![open];
    for reset in 1..=10 {
        bench = bench.restart();
        assert_eq!(
            bench.record(id).checkpoint().unwrap().get("attempt"),
            Some(&json!(1))
        );
        assert_eq!(bench.scheduler.opens_without_progress(), reset);
        // Nobody calls: only the alarm brings it back, at the latest an hour later.
        let wake = bench.last_alarm().expect("unsettled work has a wake");
        assert!(wake - bench.now() <= 3_600_000);
        bench.runtime.advance(wake - bench.now());
        let (open, blocked) = futures::channel::oneshot::channel();
        gates.push(open);
        *waits.borrow_mut() = Some(blocked);
        bench.scheduler.on_alarm();
        bench.settle();
        assert_eq!(bench.status(id), "running");
    }
    bench = bench.restart();
    waits.take();
    bench.scheduler.on_alarm();
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result: json!(1) });
    assert_eq!(bench.log(), vec![format!("first {id}"); 12], "one start a life");
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    assert_eq!(bench.last_alarm(), None);
}

#[test]
fn resets_with_progress_between_them_never_back_off() {
    let probe = Probe::new().phase("first", |task, runtime: Rt| async move {
        let n = number(&task.checkpoint, "n") + 1;
        if n == 11 {
            return runtime.finish(Outcome::Completed(json!(n))).await;
        }
        runtime.advance(json!({ "phase": "first", "n": n })).await?;
        // The rest of this life.
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "first", "n": 0 } }));
    bench.settle();
    for _ in 0..10 {
        bench = bench.restart();
        assert_eq!(bench.scheduler.opens_without_progress(), 1);
        assert_eq!(bench.last_alarm(), Some(bench.now()), "at once");
        bench.scheduler.on_alarm();
        bench.settle();
    }
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result: json!(11) });
}

#[test]
fn opens_that_fail_leave_the_alarm_to_the_platform_and_strand_nothing() {
    let mut bench = Bench::new(stuck());
    let id = bench.create(json!({}));
    bench.settle();
    // The platform gives a handler that fails six more tries. What opens here is the handler.
    for fault in [CommitFault::Before, CommitFault::After].repeat(4) {
        let (medium, alarm) = (bench.medium.clone(), Rc::new(Recorder::default()));
        let opened = bench.reopen_failing(medium, fault, &alarm);
        assert!(opened.is_err_and(|error| error.is_fatal()));
        assert_eq!(
            *alarm.alarms.borrow(),
            [],
            "neither cleared nor set: whoever opens decides"
        );
    }
    let mut bench = bench.restart();
    assert!(bench.last_alarm().is_some_and(|at| at - bench.now() <= 3_600_000));
    bench.scheduler.resume_by_call();
    bench.settle();
    assert_eq!(bench.status(id), "running");
    bench.abort(id);
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
}

#[test]
fn a_call_forgives_while_the_task_runs() {
    let mut bench = Bench::new(stuck());
    bench.create(json!({ "start": { "phase": "second" } }));
    for _ in 0..4 {
        bench = reopen(bench);
    }
    bench.scheduler.on_alarm();
    bench.settle();
    assert_eq!(bench.scheduler.opens_without_progress(), 4);
    bench.scheduler.resume_by_call();
    bench.settle();
    assert_eq!(bench.last_alarm(), Some(bench.now() + 10_000));
    bench = reopen(bench);
    assert_eq!(bench.scheduler.opens_without_progress(), 1);
}

#[test]
fn an_alarm_that_its_handler_has_set_stays_if_it_serves() {
    let mut bench = Bench::new(stuck());
    bench.create(json!({ "start": { "phase": "second" } }));
    bench = reopen(bench);
    let next = bench.now() + 10_000;
    let set = bench.recorder.alarms.borrow().len();
    bench.scheduler.on_alarm_with(Some(next));
    bench.settle();
    let since = bench.recorder.alarms.borrow()[set..].to_vec();
    assert!(
        !since.is_empty() && since.iter().all(|at| *at == Some(next)),
        "{since:?}"
    );
    // One that is too late does not.
    bench.scheduler.on_alarm_with(Some(next + 1));
    assert_eq!(bench.last_alarm(), Some(next));
}

impl Bench {
    /// Opens what is stored a second time, with a storage whose next commit fails.
    fn reopen_failing(
        &mut self,
        medium: Medium,
        fault: CommitFault,
        alarm: &Rc<Recorder>,
    ) -> Result<Scheduler, SessionError> {
        let storage = medium.open();
        storage.allow_commits(Some(0), fault);
        let session = Session::open(storage, self.runtime.host(), SessionOptions::default());
        let (registry, alarm) = (TaskRegistry::new(), Rc::clone(alarm));
        registry.install(Rc::new(stuck()));
        self.run(async move {
            let options = SchedulerOptions {
                alarm,
                ..SchedulerOptions::default()
            };
            Scheduler::open(&session, registry, options).await
        })
    }

    fn abort_outcome(&mut self, id: TaskId) -> &'static TaskOutcome {
        self.abort(id);
        Box::leak(Box::new(self.outcome(id)))
    }
}
