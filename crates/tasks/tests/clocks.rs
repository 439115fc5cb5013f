//! Clocks that are set while tasks run: sleeps, parked deadlines and lifecycle times (spec 5.1 and 5.3).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use support::*;
use tidehold_delta::json;
use tidehold_session::records::TaskOutcome;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// `first` sleeps in memory, `parks` in its record; both end with the time they see.
fn sleeping() -> Probe {
    Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            runtime.sleep(START + 1_000).await?;
            runtime.finish(Outcome::Completed(json!(runtime.now()))).await
        })
        .phase("parks", |_, runtime: Rt| async move {
            let wait = Next::sleep(json!({ "phase": "first" }), START + 1_000);
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
}

fn woke(bench: &mut Bench, id: tidehold_session::ids::TaskId) -> u64 {
    match bench.outcome(id) {
        TaskOutcome::Completed { result } => result.as_u64().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sleep_goes_by_the_clock_and_not_by_its_timer() {
    for phase in ["first", "parks"] {
        let mut bench = Bench::new(sleeping());
        let id = bench.create(json!({ "start": { "phase": phase } }));
        bench.settle();
        // The timer that is set will come 400 ms too early.
        bench.clock.set(-400);
        bench.runtime.advance(1_399);
        assert_ne!(bench.status(id), "terminal", "{phase}");
        assert_eq!(bench.now(), START + 999);
        assert_eq!(woke(&mut bench, id), START + 1_000, "{phase}");
    }
}

#[test]
fn a_clock_that_is_set_ahead_ends_a_parked_wait_at_the_next_look() {
    let mut bench = Bench::new(sleeping());
    let id = bench.create(json!({ "start": { "phase": "parks" } }));
    bench.settle();
    assert_eq!(bench.status(id), "waiting");
    bench.clock.set(10_000);
    bench.scheduler.on_alarm();
    assert_eq!(woke(&mut bench, id), START + 10_000);
}

#[test]
fn lifecycle_times_are_set_once_whatever_the_clock_does() {
    let probe = sleeping().phase("waits", |_, runtime: Rt| async move {
        let wait = Next::sleep(json!({ "phase": "ends" }), START + 50);
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let mut bench = Bench::new(probe.phase("ends", done));
    let id = bench.create(json!({ "start": { "phase": "waits" } }));
    bench.settle();
    assert_eq!(bench.record(id).started_at, Some(START));
    bench.clock.set(-100_000);
    let mut bench = bench.restart();
    bench.clock.set(-100_000);
    assert_eq!(
        bench.record(id).started_at,
        Some(START),
        "kept through the wait and the restart"
    );
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.status(id), "waiting", "its time has not come by this clock");
    bench.clock.set(100_050);
    bench.scheduler.on_alarm();
    bench.settle();
    bench.clock.set(-100_000);
    let record = bench.wait(id);
    assert_eq!(
        (record.started_at, record.ended_at),
        (Some(START), Some(START + 50))
    );
    let late = bench.create(json!({ "start": { "phase": "ends" } }));
    let record = bench.wait(late);
    assert!(record.ended_at < Some(START), "wall clock, not elapsed time");
}
