//! Phases, steps, memos and faults (spec 5.1 to 5.3).
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
use tidehold_session::records::{EntryDraft, TaskOutcome};
use tidehold_tasks::*;

type Task_ = Running<Probe>;
type Rt = Runtime<Probe>;

fn go(
    phase: &'static str,
) -> impl Fn(Task_, Rt) -> futures::future::LocalBoxFuture<'static, Result<(), TaskFault>> {
    move |_, runtime| Box::pin(async move { runtime.advance(json!({ "phase": phase })).await })
}

#[test]
fn phases_run_in_sequence_in_one_invocation() {
    let probe = Probe::new()
        .phase("first", go("second"))
        .phase("second", go("third"))
        .phase("third", done);
    let mut bench = Bench::new(probe);
    let states = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&states);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        seen.borrow_mut()
            .extend(publication.tasks.iter().map(|change| status(&change.after)));
    });
    let id = bench.create(json!({}));
    let record = bench.wait(id);
    assert_eq!(
        record.outcome(),
        Some(&TaskOutcome::Completed {
            result: json!("done")
        })
    );
    assert_eq!(
        bench.log(),
        [
            format!("first {id}"),
            format!("second {id}"),
            format!("third {id}")
        ]
    );
    assert_eq!(
        *states.borrow(),
        ["pending", "running", "running", "running", "completed"]
    );
    assert_eq!((record.started_at, record.ended_at), (Some(START), Some(START)));
}

#[test]
fn one_commit_reserves_every_eligible_task() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    let reserved = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&reserved);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let started = publication
            .tasks
            .iter()
            .filter(|change| status(&change.after) == "running")
            .count();
        if started > 0 {
            seen.borrow_mut().push(started);
        }
    });
    let ids = bench.commit(async |tx| {
        let mut ids = Vec::new();
        for _ in 0..5 {
            let options = TaskOptions::in_conversation(ROOT);
            ids.push(
                create(&tx, &Probe::<Plain>::new(), &json!({}), options)
                    .await?
                    .id(),
            );
        }
        Ok(ids)
    });
    for id in ids {
        bench.wait(id);
    }
    assert_eq!(*reserved.borrow(), [5]);
}

