//! Live work as an inspection shows it, before and after scheduling starts (spec 2.2).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use futures::FutureExt;
use std::rc::Rc;
use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::ids::TaskId;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// A kind of its own at a version.
struct Named<const KIND: usize, const VERSION: u32>;

const NAMES: [&str; 4] = ["migrating", "unmigrated", "regressed", "missing"];

impl<const KIND: usize, const VERSION: u32> Kind for Named<KIND, VERSION> {
    const NAME: &'static str = NAMES[KIND];
    const VERSION: u32 = VERSION;
}

/// A task of a kind, as its version 2 created it.
fn stored<const KIND: usize>(bench: &mut Bench) -> TaskId {
    let definition = Probe::<Named<KIND, 2>>::new();
    bench.commit(async move |tx| {
        let options = TaskOptions::in_conversation(ROOT);
        Ok(create(&tx, &definition, &json!({}), options).await?.id())
    })
}

fn install<const KIND: usize, const VERSION: u32>(
    registry: &TaskRegistry,
    definition: Probe<Named<KIND, VERSION>>,
) {
    registry.install(Rc::new(definition));
}

fn inspected(bench: &Bench) -> Vec<(TaskId, Json)> {
    let tasks = bench.scheduler.inspect();
    let state = |task: &TaskInspection| Json::from_serialize(&task.state).unwrap();
    tasks.iter().map(|task| (task.record.id, state(task))).collect()
}

#[test]
fn a_paused_session_shows_every_state_and_runs_no_code_for_it() {
    let probe = parenting(stuck())
        .phase("joins", |task, runtime: Rt| async move {
            let children = children(&task.checkpoint);
            runtime
                .commit(async move |_, _| {
                    let checkpoint = json!({ "phase": "second" });
                    Ok(Some(Next::join(checkpoint, JoinPolicy::AllSettled, children)))
                })
                .await
        })
        .phase("ends", done);
    let mut bench = Bench::new(probe);
    let ready = bench.create(json!({ "start": { "phase": "second" } }));
    let children = vec![json!({ "start": { "phase": "ends" } }), json!({})];
    let waiting = bench.create(parent(json!("joins"), children));
    bench.settle();
    let completing = bench.create(parent(json!("ends"), vec![json!({})]));
    bench.settle();
    let migrating = stored::<0>(&mut bench);
    let unmigrated = stored::<1>(&mut bench);
    let regressed = stored::<2>(&mut bench);
    let missing = stored::<3>(&mut bench);
    let mut bench = bench.restart_with(|registry| {
        install(
            registry,
            Probe::<Named<0, 3>>::new().migrating(|_| panic!("tried")),
        );
        install(registry, Probe::<Named<1, 3>>::new());
        install(registry, Probe::<Named<2, 1>>::new());
    });
    let before = head(&mut bench);
    bench.log.borrow_mut().clear();
    let live: Vec<TaskId> = bench
        .scheduler
        .inspect()
        .iter()
        .map(|task| task.record.id)
        .collect();
    let (second_child, held_child) = (TaskId(waiting.0 + 2), TaskId(completing.0 + 1));
    let expected = [
        (ready, json!({ "kind": "ready", "migrates": false })),
        (waiting, json!({ "kind": "waiting", "on": [(second_child.0)] })),
        (second_child, json!({ "kind": "ready", "migrates": false })),
        (completing, json!({ "kind": "completing" })),
        (held_child, json!({ "kind": "ready", "migrates": false })),
        (migrating, json!({ "kind": "ready", "migrates": true })),
        (
            unmigrated,
            json!({
                "kind": "blocked", "reason": "migration_failed",
                "error": "version 3 of unmigrated migrates no version 2"
            }),
        ),
        (regressed, json!({ "kind": "blocked", "reason": "task_too_old" })),
        (missing, json!({ "kind": "blocked", "reason": "missing_task" })),
    ];
    assert_eq!(inspected(&bench), expected);
    assert!(live.is_sorted(), "in the order of ids");
    bench.settle();
    assert_eq!(bench.scheduler.scheduling(), Scheduling::Paused);
    assert_eq!(
        (head(&mut bench), bench.log()),
        (before, Vec::new()),
        "it writes nothing and runs nothing"
    );

    bench.scheduler.resume();
    bench.settle();
    let shown = |bench: &Bench, id: TaskId| {
        let found = inspected(bench).into_iter().find(|(found, _)| *found == id);
        found.map(|(_, state)| state)
    };
    let failed = json!({ "kind": "blocked", "reason": "migration_failed", "error": "tried" });
    assert_eq!(shown(&bench, migrating), Some(failed));
    assert_eq!(shown(&bench, ready), Some(json!({ "kind": "running" })));
    let waits = json!({ "kind": "waiting", "on": [(second_child.0)] });
    assert_eq!(shown(&bench, waiting), Some(waits));
    bench.abort(second_child);
    bench.wait(second_child);
    bench.settle();
    assert_eq!(shown(&bench, second_child), None, "what has ended is not shown");
    assert_eq!(shown(&bench, waiting), Some(json!({ "kind": "running" })));
}

#[test]
fn the_record_of_a_live_task_tells_when_it_started() {
    let mut bench = Bench::new(stuck());
    let id = bench.create(json!({}));
    bench.settle();
    let task = &bench.scheduler.inspect()[0];
    assert_eq!((task.record.id, task.record.started_at), (id, Some(START)));
}

#[test]
fn a_closing_session_says_so_from_its_seal_on() {
    let deaf = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.session().host().sleep_until(START + 100).await;
        Ok(())
    });
    let mut bench = Bench::new(deaf);
    bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.scheduler.scheduling(), Scheduling::Running);
    let (session, scheduler) = (bench.session.clone(), bench.scheduler.clone());
    bench.run(async move {
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none(), "its code still runs");
        assert_eq!(scheduler.scheduling(), Scheduling::Closing);
        assert_eq!(scheduler.inspect()[0].state, TaskInspectionState::Running);
        closing.await.unwrap();
    });
    assert_eq!(bench.scheduler.scheduling(), Scheduling::Closing);
}
