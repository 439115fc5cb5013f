//! Structured concurrency: joins and cycles (spec 5.5).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskOutcome;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn joining(probe: Probe, policy: JoinPolicy) -> Probe {
    parenting(probe)
        .phase("join", move |task, runtime: Rt| async move {
            let on = children(&task.checkpoint);
            let Json::Object(mut checkpoint) = task.checkpoint else {
                unreachable!()
            };
            checkpoint.insert("phase", json!("joined"));
            let wait = Next::Wait {
                checkpoint: Json::Object(checkpoint),
                on,
                policy,
                until: None,
            };
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .phase("joined", |task, runtime: Rt| async move {
            let outcomes = runtime.outcomes(&children(&task.checkpoint)).await?;
            let names = outcomes.iter().map(|outcome| json!(outcome_name(outcome)));
            runtime.finish(Outcome::Completed(Json::array(names))).await
        })
}

#[test]
fn fail_fast_aborts_the_siblings_and_the_waiter_reads_the_outcomes() {
    let inputs = vec![
        json!({ "until": (START + 90) }),
        json!({ "until": (START + 10), "how": "fails" }),
        json!({ "until": (START + 90) }),
        json!({ "until": (START + 90) }),
    ];
    let mut bench = Bench::new(joining(worker(), JoinPolicy::FailFast));
    let checkout = bench.create(parent(json!("join"), inputs));
    let record = bench.wait(checkout);
    let result = json!(["aborted", "failed", "aborted", "aborted"]);
    assert_eq!(record.outcome(), Some(&TaskOutcome::Completed { result }));
    assert!(!record.abort_requested);
    assert_eq!(bench.now(), START + 10);
}

#[test]
fn fail_fast_is_judged_again_after_a_restart() {
    let inputs = vec![
        json!({ "until": (START + 90) }),
        json!({ "until": (START + 10), "how": "fails" }),
    ];
    let mut bench = Bench::new(joining(worker(), JoinPolicy::FailFast));
    let checkout = bench.create(parent(json!("join"), inputs));
    bench.settle();
    // The failing child's outcome is stored, the commit that would mark its sibling is not.
    bench
        .storage
        .allow_commits(Some(1), tidehold_storage::fault::CommitFault::Before);
    bench.runtime.advance(10);
    assert!(bench.session.health().is_err());
    let mut bench = bench.restart();
    let outcome = bench.outcome(checkout);
    assert_eq!(
        outcome,
        TaskOutcome::Completed {
            result: json!(["aborted", "failed"])
        }
    );
    assert_eq!(bench.now(), START + 10);
}

#[test]
fn all_settled_waits_for_every_member_whatever_its_outcome() {
    let inputs = vec![json!({ "until": (START + 90) }), json!({ "how": "throws" })];
    let mut bench = Bench::new(joining(worker(), JoinPolicy::AllSettled));
    let owner = bench.create(parent(json!("join"), inputs));
    let outcome = bench.outcome(owner);
    assert_eq!(
        outcome,
        TaskOutcome::Completed {
            result: json!(["completed", "faulted"])
        }
    );
    assert_eq!(bench.now(), START + 90);
}

#[test]
fn a_wait_until_a_time_ends_then_at_the_latest() {
    let probe = worker()
        .phase("waits", |task, runtime: Rt| async move {
            let on = task
                .input
                .get("on")
                .and_then(Json::as_u64)
                .map(TaskId)
                .into_iter()
                .collect();
            let wait = Next::Wait {
                checkpoint: json!({ "phase": "resumed" }),
                on,
                policy: JoinPolicy::AllSettled,
                until: Some(START + 40),
            };
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .phase("resumed", |_, runtime: Rt| async move {
            runtime.finish(Outcome::Completed(json!(runtime.now()))).await
        });
    let mut bench = Bench::new(probe);
    let slow = bench.create(json!({ "until": (START + 90) }));
    let waiter = bench.create(json!({ "start": { "phase": "waits" }, "on": (slow.0) }));
    let sleeper = bench.create(json!({ "start": { "phase": "waits" } }));
    bench.settle();
    let parked = json!({ "kind": "waiting", "on": [(slow.0)], "until": (START + 40) });
    assert_eq!(bench.inspected(waiter), parked);
    for id in [waiter, sleeper] {
        assert_eq!(
            bench.outcome(id),
            TaskOutcome::Completed {
                result: json!(START + 40)
            }
        );
    }
    assert_eq!(bench.status(slow), "running");
}

#[test]
fn refused_waits_name_what_is_wrong() {
    let probe = worker().phase("waits", |task, runtime: Rt| async move {
        let on = task
            .input
            .get("on")
            .and_then(Json::as_u64)
            .map_or(runtime.task_id(), TaskId);
        let policy = if task.input.get("fast").is_some() {
            JoinPolicy::FailFast
        } else {
            JoinPolicy::AllSettled
        };
        let wait = Next::Wait {
            checkpoint: json!({ "phase": "first" }),
            on: vec![on],
            policy,
            until: None,
        };
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let mut bench = Bench::new(probe);
    let other = bench.create(json!({}));
    bench.wait(other);
    let mut refused = |input: Json| {
        let id = bench.create(input);
        message(&bench.outcome(id)).replace(&id.to_string(), "N")
    };
    assert_eq!(
        refused(json!({ "start": { "phase": "waits" }, "on": 999 })),
        "task 999 does not exist"
    );
    assert_eq!(
        refused(json!({ "start": { "phase": "waits" }, "on": (other.0), "fast": true })),
        format!("task N can wait failFast only on tasks it owns, not on {other}")
    );
    assert_eq!(
        refused(json!({ "start": { "phase": "waits" } })),
        "waiting would close a cycle: N -> N"
    );
}