#[test]
fn entries_of_a_task_carry_its_id_and_land_with_its_outcome() {
    let probe = Probe::new().phase("first", |_, runtime| async move {
        runtime
            .commit(async |tx, record| {
                let entry = tx.append_entry(
                    record.conversation_id,
                    EntryDraft {
                        kind: "note".into(),
                        ..Default::default()
                    },
                );
                let id = entry.await?.id;
                Ok(Some(Next::Finish(Outcome::Completed(json!({ "entryId": id.0 })))))
            })
            .await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    let TaskOutcome::Completed { result } = bench.outcome(id) else {
        panic!("completed")
    };
    let entry = tidehold_session::ids::EntryId(result.get("entryId").and_then(Json::as_u64).unwrap());
    let session = bench.session.clone();
    let entry = bench
        .run(async move { session.entry(entry).await })
        .unwrap()
        .unwrap()
        .entry;
    assert_eq!(entry.by_task_id, Some(id));
}

#[test]
fn errors_panics_and_idle_phases_fault_their_task_only() {
    let probe = Probe::new()
        .phase("throws", |_, _| async { Err(TaskFault::Failed("boom".into())) })
        .phase("panics", |_, _| async { panic!("bang") })
        .phase("idles", |_, _| async { Ok(()) })
        .phase("repeats", |task, runtime| async move {
            runtime.advance(task.checkpoint).await
        })
        .phase("panics in its commit", |_, runtime: Rt| async move {
            runtime.commit(async |_, _| panic!("inside")).await
        })
        .phase("first", done);
    let mut bench = Bench::new(probe);
    let mut faults = Vec::new();
    for phase in ["throws", "panics", "idles", "repeats", "panics in its commit"] {
        let id = bench.create(json!({ "start": { "phase": phase } }));
        let outcome = bench.outcome(id);
        assert_eq!(outcome_name(&outcome), "faulted");
        assert!(bench.hooks().contains(&format!("settle {id} faulted")));
        faults.push(message(&outcome));
    }
    assert_eq!(faults[0], "boom");
    assert_eq!(faults[1], "bang");
    assert_eq!(
        faults[2],
        "task probe returned from phase idles without durable progress"
    );
    assert_eq!(
        faults[3],
        "task probe returned from phase repeats without durable progress"
    );
    assert_eq!(faults[4], "a commit callback panicked: inside");
    let neighbour = bench.create(json!({}));
    assert_eq!(outcome_name(&bench.outcome(neighbour)), "completed");
}

/// Cannot be read back.
#[derive(serde::Serialize)]
struct Fuse;

impl tidehold_delta::FromJson for Fuse {
    fn from_json(_: &Json) -> Result<Self, tidehold_delta::ConvertError> {
        panic!("burnt")
    }
}

/// Its input panics whenever somebody reads it.
struct Bomb;

impl Task for Bomb {
    const NAME: &'static str = "bomb";
    const VERSION: u32 = 1;
    type Input = Fuse;
    type Checkpoint = Json;
    type Outcome = Json;

    fn initial(&self, _: &Fuse) -> Json {
        json!({ "phase": "first" })
    }

    fn wake(&self, _: &Json) -> Wake {
        Wake::Now
    }

    async fn run(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::Completed(json!(null))).await
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}

#[test]
fn a_definition_that_panics_while_it_reads_faults_its_task_only() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    bench.registry.install(Rc::new(Bomb));
    let id = bench.commit(async |tx| {
        let options = TaskOptions::in_conversation(ROOT);
        Ok(create(&tx, &Bomb, &Fuse, options).await?.id())
    });
    let neighbour = bench.create(json!({}));
    assert_eq!(message(&bench.outcome(id)), "burnt");
    assert_eq!(outcome_name(&bench.outcome(neighbour)), "completed");
}

#[test]
fn a_committed_outcome_or_wait_stands_whatever_the_handler_does_next() {
    // A panic here would be one more error that changes nothing, so what is refused is judged outside.
    let late: Rc<RefCell<Vec<TaskFault>>> = Rc::default();
    let (ended, waiting) = (Rc::clone(&late), Rc::clone(&late));
    let probe = Probe::new()
        .phase("ends", move |_, runtime: Rt| {
            let refused = Rc::clone(&ended);
            async move {
                runtime.finish(Outcome::Completed(json!(1))).await?;
                let late = runtime.advance(json!({ "phase": "late" })).await;
                refused.borrow_mut().extend(late.err());
                Err(TaskFault::Failed("too late".into()))
            }
        })
        .phase("waits", move |_, runtime: Rt| {
            let refused = Rc::clone(&waiting);
            async move {
                let wait = Next::Wait {
                    checkpoint: json!({ "phase": "first" }),
                    on: Vec::new(),
                    policy: JoinPolicy::AllSettled,
                    until: None,
                };
                runtime.commit(async move |_, _| Ok(Some(wait))).await?;
                let late = runtime.advance(json!({ "phase": "late" })).await;
                refused.borrow_mut().extend(late.err());
                Err(TaskFault::Failed("too late".into()))
            }
        })
        .phase("first", done);
    let mut bench = Bench::new(probe);
    for phase in ["ends", "waits"] {
        let id = bench.create(json!({ "start": { "phase": phase } }));
        assert_eq!(outcome_name(&bench.outcome(id)), "completed", "{phase}");
        bench.settle();
        let refused = late.take();
        assert!(
            matches!(refused[..], [TaskFault::NotRunning(task)] if task == id),
            "{phase}: {refused:?}"
        );
    }
}

#[test]
fn an_error_of_any_length_faults_its_task_only() {
    let probe = Probe::new()
        .phase("throws", |_, _| async {
            Err(TaskFault::Failed("€".repeat(6 << 20)))
        })
        .phase("first", done);
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "throws" } }));
    let text = message(&bench.outcome(id));
    assert!(text.len() <= limits::FAULT_TEXT_BYTES && text.len() > limits::FAULT_TEXT_BYTES - 3);
    assert!(text.chars().all(|letter| letter == '€'));
    let neighbour = bench.create(json!({}));
    assert_eq!(outcome_name(&bench.outcome(neighbour)), "completed");
}

#[test]
fn a_commit_queued_before_the_step_counts_and_one_queued_after_it_is_refused() {
    let late: Rc<RefCell<Option<Rt>>> = Rc::default();
    let kept = Rc::clone(&late);
    let probe = Probe::new()
        .phase("first", move |_, runtime: Rt| {
            kept.borrow_mut().replace(runtime.clone());
            async move {
                let detached = runtime.clone();
                runtime.session().spawn(async move {
                    detached
                        .advance(json!({ "phase": "second" }))
                        .await
                        .expect("queued before the step");
                });
                // One turn, so that the detached commit is on the line when this handler returns.
                runtime.sleep(runtime.now() + 1).await
            }
        })
        .phase("second", done);
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    bench.settle();
    let runtime = late.borrow_mut().take().unwrap();
    assert_eq!(runtime.signal().reason(), Some("the invocation has ended"));
    let refused = bench.run(async move {
        let commit = runtime.advance(json!({})).await;
        let memo = runtime.memo("name", &1).await;
        let sleep = runtime.sleep(0).await;
        (commit, memo.map(drop), sleep)
    });
    assert!(
        matches!(
            refused,
            (
                Err(TaskFault::Ended),
                Err(TaskFault::Ended),
                Err(TaskFault::Ended)
            )
        ),
        "{refused:?}"
    );
}

