//! What a task and a session of tasks can be asked to hold: it is refused where it is asked, and nothing else suffers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use std::cell::Cell;
use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::ids::TaskId;
use tidehold_session::limits::MAX_TASK_BYTES;
use tidehold_session::records::TaskOutcome;
use tidehold_session::{Rejection, SessionError};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn is_too_large(fault: &TaskFault) -> bool {
    matches!(
        fault,
        TaskFault::Session(SessionError::Rejected(Rejection::TaskTooLarge { .. }))
    )
}

/// The largest text that a checkpoint `{ "phase": "second", "text": … }` of such a task may have.
fn largest(record: &TaskRecord) -> usize {
    let mut filled = record.clone();
    filled.state = tidehold_session::records::TaskState::Running {
        checkpoint: json!({ "phase": "second", "text": "" }),
    };
    MAX_TASK_BYTES - tidehold_session::weight::of_task(&filled)
}

#[test]
fn the_largest_task_survives_reopening_marks_pokes_and_a_fault() {
    for aborts in [true, false] {
        let probe = Probe::new()
            .phase("first", |task, runtime: Rt| async move {
                let most = largest(&task.record);
                let filled = |size: usize| json!({ "phase": "second", "text": "x".repeat(size) });
                let refused = runtime.advance(filled(most + 1)).await;
                assert!(is_too_large(&refused.unwrap_err()));
                runtime.advance(filled(most)).await
            })
            .phase("second", |_, runtime: Rt| async move {
                runtime.poked().await?;
                Err(TaskFault::Failed("e".repeat(1 << 20)))
            })
            .on_abort(|_, _: Rt| async { Err(TaskFault::Failed("a".repeat(1 << 20))) });
        let mut bench = Bench::new(probe);
        let id = bench.create(json!({}));
        bench.settle();
        assert_eq!(bench.status(id), "running");
        for _ in 0..3 {
            bench = bench.restart();
            bench.scheduler.resume();
            bench.settle();
            assert_eq!(bench.status(id), "running");
        }
        if aborts {
            bench.abort(id);
        } else {
            let scheduler = bench.scheduler.clone();
            let poked = bench.runtime.run(async move { scheduler.poke(id).await });
            assert!(poked.unwrap().unwrap());
        }
        bench.settle();
        assert_eq!(outcome_name(&bench.outcome(id)), "faulted");
        bench.session.health().unwrap();
    }
}

#[test]
fn an_input_that_leaves_no_room_is_refused() {
    let mut bench = Bench::new(stuck());
    let session = bench.session.clone();
    let created = bench.runtime.run(async move {
        session
            .commit(async |tx| {
                let input = json!({ "text": "x".repeat(MAX_TASK_BYTES) });
                create(
                    &tx,
                    &Probe::<Plain>::new(),
                    &input,
                    TaskOptions::in_conversation(ROOT),
                )
                .await
            })
            .await
    });
    assert!(matches!(
        created.unwrap(),
        Err(SessionError::Rejected(Rejection::TaskTooLarge { .. }))
    ));
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.status(id), "running");
}

#[test]
fn a_session_has_one_scheduler_at_a_time() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    let (session, registry) = (bench.session.clone(), bench.registry.clone());
    let second = bench.runtime.run(async move {
        Scheduler::open(&session, registry, SchedulerOptions::default())
            .await
            .err()
    });
    assert!(matches!(second.unwrap(), Some(SessionError::Request(text)) if text.contains("scheduler")));
    let id = bench.create(json!({}));
    bench.wait(id);
    assert_eq!(bench.log(), [format!("first {id}")]);
}

#[test]
fn a_task_does_not_wait_for_itself_and_an_ended_one_reads_no_outcomes() {
    let late = Rc::new(Cell::new(false));
    let seen = Rc::clone(&late);
    let probe = Probe::new().phase("first", move |_, runtime: Rt| {
        let seen = Rc::clone(&seen);
        async move {
            let own = runtime.wait_for_task(runtime.task_id()).await;
            assert!(matches!(own, Err(TaskFault::Wait(_))), "{own:?}");
            let kept = runtime.clone();
            runtime.session().spawn(async move {
                let over = kept.signal().aborted().await;
                let none: [TaskId; 0] = [];
                let refused = kept.outcomes(&none).await;
                seen.set(matches!(refused, Err(TaskFault::Ended)) && !over.is_empty());
            });
            runtime.finish(Outcome::Completed(json!(1))).await
        }
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.wait(id);
    bench.settle();
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result: json!(1) });
    assert!(late.get());
}
