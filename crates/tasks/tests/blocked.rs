//! Definitions that are missing, too old, migrating or replaced (spec 5.4).
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
use tidehold_delta::{Json, json};
use tidehold_session::records::TaskOutcome;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// A session in which version 1 ran a task into `second`.
fn old() -> (Bench, tidehold_session::ids::TaskId) {
    let mut bench = Bench::new(Probe::new());
    let old = Probe::<Old>::new()
        .logging_to(&bench.log)
        .phase("first", |_, runtime: Runtime<Probe<Old>>| async move {
            runtime.advance(json!({ "phase": "second" })).await
        })
        .phase("second", |_, runtime: Runtime<Probe<Old>>| async move {
            runtime.signal().aborted().await;
            Ok(())
        });
    let old = Rc::new(old);
    bench.registry.install(Rc::clone(&old));
    let id = bench.commit(async move |tx| {
        let options = TaskOptions::in_conversation(ROOT);
        Ok(create(&tx, old.as_ref(), &json!({}), options).await?.id())
    });
    bench.settle();
    (bench, id)
}

fn new(log: &Log) -> Probe {
    Probe::new().logging_to(log).phase("second", done)
}

#[test]
fn a_missing_definition_blocks_until_it_is_installed() {
    let (bench, id) = old();
    let mut bench = bench.restart_with(|registry| registry.remove("probe"));
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "blocked", "reason": "missing_task" })
    );
    assert_eq!(bench.last_alarm(), None);
    let scheduler = bench.scheduler.clone();
    let idle = bench
        .runtime
        .run(async move { scheduler.wait_for_idle(None).await });
    assert!(idle.is_none(), "blocked work still blocks idle");
    let migrating = new(&bench.log).migrating(Ok);
    bench.registry.install(Rc::new(migrating));
    let record = bench.wait(id);
    assert_eq!(
        (record.version, outcome_name(record.outcome().unwrap())),
        (2, "completed")
    );
}

#[test]
fn data_of_a_newer_version_is_not_touched() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    bench.registry.remove("probe");
    let id = bench.create(json!({}));
    bench.registry.install(Rc::new(Probe::<Old>::new()));
    bench.settle();
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "blocked", "reason": "task_too_old" })
    );
    assert_eq!(bench.record(id).version, 2);
}

#[test]
fn a_migration_runs_with_the_reservation_and_is_one_commit() {
    let (bench, id) = old();
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| {
        let probe = new(&log)
            .phase("third", done)
            .migrating(|_| Ok(json!({ "phase": "third" })));
        registry.install(Rc::new(probe));
    });
    assert_eq!(bench.inspected(id), json!({ "kind": "ready", "migrates": true }));
    let seen: Rc<RefCell<Vec<_>>> = Rc::default();
    let states = Rc::clone(&seen);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let records = publication.tasks.iter().map(|change| &change.after);
        states
            .borrow_mut()
            .extend(records.map(|record| (record.version, status(record))));
    });
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    assert_eq!(*seen.borrow(), [(2, "running"), (2, "completed")]);
    assert_eq!(bench.log().last(), Some(&format!("third {id}")));
}

#[test]
fn a_failing_migration_is_reported_once_and_tried_again_with_another_definition() {
    let (bench, id) = old();
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| {
        registry.install(Rc::new(new(&log).migrating(|_| Err("cannot".to_owned()))));
    });
    bench.scheduler.resume();
    bench.settle();
    let blocked = json!({ "kind": "blocked", "reason": "migration_failed", "error": "cannot" });
    assert_eq!(bench.inspected(id), blocked);
    let other = bench.create(json!({ "start": { "phase": "second" } }));
    bench.wait(other);
    assert_eq!(
        *bench.recorder.reports.borrow(),
        [format!("task {id} (probe) could not be migrated: cannot")]
    );
    bench
        .registry
        .install(Rc::new(new(&bench.log).migrating(|_| panic!("worse"))));
    bench.settle();
    assert_eq!(bench.recorder.reports.borrow().len(), 2);
    bench.registry.install(Rc::new(new(&bench.log).migrating(Ok)));
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}

#[test]
fn aborting_a_blocked_task_orphans_it_in_the_marking_commit() {
    let (bench, id) = old();
    let mut bench = bench.restart_with(|registry| registry.remove("probe"));
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(bench.hooks(), [format!("settle {id} orphaned")]);
    let record = bench.wait(id);
    assert_eq!(
        record.outcome(),
        Some(&TaskOutcome::Orphaned {
            reason: "missing_task".into()
        })
    );
    assert!(record.abort_requested);
}

