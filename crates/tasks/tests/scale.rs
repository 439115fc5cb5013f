//! Many and large tasks: bounded commits, no quadratic surprises.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::ids::TaskId;
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn create_many(bench: &mut Bench, count: usize, text: String) {
    create_all(bench, count, text, TaskOptions::in_conversation(ROOT));
}

fn create_all(bench: &mut Bench, count: usize, text: String, options: TaskOptions) {
    bench.commit(async move |tx| {
        for _ in 0..count {
            create(
                &tx,
                &Probe::<Plain>::new(),
                &json!({ "text": text.as_str() }),
                options,
            )
            .await?;
        }
        Ok(())
    });
}

#[test]
fn large_tasks_are_reserved_in_several_commits_and_survive_a_restart() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    let reserved: Rc<RefCell<Vec<usize>>> = Rc::default();
    let seen = Rc::clone(&reserved);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let running = publication
            .tasks
            .iter()
            .filter(|change| status(&change.after) == "running");
        seen.borrow_mut().push(running.count());
    });
    for _ in 0..3 {
        create_many(&mut bench, 4, "x".repeat(3_000_000));
    }
    bench.settle();
    let tasks = bench.scheduler.live_tasks(ROOT);
    assert!(tasks.iter().all(|task| status(task) == "running"));
    assert!(reserved.borrow().iter().all(|count| *count <= 3), "{reserved:?}");
    let mut bench = bench.restart();
    assert!(bench.session.health().is_ok());
    bench.scheduler.resume();
    bench.settle();
    let tasks = bench.scheduler.live_tasks(ROOT);
    assert!(tasks.len() == 12 && tasks.iter().all(|task| status(task) == "running"));
    abort_root(&mut bench);
    assert_all_aborted(&mut bench, &tasks);
}

/// One commit, which cannot mark 36 MB of tasks.
fn abort_root(bench: &mut Bench) {
    let scheduler = bench.scheduler.clone();
    let reached =
        bench.commit(async move |tx| scheduler.mark_aborts(&tx, ROOT, AbortScope::Foreground).await);
    assert_eq!(reached.marked.len(), 12);
}

fn assert_all_aborted(bench: &mut Bench, tasks: &[Rc<TaskRecord>]) {
    for task in tasks {
        assert_eq!(outcome_name(&bench.outcome(task.id)), "aborted");
    }
    bench.settle();
    assert!(bench.session.health().is_ok());
    assert_eq!(bench.last_alarm(), None);
}

#[test]
fn a_large_conversation_abort_is_durable_with_its_first_commit() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    for _ in 0..3 {
        create_many(&mut bench, 4, "x".repeat(3_000_000));
    }
    bench.settle();
    let tasks = bench.scheduler.live_tasks(ROOT);
    bench.storage.allow_commits(Some(1), CommitFault::Before);
    abort_root(&mut bench);
    bench.settle();
    assert!(bench.session.health().is_err());
    let mut bench = bench.restart();
    assert!(bench.record(tasks[0].id).abort_requested);
    assert!(!bench.record(tasks[11].id).abort_requested);
    assert_eq!(bench.last_alarm(), Some(bench.now()), "marks are due");
    bench.log.borrow_mut().clear();
    let later = bench.create(json!({}));
    bench.scheduler.on_alarm();
    assert_all_marked_before_anything_runs(&mut bench, later);
    bench.abort(later);
    assert_all_aborted(&mut bench, &tasks);
}

fn assert_all_marked_before_anything_runs(bench: &mut Bench, later: TaskId) {
    bench.settle();
    let log = bench.log();
    let ran: Vec<_> = log.iter().filter(|line| !line.starts_with("abort")).collect();
    assert_eq!(
        ran,
        [&format!("first {later}")],
        "only what came after the abort runs"
    );
    assert_eq!(log.len(), 13);
}

