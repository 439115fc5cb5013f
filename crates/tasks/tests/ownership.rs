//! Structured concurrency: holds, joins and cycles (spec 5.5).
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
use tidehold_session::records::{ConversationOwnership, TaskOutcome, TaskState};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn number(value: &Json, member: &str) -> u64 {
    value.get(member).and_then(Json::as_u64).unwrap()
}

/// `first` sleeps until its input's `until` and ends as its `how`.
fn worker() -> Probe {
    Probe::new().phase("first", |task, runtime: Rt| async move {
        if let Some(until) = task.input.get("until").and_then(Json::as_u64) {
            runtime.sleep(until).await?;
        }
        match task.input.get("how").and_then(Json::as_str) {
            Some("fails") => runtime.finish(Outcome::failed("as told")).await,
            Some("throws") => Err(TaskFault::Failed("thrown".into())),
            _ => runtime.finish(Outcome::Completed(json!(null))).await,
        }
    })
}

/// A task whose `first` creates children with the given inputs and goes on at `then`, knowing their ids.
fn parent(then: Json, inputs: Vec<Json>) -> Json {
    json!({ "start": { "phase": "parent" }, "then": (then), "children": (Json::array(inputs)) })
}

fn parenting(probe: Probe) -> Probe {
    probe.phase("parent", |task, runtime: Rt| async move {
        runtime
            .commit(async move |tx, record| {
                let mut children = Vec::new();
                for input in task.input.get("children").and_then(Json::as_array).unwrap() {
                    let options = TaskOptions::owned_by(record.id);
                    children.push(Json::from(
                        create(&tx, &Probe::<Plain>::new(), input, options).await?,
                    ));
                }
                let phase = task.input.get("then").cloned().unwrap();
                Ok(Some(Next::Continue(
                    json!({ "phase": (phase), "children": (Json::array(children)) }),
                )))
            })
            .await
    })
}

fn children(checkpoint: &Json) -> Vec<TaskId> {
    let children = checkpoint.get("children").and_then(Json::as_array).unwrap();
    children.iter().map(|id| TaskId(id.as_u64().unwrap())).collect()
}

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
fn an_outcome_over_live_work_is_held_with_its_other_writes_done() {
    let probe = parenting(worker()).phase("ends", done);
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("ends"), vec![json!({ "until": (START + 50) })]));
    bench.settle();
    assert!(matches!(bench.record(owner).state, TaskState::Completing { .. }));
    assert_eq!(bench.inspected(owner), json!({ "kind": "completing" }));
    assert!(bench.record(owner).memos.is_empty());
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(Some(ROOT)).await })
        .unwrap();
    assert_eq!(bench.now(), START + 50);
    let record = bench.wait(owner);
    assert_eq!(
        record.outcome(),
        Some(&TaskOutcome::Completed {
            result: json!("done")
        })
    );
    assert_eq!(record.ended_at, Some(START + 50));
}

#[test]
fn a_held_failure_aborts_the_work_below() {
    let probe = parenting(worker()).phase("ends", |_, runtime: Rt| async move {
        runtime.finish(Outcome::failed("no")).await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("ends"), vec![json!({ "until": (START + 50) })]));
    let record = bench.wait(owner);
    assert_eq!(outcome_name(record.outcome().unwrap()), "failed");
    assert!(!record.abort_requested);
    assert_eq!(bench.now(), START);
    assert!(bench.log().iter().any(|line| line.starts_with("abort")));
}

#[test]
fn a_held_fault_is_cleaned_up_in_its_final_commit() {
    let mut bench = Bench::new(parenting(worker()));
    let owner = bench.create(parent(
        json!("missing phase"),
        vec![json!({ "until": (START + 50) })],
    ));
    bench.settle();
    assert_eq!(message(&bench.outcome(owner)), "no phase missing phase");
    assert_eq!(bench.hooks(), [format!("settle {owner} faulted")]);
}

#[test]
fn abort_of_a_completing_task_only_marks_it() {
    let probe = parenting(worker()).phase("ends", done);
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("ends"), vec![json!({ "until": (START + 50) })]));
    bench.settle();
    assert_eq!(bench.abort(owner), AbortReply::Marked);
    let record = bench.wait(owner);
    assert_eq!(outcome_name(record.outcome().unwrap()), "completed");
    assert!(record.abort_requested);
    assert_eq!(bench.now(), START, "the child was aborted");
    assert!(!bench.log().contains(&format!("abort {owner}")));
}

#[test]
fn a_finishing_commit_cannot_create_owned_work_but_work_in_an_owned_conversation_holds_it() {
    let probe = worker()
        .phase("creates a child", |_, runtime: Rt| async move {
            runtime
                .commit(async |tx, record| {
                    let options = TaskOptions::owned_by(record.id);
                    create(&tx, &Probe::<Plain>::new(), &json!({}), options).await?;
                    Ok(Some(Next::Finish(Outcome::Completed(json!(null)))))
                })
                .await
        })
        .phase("owns", |_, runtime: Rt| async move {
            runtime
                .commit(async |tx, record| {
                    let owned = tx
                        .create_conversation(ConversationOwnership::Task(record.id))
                        .await?
                        .id;
                    Ok(Some(Next::Continue(
                        json!({ "phase": "fills", "owned": (owned.0) }),
                    )))
                })
                .await
        })
        .phase("fills", |task, runtime: Rt| async move {
            let owned = tidehold_session::ids::ConversationId(number(&task.checkpoint, "owned"));
            runtime
                .commit(async move |tx, _| {
                    let options = TaskOptions::in_conversation(owned);
                    create(
                        &tx,
                        &Probe::<Plain>::new(),
                        &json!({ "until": (START + 9) }),
                        options,
                    )
                    .await?;
                    Ok(Some(Next::Finish(Outcome::Completed(json!(null)))))
                })
                .await
        });
    let mut bench = Bench::new(probe);
    let refused = bench.create(json!({ "start": { "phase": "creates a child" } }));
    let text = format!("task {refused} is finished, finishing or abort-marked and cannot own new work");
    assert_eq!(message(&bench.outcome(refused)), text);
    let holder = bench.create(json!({ "start": { "phase": "owns" } }));
    bench.settle();
    assert_eq!(bench.status(holder), "completing");
    assert_eq!(bench.wait(holder).ended_at, Some(START + 9));
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

#[test]
fn work_below_an_ended_owner_runs_normally_also_after_a_restart() {
    let mut bench = Bench::new(worker());
    let owner = bench.create(json!({ "until": (START + 5) }));
    let owned = bench.conversation_of(owner);
    assert_eq!(outcome_name(&bench.outcome(owner)), "completed");
    let mut bench = bench.restart();
    let later = bench.create_with(
        json!({ "until": (START + 30) }),
        TaskOptions::in_conversation(owned),
    );
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(Some(ROOT)).await })
        .unwrap();
    assert_eq!(bench.now(), START + 30);
    assert_eq!(outcome_name(&bench.outcome(later)), "completed");
}