#[test]
fn a_failed_migration_is_final_for_its_definition_object() {
    let (bench, id) = old();
    let failing = Rc::new(new(&bench.log).migrating(|_| Err("cannot".to_owned())));
    let first = Rc::clone(&failing);
    let mut bench = bench.restart_with(move |registry| registry.install(first));
    bench.scheduler.resume();
    bench.settle();
    let blocked = json!({ "kind": "blocked", "reason": "migration_failed", "error": "cannot" });
    assert_eq!(bench.inspected(id), blocked);
    // Neither another kind's change nor the same object again is a reason to try.
    bench.registry.install(Rc::clone(&failing));
    bench.registry.remove("probe");
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "blocked", "reason": "missing_task" })
    );
    bench.registry.install(failing);
    bench.settle();
    assert_eq!(bench.inspected(id), blocked);
    assert_eq!(bench.recorder.reports.borrow().len(), 1);
    // Another object with the same code is another definition.
    let another = new(&bench.log).migrating(|_| Err("cannot either".to_owned()));
    bench.registry.install(Rc::new(another));
    bench.settle();
    assert_eq!(bench.recorder.reports.borrow().len(), 2);
    assert_eq!(bench.status(id), "pending");
}

#[test]
fn a_newer_version_that_migrates_nothing_blocks_without_being_tried() {
    let (bench, id) = old();
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| registry.install(Rc::new(new(&log))));
    let blocked = json!({
        "kind": "blocked", "reason": "migration_failed", "error": "version 2 of probe migrates no version 1"
    });
    assert_eq!(bench.inspected(id), blocked, "known before anything is scheduled");
    assert_eq!(bench.last_alarm(), None);
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.inspected(id), blocked);
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(message(&bench.outcome(id)), "migration_failed");
}

#[test]
fn a_waiting_task_without_a_definition_stays_waiting_and_blocks_idle() {
    let probe = || {
        Probe::new()
            .phase("first", |_, runtime: Rt| async move {
                let wait = Next::sleep(json!({ "phase": "second" }), START + 50);
                runtime.commit(async move |_, _| Ok(Some(wait))).await
            })
            .phase("second", done)
    };
    let mut bench = Bench::new(probe());
    let id = bench.create(json!({}));
    bench.settle();
    bench.registry.remove("probe");
    bench.runtime.advance(60);
    assert_eq!(bench.status(id), "waiting");
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "blocked", "reason": "missing_task" })
    );
    assert_eq!(bench.last_alarm(), None);
    let scheduler = bench.scheduler.clone();
    let idle = bench
        .runtime
        .run(async move { scheduler.wait_for_idle(None).await });
    assert!(idle.is_none());
    bench.registry.install(Rc::new(probe()));
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}

#[test]
fn an_aborted_blocked_task_is_orphaned_for_each_reason() {
    let reason = |install: &dyn Fn(&TaskRegistry, &Log)| {
        let (bench, id) = old();
        let log = Rc::clone(&bench.log);
        let mut bench = bench.restart_with(|registry| install(registry, &log));
        bench.scheduler.resume();
        bench.settle();
        let before = head(&mut bench).unwrap().0;
        assert_eq!(bench.abort(id), AbortReply::Marked);
        assert_eq!(bench.status(id), "terminal");
        assert_eq!(head(&mut bench).unwrap().0, before + 1, "in the marking commit");
        message(&bench.outcome(id))
    };
    assert_eq!(reason(&|registry, _| registry.remove("probe")), "missing_task");
    let migrating = |registry: &TaskRegistry, log: &Log| {
        registry.install(Rc::new(new(log).migrating(|_| Err("cannot".to_owned()))));
    };
    assert_eq!(reason(&migrating), "migration_failed");
    let mut bench = Bench::new(Probe::new().phase("first", done));
    bench.registry.install(Rc::new(Probe::<Old>::new()));
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(message(&bench.outcome(id)), "task_too_old");
}

#[test]
fn an_abort_runs_the_handler_of_the_definition_that_migrates_the_task() {
    let (bench, id) = old();
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| {
        let probe = new(&log)
            .migrating(|_| Ok(json!({ "phase": "migrated" })))
            .on_abort(|task, runtime: Rt| async move {
                let reason = Some(
                    task.checkpoint
                        .get("phase")
                        .and_then(Json::as_str)
                        .unwrap()
                        .into(),
                );
                runtime.finish(Outcome::Aborted { reason, result: None }).await
            });
        registry.install(Rc::new(probe));
    });
    assert_eq!(bench.abort(id), AbortReply::Marked);
    let record = bench.wait(id);
    let reason = Some("migrated".into());
    assert_eq!(
        (record.version, record.outcome()),
        (2, Some(&TaskOutcome::Aborted { reason, result: None }))
    );
}