#[test]
fn held_outcomes_that_need_several_commits_end_from_below() {
    let mut bench = Bench::new(worker());
    let text = "x".repeat(3_000_000);
    let mut chain: Vec<TaskId> = Vec::new();
    for until in [START + 100, START + 100, START + 100, START + 200] {
        let input = json!({ "text": (text.as_str()), "until": until });
        let options = chain.last().map_or(TaskOptions::in_conversation(ROOT), |owner| {
            TaskOptions::owned_by(*owner)
        });
        chain.push(bench.create_with(input, options));
        bench.settle();
    }
    let ends: Rc<RefCell<Vec<Vec<TaskId>>>> = Rc::default();
    let seen = Rc::clone(&ends);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let ended = publication.tasks.iter().filter(|change| !change.after.is_live());
        let ended: Vec<TaskId> = ended.map(|change| change.after.id).collect();
        seen.borrow_mut().extend((!ended.is_empty()).then_some(ended));
    });
    bench.runtime.advance(100);
    assert!(chain[..3].iter().all(|id| bench.status(*id) == "completing"));
    bench.wait(chain[0]);
    assert_eq!(
        *ends.borrow(),
        [vec![chain[3]], vec![chain[1], chain[2]], vec![chain[0]]]
    );
}

#[test]
fn a_task_that_starts_without_a_write_starts_like_any_other() {
    let waits = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(waits);
    for _ in 0..2 {
        create_many(&mut bench, 2, "x".repeat(3_000_000));
    }
    bench.settle();
    let (plain, poked) = {
        let tasks = bench.scheduler.live_tasks(ROOT);
        (tasks[2].id, tasks[3].id)
    };
    let scheduler = bench.scheduler.clone();
    bench.run(async move { scheduler.poke(poked).await }).unwrap();
    let parks = |log: &Log| {
        Probe::new()
            .logging_to(log)
            .phase("first", |_, runtime: Rt| async move {
                runtime.sleep(START + 100).await?;
                runtime
                    .advance(json!({ "phase": "parked", "external": true }))
                    .await
            })
            .phase("parked", done)
    };
    let log = Rc::clone(&bench.log);
    let mut bench = bench.restart_with(move |registry| registry.install(Rc::new(parks(&log))));
    // Beyond what one commit can replace.
    assert_eq!((bench.status(plain), bench.status(poked)), ("running", "running"));
    bench.scheduler.resume();
    bench.settle();
    let replaced = parks(&bench.log);
    bench.registry.install(Rc::new(replaced));
    assert_eq!(outcome_name(&bench.outcome(plain)), "completed");
    assert_eq!(outcome_name(&bench.outcome(poked)), "completed");
}

#[test]
fn restart_marks_that_need_several_commits_are_all_set_before_anything_runs() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    for _ in 0..2 {
        let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
        create_all(&mut bench, 4, "x".repeat(3_000_000), options);
    }
    bench.settle();
    bench.log.borrow_mut().clear();
    let mut bench = bench.restart();
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.log().len(), 8);
    assert!(
        bench.log().iter().all(|line| line.starts_with("abort")),
        "{:?}",
        bench.log()
    );
}

#[test]
fn a_thousand_tasks_take_a_commit_each_and_ask_for_few_wakes() {
    let probe = Probe::new().phase("first", done);
    let asked = Rc::clone(&probe.asked);
    let mut bench = Bench::new(probe);
    let commits: Rc<Cell<usize>> = Rc::default();
    let counted = Rc::clone(&commits);
    let _subscription = bench
        .session
        .subscribe_commits(move |_| counted.set(counted.get() + 1));
    create_many(&mut bench, 1_000, String::new());
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(None).await })
        .unwrap();
    assert_eq!(bench.log().len(), 1_000);
    assert_eq!(bench.last_alarm(), None);
    // One creates all, one reserves all, each task ends in its own.
    assert!(commits.get() <= 1_010, "{} commits", commits.get());
    // Once when it is created, once when it is reserved.
    assert!(asked.get() <= 2_010, "asked {} times", asked.get());
    let alarms = bench.recorder.alarms.borrow().len();
    assert!(alarms <= 10, "{alarms} alarm settings");
}