#[test]
fn the_same_checkpoint_in_another_key_order_is_no_progress() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        let reordered = json!({ "b": { "y": 2, "x": 1 }, "a": [1], "phase": "first" });
        runtime.advance(reordered).await
    });
    let mut bench = Bench::new(probe);
    let start = json!({ "phase": "first", "a": [1.0], "b": { "x": 1, "y": 2 } });
    let id = bench.create(json!({ "start": start }));
    let text = "task probe returned from phase first without durable progress";
    assert_eq!(message(&bench.outcome(id)), text);
}

/// The states that the commits of a session give its tasks, in order.
fn states(bench: &Bench) -> (Rc<RefCell<Vec<&'static str>>>, tidehold_session::Subscription) {
    let states: Rc<RefCell<Vec<&'static str>>> = Rc::default();
    let seen = Rc::clone(&states);
    let subscription = bench.session.subscribe_commits(move |publication| {
        seen.borrow_mut()
            .extend(publication.tasks.iter().map(|change| status(&change.after)));
    });
    (states, subscription)
}

#[test]
fn a_wait_at_the_same_checkpoint_ends_the_invocation_and_is_no_fault() {
    let probe = Probe::new().phase("first", |task, runtime: Rt| async move {
        if runtime.memo_get::<bool>("waited").await?.is_some() {
            return runtime.finish(Outcome::Completed(json!(runtime.now()))).await;
        }
        runtime.memo("waited", &true).await?;
        let wait = Next::sleep(task.checkpoint, START + 10);
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let mut bench = Bench::new(probe);
    let (states, _subscription) = states(&bench);
    let id = bench.create(json!({}));
    let woke = json!(START + 10);
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result: woke });
    let expected = ["pending", "running", "running", "waiting", "running", "completed"];
    assert_eq!(*states.borrow(), expected);
    assert_eq!(bench.log(), [format!("first {id}"), format!("first {id}")]);
}

#[test]
fn an_empty_wait_resumes_in_the_next_pass() {
    let probe = Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            let none = Vec::<tidehold_session::ids::TaskId>::new();
            let wait = Next::join(json!({ "phase": "second" }), JoinPolicy::AllSettled, none);
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .phase("second", done);
    let mut bench = Bench::new(probe);
    let (states, _subscription) = states(&bench);
    let id = bench.create(json!({}));
    bench.wait(id);
    assert_eq!(bench.now(), START);
    assert_eq!(
        *states.borrow(),
        ["pending", "running", "waiting", "running", "completed"]
    );
}

#[test]
fn memos_end_with_a_held_outcome() {
    let probe = worker().phase("holds", |_, runtime: Rt| async move {
        runtime.memo("kept", &1).await?;
        runtime
            .commit(async |tx, record| {
                let slow = json!({ "until": START + 50 });
                create(
                    &tx,
                    &Probe::<Plain>::new(),
                    &slow,
                    TaskOptions::owned_by(record.id),
                )
                .await?;
                Ok(Some(Next::Continue(json!({ "phase": "ends" }))))
            })
            .await
    });
    let probe = probe.phase("ends", |task, runtime: Rt| async move {
        assert_eq!(task.record.memos.get("kept"), Some(&json!(1)));
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "holds" } }));
    bench.settle();
    let held = bench.record(id);
    assert_eq!((status(&held), held.memos.is_empty()), ("completing", true));
    assert!(bench.wait(id).memos.is_empty());
}

#[test]
fn memo_names_of_the_scheduler_are_refused() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        let refused = runtime.memo("tidehold.pokes", &1).await.unwrap_err();
        runtime.memo("tidehold", &1).await?;
        runtime
            .finish(Outcome::Completed(json!(refused.to_string())))
            .await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    let result = json!("memo names starting with tidehold. are taken: tidehold.pokes");
    assert_eq!(bench.outcome(id), TaskOutcome::Completed { result });
}