#[test]
fn an_orphan_that_never_ran_has_an_end_and_no_start() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    bench.registry.remove("probe");
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    let record = bench.wait(id);
    assert_eq!((record.started_at, record.ended_at), (None, Some(START)));
}

#[test]
fn a_blocked_owner_is_orphaned_after_its_work() {
    let (mut bench, id) = old();
    let child = bench.create_with(json!({}), TaskOptions::owned_by(id));
    let mut bench = {
        bench.settle();
        bench.restart_with(|registry| registry.remove("probe"))
    };
    bench.scheduler.resume();
    let states: Rc<RefCell<Vec<_>>> = Rc::default();
    let seen = Rc::clone(&states);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let records = publication.tasks.iter().map(|change| &change.after);
        seen.borrow_mut()
            .extend(records.map(|record| (record.id, status(record))));
    });
    assert_eq!(bench.abort(id), AbortReply::Marked);
    bench.settle();
    // The mark, the cascade's mark, then two ends: an orphaned outcome is never held.
    let expected = [
        (id, "pending"),
        (child, "pending"),
        (child, "orphaned"),
        (id, "orphaned"),
    ];
    assert_eq!(*states.borrow(), expected);
    assert_eq!(
        bench.hooks(),
        [
            format!("settle {child} orphaned"),
            format!("settle {id} orphaned")
        ]
    );
    assert_eq!(message(&bench.outcome(id)), "missing_task");
}

#[test]
fn a_replaced_definition_takes_over_at_the_next_phase_boundary() {
    let probe = |name: &'static str| {
        Probe::new()
            .phase("first", |_, runtime: Rt| async move {
                runtime.memo("kept", &1).await?;
                runtime.sleep(START + 100).await?;
                runtime.advance(json!({ "phase": "second" })).await
            })
            .phase("second", move |_, runtime: Rt| async move {
                assert_eq!(runtime.memo_get::<u64>("kept").await?, Some(1));
                runtime.finish(Outcome::Completed(json!(name))).await
            })
    };
    let mut bench = Bench::new(probe("old"));
    let states: Rc<RefCell<Vec<_>>> = Rc::default();
    let seen = Rc::clone(&states);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        seen.borrow_mut()
            .extend(publication.tasks.iter().map(|change| status(&change.after)));
    });
    let id = bench.create(json!({}));
    bench.settle();
    bench.registry.install(Rc::new(probe("new")));
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result: json!("new") });
    let expected = [
        "pending",
        "running",
        "running",
        "running",
        "pending",
        "running",
        "completed",
    ];
    assert_eq!(*states.borrow(), expected);
}

#[test]
fn a_removed_definition_keeps_running_and_is_reported_once() {
    let probe = Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            runtime.sleep(START + 100).await?;
            runtime.advance(json!({ "phase": "second" })).await
        })
        .phase("second", |_, runtime: Rt| async move {
            runtime.advance(json!({ "phase": "third" })).await
        })
        .phase("third", done);
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    bench.registry.remove("probe");
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    let report = format!("task {id} (probe) keeps running under its old definition: missing_task");
    assert_eq!(*bench.recorder.reports.borrow(), [report]);
}

fn poke(bench: &mut Bench, id: tidehold_session::ids::TaskId) {
    let scheduler = bench.scheduler.clone();
    let live = bench.run(async move { scheduler.poke(id).await });
    assert!(live.unwrap(), "the poke was taken");
}

/// Its checkpoint is parked for the outside; woken, it ends.
fn parked() -> Json {
    json!({ "phase": "parked", "external": true })
}

fn woken(log: &Log) -> Probe {
    Probe::new().logging_to(log).phase("parked", done)
}

#[test]
fn a_poke_is_kept_while_the_definition_is_missing() {
    let probe = Probe::new().phase("parked", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": (parked()) }));
    bench.settle();
    let mut bench = bench.restart_with(|registry| registry.remove("probe"));
    poke(&mut bench, id);
    assert_eq!(bench.last_alarm(), None, "blocked work has no wake");
    let definition = woken(&bench.log);
    bench.registry.install(Rc::new(definition));
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}

#[test]
fn a_poke_before_the_migration_is_tried_wakes_what_it_parks() {
    let (bench, id) = old();
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| {
        registry.install(Rc::new(woken(&log).migrating(|_| Ok(parked()))));
    });
    // The first thing after the open: nothing was migrated yet.
    poke(&mut bench, id);
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}
