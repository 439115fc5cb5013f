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
fn fail_fast_is_judged_when_the_wait_is_committed_too() {
    let inputs = vec![json!({ "until": (START + 90) }), json!({ "how": "fails" })];
    // It sleeps before it joins, so the failure is old by then.
    let probe = joining(worker(), JoinPolicy::FailFast).phase("late", |task, runtime: Rt| async move {
        runtime.sleep(START + 30).await?;
        let children = task.checkpoint.get("children").cloned().unwrap();
        runtime
            .advance(json!({ "phase": "join", "children": children }))
            .await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("late"), inputs));
    let result = json!(["aborted", "failed"]);
    assert_eq!(bench.outcome(owner), TaskOutcome::Completed { result });
    assert_eq!(bench.now(), START + 30);
}

#[test]
fn a_failure_that_a_member_holds_is_enough_and_children_outside_the_wait_stay() {
    // The second child fails at once, over work of its own that takes its time to abort.
    let probe = joining(worker(), JoinPolicy::FailFast)
        .phase("holds", |_, runtime: Rt| async move {
            runtime
                .commit(async |tx, record| {
                    let slow = json!({ "until": (START + 500) });
                    create(
                        &tx,
                        &Probe::<Plain>::new(),
                        &slow,
                        TaskOptions::owned_by(record.id),
                    )
                    .await?;
                    Ok(Some(Next::Continue(json!({ "phase": "fails" }))))
                })
                .await
        })
        .phase("fails", |_, runtime: Rt| async move {
            runtime.finish(Outcome::failed("held")).await
        })
        .phase("join two", |task, runtime: Rt| async move {
            let on = children(&task.checkpoint);
            let wait = Next::join(
                json!({ "phase": "joined", "children": [(on[0]), (on[1])] }),
                JoinPolicy::FailFast,
                [on[0], on[1]],
            );
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .on_abort(|_, runtime: Rt| async move {
            runtime.sleep(runtime.now() + 100).await?;
            runtime.finish(Outcome::aborted()).await
        });
    let inputs = vec![
        json!({ "until": (START + 90) }),
        json!({ "start": { "phase": "holds" } }),
        json!({ "until": (START + 90) }),
    ];
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("join two"), inputs));
    bench.settle();
    let ids: Vec<_> = bench
        .scheduler
        .inspect()
        .iter()
        .map(|task| task.record.id)
        .collect();
    let [_, sibling, holder, outside, _] = ids[..] else {
        panic!("{ids:?}")
    };
    assert_eq!(bench.status(holder), "completing");
    assert!(
        bench.record(sibling).abort_requested,
        "before the holder is terminal"
    );
    assert!(!bench.record(outside).abort_requested);
    let record = bench.wait(owner);
    let result = json!(["aborted", "failed"]);
    assert_eq!(record.outcome(), Some(&TaskOutcome::Completed { result }));
    assert!(!record.abort_requested);
    assert_eq!(outcome_name(&bench.outcome(outside)), "completed");
}

#[test]
fn all_settled_takes_foreign_and_ended_tasks() {
    let probe = worker().phase("waits", |task, runtime: Rt| async move {
        let on = children(&task.input);
        let wait = Next::join(
            json!({ "phase": "read", "children": (Json::array(on.iter().copied().map(Json::from))) }),
            JoinPolicy::AllSettled,
            on,
        );
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let probe = probe.phase("read", |task, runtime: Rt| async move {
        let outcomes = runtime.outcomes(&children(&task.checkpoint)).await?;
        let names = outcomes.iter().map(|outcome| json!(outcome_name(outcome)));
        runtime.finish(Outcome::Completed(Json::array(names))).await
    });
    let mut bench = Bench::new(probe);
    let ended = bench.create(json!({ "how": "throws" }));
    bench.wait(ended);
    let foreign = bench.create(json!({ "until": (START + 20), "how": "fails" }));
    let on = Json::array([ended, foreign].map(Json::from));
    let waiter = bench.create(json!({ "start": { "phase": "waits" }, "children": on }));
    let result = json!(["faulted", "failed"]);
    assert_eq!(bench.outcome(waiter), TaskOutcome::Completed { result });
    assert_eq!(bench.now(), START + 20);
}

#[test]
fn a_wait_that_closes_a_cycle_is_refused_and_names_it() {
    // `waits` waits for its input's `on`, or for what the memo names.
    let probe = worker().phase("waits", |task, runtime: Rt| async move {
        runtime.sleep(number(&task.input, "at")).await?;
        let on = TaskId(number(&task.input, "on"));
        let wait = Next::join(json!({ "phase": "first" }), JoinPolicy::AllSettled, [on]);
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let waits = |on: u64, at: u64| json!({ "start": { "phase": "waits" }, "on": on, "at": (START + at) });
    let mut bench = Bench::new(probe);
    // Mutual: ids are handed out one by one, so the first can name the second.
    let first = bench.create(json!({}));
    bench.wait(first);
    let a = bench.create(waits(first.0 + 2, 5));
    let b = bench.create(waits(a.0, 10));
    assert_eq!(b.0, first.0 + 2);
    let refused = format!("waiting would close a cycle: {b} -> {a} -> {b}");
    assert_eq!(message(&bench.outcome(b)), refused);
    assert_eq!(
        outcome_name(&bench.outcome(a)),
        "completed",
        "its wait ended with the fault"
    );
    // On an owner that holds it.
    let owner = bench.create(json!({ "until": (START + 100) }));
    let child = bench.create_with(waits(owner.0, 0), TaskOptions::owned_by(owner));
    let refused = format!("waiting would close a cycle: {child} -> {owner} -> {child}");
    assert_eq!(message(&bench.outcome(child)), refused);
    // A background task is not held: it may wait for the owner of its conversation.
    let owned = bench.conversation_of(owner);
    let background = TaskOptions::in_conversation(owned).background();
    let background = bench.create_with(waits(owner.0, 0), background);
    bench.settle();
    assert_eq!(bench.status(background), "waiting");
    assert_eq!(outcome_name(&bench.outcome(background)), "completed");
    assert_eq!(bench.now(), START + 100);
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

#[test]
fn fail_fast_takes_children_that_ended_before_the_object_was_opened() {
    let mut bench = Bench::new(joining(worker(), JoinPolicy::FailFast).phase(
        "sleep",
        |task, runtime: Rt| async move {
            let Json::Object(mut checkpoint) = task.checkpoint else {
                unreachable!()
            };
            checkpoint.insert("phase", json!("join"));
            runtime
                .commit(async move |_, _| Ok(Some(Next::sleep(Json::Object(checkpoint), START + 1_000))))
                .await
        },
    ));
    let id = bench.create(parent(json!("sleep"), vec![json!({})]));
    bench.settle();
    assert_eq!(bench.status(id), "waiting");
    let mut bench = bench.restart();
    let result = json!(["completed"]);
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result });
}
