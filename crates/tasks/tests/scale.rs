//! Many and large tasks: bounded commits, no quadratic surprises.
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
    let session = bench.session.clone();
    let scheduler = bench.scheduler.clone();
    bench.commit(async move |tx| {
        scheduler
            .mark_aborts(
                &tx,
                tidehold_session::ids::ConversationId(99),
                AbortScope::Foreground,
            )
            .await
    });
    assert!(session.health().is_ok());
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
fn a_thousand_tasks_end_in_good_time() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    create_many(&mut bench, 1_000, String::new());
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(None).await })
        .unwrap();
    assert_eq!(bench.log().len(), 1_000);
    assert_eq!(bench.last_alarm(), None);
}