#[test]
fn the_first_memo_wins_survives_checkpoints_and_restarts_and_ends_with_the_outcome() {
    let probe = Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            let (a, b) = futures::join!(runtime.memo("__proto__", &1), runtime.memo("__proto__", &2));
            assert_eq!((a?, b?), (1, 1));
            runtime
                .advance(json!({ "phase": "second", "external": true }))
                .await
        })
        .phase("second", |_, runtime: Rt| async move {
            assert_eq!(runtime.memo_get::<u64>("__proto__").await?, Some(1));
            assert_eq!(runtime.memo_get::<u64>("other").await?, None);
            runtime.poked().await?;
            runtime.advance(json!({ "phase": "third" })).await
        })
        .phase("third", |_, runtime: Rt| async move {
            let memo: u64 = runtime.memo("__proto__", &3).await?;
            runtime.finish(Outcome::Completed(json!({ "memo": memo }))).await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    let mut bench = bench.restart();
    let scheduler = bench.scheduler.clone();
    assert!(bench.run(async move { scheduler.poke(id).await }).unwrap());
    bench.settle();
    let scheduler = bench.scheduler.clone();
    assert!(bench.run(async move { scheduler.poke(id).await }).unwrap());
    let record = bench.wait(id);
    assert_eq!(
        record.outcome(),
        Some(&TaskOutcome::Completed {
            result: json!({ "memo": 1 })
        })
    );
    assert!(record.memos.is_empty());
}

#[test]
fn sleep_uses_the_session_clock() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.sleep(START + 5_000).await?;
        runtime
            .finish(Outcome::Completed(json!({ "woke": runtime.now() })))
            .await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Completed {
            result: json!({ "woke": (START + 5_000) })
        }
    );
}

#[test]
fn waits_for_unknown_tasks_are_rejected() {
    let mut bench = Bench::new(Probe::new());
    let scheduler = bench.scheduler.clone();
    let unknown = tidehold_session::ids::TaskId(999);
    let (wait, abort) = bench.run(async move {
        (
            scheduler.wait_for_task(unknown).await.map(drop),
            scheduler.abort_task(unknown).await.map(drop),
        )
    });
    assert_eq!(wait.unwrap_err().to_string(), "task 999 does not exist");
    assert_eq!(abort.unwrap_err().to_string(), "task 999 does not exist");
}

#[test]
fn a_storage_failure_ends_the_session_signals_code_and_rejects_waits() {
    let signalled: Rc<RefCell<Vec<String>>> = Rc::default();
    let seen = Rc::clone(&signalled);
    let probe = Probe::new().phase("first", move |_, runtime: Rt| {
        let seen = Rc::clone(&seen);
        async move {
            let reason = runtime.signal().aborted().await;
            seen.borrow_mut().push(reason.to_owned());
            Ok(())
        }
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    bench
        .storage
        .allow_commits(Some(0), tidehold_storage::fault::CommitFault::Before);
    let (scheduler, session) = (bench.scheduler.clone(), bench.session.clone());
    let (wait, idle) = bench.run(async move {
        let failing = session.commit(async |tx: tidehold_session::Tx| {
            let options = TaskOptions::in_conversation(ROOT);
            create(&tx, &Probe::<Plain>::new(), &json!({}), options).await
        });
        let (wait, idle, failed) = futures::join!(
            scheduler.wait_for_task(id),
            scheduler.wait_for_idle(None),
            failing
        );
        assert!(failed.unwrap_err().is_fatal());
        scheduler.join_invocations().await;
        (wait.map(drop), idle)
    });
    assert!(wait.unwrap_err().is_fatal());
    assert!(idle.unwrap_err().is_fatal());
    assert_eq!(*signalled.borrow(), ["the session is closing"]);
    assert_eq!(bench.scheduler.scheduling(), Scheduling::Closing);
    let mut bench = bench.restart();
    assert_eq!(bench.status(id), "pending");
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
}

#[test]
fn a_failure_of_the_schedulers_own_commit_ends_the_session() {
    let mut bench = Bench::new(Probe::new());
    bench.recorder.hooks_fail.set(true);
    let id = bench.create(json!({}));
    let scheduler = bench.scheduler.clone();
    let wait = bench
        .run(async move { scheduler.wait_for_task(id).await })
        .map(drop);
    assert!(wait.unwrap_err().is_fatal());
    let mut bench = bench.restart();
    assert_eq!(message(&bench.outcome(id)), "no phase first");
}

#[test]
fn outcomes_of_a_live_task_are_refused() {
    let refused = |_: Task_, runtime: Rt| async move {
        let own = runtime.task_id();
        match runtime.outcomes(&[own]).await {
            Err(TaskFault::NotTerminal(id)) if id == own => {
                runtime.finish(Outcome::Completed(json!("refused"))).await
            }
            other => panic!("{other:?}"),
        }
    };
    let mut bench = Bench::new(Probe::new().phase("first", refused));
    let id = bench.create(json!({}));
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Completed {
            result: json!("refused")
        }
    );
}
