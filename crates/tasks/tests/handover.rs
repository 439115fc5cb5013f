//! Definitions that are replaced while their tasks run (spec 5.4 and 7.5).
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
use tidehold_session::Subscription;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskOutcome;
use tidehold_tasks::*;

type OldRt = Runtime<Probe<Old>>;
type Rt = Runtime<Probe>;

/// `first` sleeps and moves to `second`, which does the same towards `third`.
fn old(log: &Log) -> Probe<Old> {
    let moves = |until: u64, to: &'static str| {
        move |_: Running<Probe<Old>>, runtime: OldRt| async move {
            runtime.sleep(START + until).await?;
            runtime.advance(json!({ "phase": to })).await
        }
    };
    Probe::<Old>::new()
        .logging_to(log)
        .phase("first", moves(100, "second"))
        .phase("second", moves(200, "third"))
        .phase("third", |_, runtime: OldRt| async move {
            runtime.finish(Outcome::Completed(json!("old"))).await
        })
}

/// A session whose task runs `first` of version 1, and the states its commits give the task.
fn running_old() -> (Bench, TaskId, Rc<RefCell<Vec<String>>>, Subscription) {
    let mut bench = Bench::new(Probe::new());
    let definition = Rc::new(old(&bench.log));
    bench.registry.install(Rc::clone(&definition));
    let states: Rc<RefCell<Vec<String>>> = Rc::default();
    let seen = Rc::clone(&states);
    let subscription = bench.session.subscribe_commits(move |publication| {
        let records = publication.tasks.iter().map(|change| &change.after);
        seen.borrow_mut()
            .extend(records.map(|record| format!("v{} {}", record.version, status(record))));
    });
    let id = bench.commit(async move |tx| {
        let options = TaskOptions::in_conversation(ROOT);
        Ok(create(&tx, definition.as_ref(), &json!({}), options).await?.id())
    });
    bench.settle();
    (bench, id, states, subscription)
}

fn keeps_running(id: TaskId, cause: &str) -> String {
    format!("task {id} (probe) keeps running under its old definition: {cause}")
}

#[test]
fn a_higher_version_takes_over_at_the_boundary_and_migrates_with_its_reservation() {
    let (mut bench, id, states, _subscription) = running_old();
    let new = Probe::new()
        .logging_to(&bench.log)
        .phase("migrated", |task, runtime: Rt| async move {
            runtime.finish(Outcome::Completed(task.checkpoint)).await
        })
        .migrating(|old| Ok(json!({ "phase": "migrated", "from": old })));
    bench.registry.install(Rc::new(new));
    let result = json!({ "phase": "migrated", "from": { "phase": "second" } });
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result });
    let expected = [
        "v1 pending",
        "v1 running",
        "v1 running",
        "v1 pending",
        "v2 running",
        "v2 completed",
    ];
    assert_eq!(*states.borrow(), expected);
    assert_eq!(*bench.recorder.reports.borrow(), Vec::<String>::new());
}

#[test]
fn a_higher_version_that_fails_to_migrate_takes_over_and_blocks() {
    let (mut bench, id, _, _subscription) = running_old();
    let new = Probe::<Plain>::new().migrating(|_| Err("cannot".to_owned()));
    bench.registry.install(Rc::new(new));
    bench.runtime.advance(100);
    let blocked = json!({ "kind": "blocked", "reason": "migration_failed", "error": "cannot" });
    assert_eq!(bench.inspected(id), blocked);
    assert_eq!((bench.record(id).version, bench.status(id)), (1, "pending"));
    let report = format!("task {id} (probe) could not be migrated: cannot");
    assert_eq!(*bench.recorder.reports.borrow(), [report]);
    let definition = old(&bench.log);
    bench.registry.install(Rc::new(definition));
    let result = json!("old");
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result });
}

