//! Runs across restarts: they finish without another call.

mod support;

use std::rc::Rc;
use support::{Bench, START, at, delegation, rows, text_at};
use tidehold_contract::{CallError, run};
use tidehold_delta::json;
use tidehold_storage::fault::{CommitFault, Countdown};
use tidehold_storage::memory::MemoryStorage;

#[test]
fn a_run_interrupted_in_the_middle_of_its_stream_finishes() {
    let mut bench = Bench::new();
    let id = bench.start("@pace 100\n@repeat 50 word");
    bench.runtime.advance(2500);
    assert!(
        bench
            .read(&id, "output", 65_536)
            .concat()
            .starts_with("word word")
    );
    for _ in 0..3 {
        bench = bench.crash();
        bench.harness.resume();
        bench.runtime.advance(2000);
    }
    bench.runtime.advance(60_000);
    assert_eq!(bench.harness.scheduler().inspect().len(), 0);
    assert_eq!(bench.read(&id, "final", 64).concat(), vec!["word"; 50].join(" "));
    let output = bench.read(&id, "output", 65_536).concat();
    assert!(
        output.lines().count() > 1,
        "every interrupted partial is a message of its own"
    );
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.outcome"), "succeeded");
    assert_eq!(bench.reports.borrow().len(), 0);
}

#[test]
fn a_deadline_holds_across_a_restart() {
    let mut bench = Bench::new();
    let id = bench.start_with("@wait 600000\n@say late", json!({ "timeout_ms": 8000 }));
    bench.runtime.advance(3000);
    let mut bench = bench.crash();
    bench.harness.resume();
    let waited = bench.runs(json!({ "action": "wait", "runIds": [id.as_str()] }));
    assert_eq!(
        text_at(&waited.receipt, "data.completed.0.state.outcome"),
        "timed_out"
    );
    assert_eq!(bench.now(), START + 8000);
}

#[test]
fn a_cancellation_survives_a_restart_with_its_reason() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 600000");
    bench.runtime.advance(10);
    bench.runs(json!({ "action": "cancel", "runIds": [id.as_str()], "reason": "enough" }));
    let mut bench = bench.crash();
    bench.harness.resume();
    bench.runtime.advance(10);
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.outcome"), "cancelled");
    assert_eq!(text_at(&row, "state.reason"), "enough");
}

#[test]
fn a_run_waits_for_its_definition_to_come_back() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 1000\n@say done");
    let mut bench = bench.crash_into(|_| {});
    bench.harness.resume();
    bench.runtime.advance(5000);
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.status"), "interrupted_or_uncertain");
    let mut bench = bench.crash_into(run::install);
    bench.harness.resume();
    bench.runtime.advance(10);
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.outcome"), "succeeded");
    assert!(at(&row, "timing.elapsedMs").as_u64() >= Some(5000));
}

#[test]
fn aborting_a_blocked_run_tells_that_no_code_ran() {
    let mut bench = Bench::new();
    let id = bench.start("@wait 600000");
    bench.runtime.advance(10);
    let mut bench = bench.crash_into(|_| {});
    bench.harness.resume();
    let scheduler = bench.harness.scheduler().clone();
    let anchor = scheduler
        .inspect()
        .iter()
        .map(|task| task.record.id)
        .min()
        .expect("the anchor");
    bench
        .run(async move |_| scheduler.abort_task(anchor).await)
        .expect("aborted");
    bench.runtime.advance(10);
    let row = rows(&bench.inspect(&id, "summary").receipt).remove(0);
    assert_eq!(text_at(&row, "state.outcome"), "cancelled");
    assert_eq!(text_at(&row, "state.reason"), "missing_task");
    assert!(
        at(&row, "conversationId").as_u64().is_some(),
        "found through its owner"
    );
}

#[test]
fn a_crash_at_any_commit_leaves_a_whole_run_or_none() {
    for fault in [CommitFault::Before, CommitFault::After] {
        for allowed in 0..12 {
            let storage = MemoryStorage::new("incarnation-one");
            let faulty = Rc::new(Countdown::new(storage.reopen()));
            faulty.allow_commits(Some(allowed), fault);
            let config = Rc::new(support::config());
            let mut bench = Bench::on(faulty, storage, START, config, run::install);
            let arguments = delegation("@wait 100\n@say done");
            let called =
                bench.run(async move |contract| contract.call("external_delegate", &arguments).await);
            let acknowledged = match called {
                Ok(result) => {
                    assert!(!result.is_error(), "{}", result.receipt);
                    true
                }
                Err(CallError::Session(error)) => {
                    assert!(error.is_fatal(), "{error}");
                    false
                }
                Err(other) => panic!("{other}"),
            };
            let mut bench = bench.crash();
            bench.harness.resume();
            bench.runtime.advance(60_000);
            assert_eq!(bench.harness.scheduler().inspect().len(), 0);
            let listed = rows(&bench.runs(json!({ "action": "list" })).receipt);
            // A receipt is a promise; without one there may be a run, but never two.
            match acknowledged {
                true => assert_eq!(listed.len(), 1, "after {allowed} commits"),
                false => assert!(listed.len() <= 1, "after {allowed} commits"),
            }
            for run in listed {
                assert_eq!(
                    text_at(&run, "state.outcome"),
                    "succeeded",
                    "after {allowed} commits"
                );
                assert_eq!(bench.read(text_at(&run, "runId"), "final", 64).concat(), "done");
            }
        }
    }
}