#[test]
fn an_unfit_definition_is_reported_once_whatever_else_is_installed_and_reconsidered_at_each_boundary() {
    struct Other;
    impl Task for Other {
        const NAME: &'static str = "other";
        const VERSION: u32 = 1;
        type Input = Json;
        type Checkpoint = Json;
        type Outcome = Json;

        fn initial(&self, _: &Json) -> Json {
            Json::Null
        }

        fn wake(&self, _: &Json) -> Wake {
            Wake::Now
        }

        async fn run(&self, _: Running<Self>, _: Runtime<Self>) -> Result<(), TaskFault> {
            Ok(())
        }

        async fn abort(&self, _: Running<Self>, _: Runtime<Self>) -> Result<(), TaskFault> {
            Ok(())
        }
    }
    let (mut bench, id, _, _subscription) = running_old();
    // A newer version without a migration cannot take it.
    bench
        .registry
        .install(Rc::new(Probe::<Plain>::new().logging_to(&bench.log)));
    bench.runtime.advance(100);
    assert_eq!(bench.log().last(), Some(&format!("second {id}")));
    let incompatible = keeps_running(id, "incompatible_task");
    assert_eq!(
        *bench.recorder.reports.borrow(),
        std::slice::from_ref(&incompatible)
    );
    bench.registry.install(Rc::new(Other));
    bench.runtime.advance(100);
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    assert_eq!(
        *bench.recorder.reports.borrow(),
        [incompatible],
        "the definition is still that one"
    );

    let (mut bench, id, _, _subscription) = running_old();
    bench.registry.remove("probe");
    bench.runtime.advance(100);
    assert_eq!(
        *bench.recorder.reports.borrow(),
        [keeps_running(id, "missing_task")]
    );
    let successor = Probe::<Old>::new().logging_to(&bench.log).phase("third", done);
    bench.registry.install(Rc::new(successor));
    let result = json!("done");
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Completed { result },
        "reconsidered at the next boundary"
    );
    assert_eq!(bench.recorder.reports.borrow().len(), 1);
}

#[test]
fn a_task_that_ends_or_waits_at_the_boundary_reports_nothing() {
    let probe = |slow: u64| {
        Probe::new()
            .phase("ends", move |_, runtime: Rt| async move {
                runtime.sleep(START + slow).await?;
                runtime.finish(Outcome::Completed(json!(null))).await
            })
            .phase("waits", move |_, runtime: Rt| async move {
                runtime.sleep(START + slow).await?;
                let wait = Next::sleep(json!({ "phase": "ends" }), START + 500);
                runtime.commit(async move |_, _| Ok(Some(wait))).await
            })
    };
    let mut bench = Bench::new(probe(100));
    let ends = bench.create(json!({ "start": { "phase": "ends" } }));
    let waits = bench.create(json!({ "start": { "phase": "waits" } }));
    bench.settle();
    bench.registry.remove("probe");
    bench.runtime.advance(100);
    assert_eq!((bench.status(ends), bench.status(waits)), ("terminal", "waiting"));
    assert_eq!(*bench.recorder.reports.borrow(), Vec::<String>::new());
}

#[test]
fn the_installed_object_installed_again_changes_nothing() {
    let (mut bench, id, states, _subscription) = running_old();
    let present = Rc::new(old(&bench.log));
    bench.registry.install(Rc::clone(&present));
    bench.runtime.advance(100);
    let generation = bench.registry.generation();
    bench.registry.install(Rc::clone(&present));
    assert_eq!(bench.registry.generation(), generation);
    // Removed and installed again it is still the object that the invocation runs.
    bench.registry.remove("probe");
    bench.registry.install(present);
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    let hand_overs = states
        .borrow()
        .iter()
        .filter(|state| *state == "v1 pending")
        .count();
    assert_eq!(hand_overs, 2, "created, and handed over to the other object once");
}

#[test]
fn a_mark_travels_over_a_hand_over() {
    let (mut bench, id, states, _subscription) = running_old();
    let new = Probe::new()
        .logging_to(&bench.log)
        .migrating(Ok)
        .on_abort(|task, runtime: Rt| async move {
            assert!(task.record.abort_requested && task.record.version == 2);
            runtime.finish(Outcome::aborted()).await
        });
    // The mark lands between the hand-over and the next reservation.
    let marked: Rc<RefCell<bool>> = Rc::default();
    let (once, scheduler, session) = (Rc::clone(&marked), bench.scheduler.clone(), bench.session.clone());
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let handed_over = |record: &TaskRecord| status(record) == "pending" && record.started_at.is_some();
        if publication.tasks.iter().any(|change| handed_over(&change.after)) && !once.replace(true) {
            let scheduler = scheduler.clone();
            session.spawn(async move {
                scheduler.abort_task(id).await.unwrap();
            });
        }
    });
    bench.registry.install(Rc::new(new));
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    assert!(*marked.borrow());
    assert_eq!(bench.log(), [format!("first {id}"), format!("abort {id}")]);
    assert!(states.borrow().contains(&"v2 running".to_owned()));
}
