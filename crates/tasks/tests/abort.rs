//! Abort marks, abort invocations and their order (spec 5.4 and 5.5).
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
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskState};
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// Runs until it is told to stop.
fn obedient() -> Probe {
    Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    })
}

#[test]
fn a_mark_joins_the_run_and_the_handler_decides_the_outcome() {
    let refused: Rc<RefCell<Vec<String>>> = Rc::default();
    let seen = Rc::clone(&refused);
    let probe = Probe::new()
        .phase("first", move |_, runtime: Rt| {
            let seen = Rc::clone(&seen);
            async move {
                let reason = runtime.signal().aborted().await;
                let commit = runtime.advance(json!({ "phase": "never" })).await.unwrap_err();
                let memo = runtime.memo("late", &1).await.map(drop).unwrap_err();
                seen.borrow_mut()
                    .extend([reason.to_owned(), commit.to_string(), memo.to_string()]);
                Err(TaskFault::Failed("loses against the mark".into()))
            }
        })
        .on_abort(|task, runtime: Rt| async move {
            assert!(task.record.abort_requested);
            runtime
                .finish(Outcome::Aborted {
                    reason: Some("user".into()),
                    result: None,
                })
                .await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(
        *refused.borrow(),
        [
            "the task was aborted".to_owned(),
            format!("task {id} carries a durable abort mark"),
            format!("task {id} carries a durable abort mark"),
        ]
    );
    let record = bench.wait(id);
    assert_eq!(
        record.outcome(),
        Some(&TaskOutcome::Aborted {
            reason: Some("user".into()),
            result: None
        })
    );
    assert_eq!(bench.log(), [format!("first {id}"), format!("abort {id}")]);
    assert_eq!(bench.abort(id), AbortReply::Terminal);
}

#[test]
fn a_second_request_is_marked_and_signals_nothing() {
    let probe = obedient().on_abort(|_, runtime: Rt| async move {
        runtime.sleep(START + 100).await?;
        runtime.finish(Outcome::aborted()).await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    bench.settle();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
}

#[test]
fn an_abort_that_races_the_reservation_lets_no_phase_start() {
    let mut bench = Bench::new(obedient());
    let (session, scheduler) = (bench.session.clone(), bench.scheduler.clone());
    let id = bench.run(async move {
        let created = session.commit(async move |tx: Tx| {
            create(
                &tx,
                &Probe::<Plain>::new(),
                &json!({}),
                TaskOptions::in_conversation(ROOT),
            )
            .await
        });
        let id = created.await.unwrap().id();
        // The mark is on the line before the first step of the invocation.
        scheduler.abort_task(id).await.unwrap();
        id
    });
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    assert_eq!(bench.log(), [format!("abort {id}")]);
}

#[test]
fn an_abort_handler_must_end_the_task_and_cannot_wait() {
    let probe = obedient().on_abort(|task, runtime: Rt| async move {
        match task.input.get("how").and_then(|how| how.as_str()) {
            Some("throws") => Err(TaskFault::Failed("worse".into())),
            Some("waits") => {
                let checkpoint = task.checkpoint;
                let wait = Next::Wait {
                    checkpoint,
                    on: Vec::new(),
                    policy: JoinPolicy::AllSettled,
                    until: None,
                };
                runtime.commit(async move |_, _| Ok(Some(wait))).await
            }
            Some("moves") => runtime.advance(json!({ "phase": "elsewhere" })).await,
            _ => Ok(()),
        }
    });
    let mut bench = Bench::new(probe);
    let mut faults = Vec::new();
    for how in ["throws", "waits", "moves", "returns"] {
        let id = bench.create(json!({ "how": how }));
        bench.settle();
        bench.abort(id);
        let outcome = bench.outcome(id);
        assert_eq!(outcome_name(&outcome), "faulted");
        faults.push(message(&outcome).replace(&id.to_string(), "N"));
    }
    let silent = "the abort handler of task probe returned without a terminal outcome";
    assert_eq!(
        faults,
        ["worse", "the abort handler of task N cannot wait", silent, silent]
    );
}

/// A tree over two conversations: `x` owns a conversation with `a`, which owns a child `b`.
fn tree(bench: &mut Bench) -> (TaskId, TaskId, TaskId) {
    let x = bench.create(json!({}));
    let below = bench.conversation_of(x);
    let a = bench.create_with(json!({}), TaskOptions::in_conversation(below));
    let b = bench.create_with(json!({}), TaskOptions::owned_by(a));
    bench.settle();
    (x, a, b)
}

#[test]
fn aborts_run_bottom_up_over_owned_conversations() {
    let mut bench = Bench::new(obedient());
    let (x, a, b) = tree(&mut bench);
    assert_eq!(bench.abort(x), AbortReply::Marked);
    assert_eq!(outcome_name(&bench.outcome(x)), "aborted");
    let aborts: Vec<_> = bench
        .log()
        .into_iter()
        .filter(|line| line.starts_with("abort"))
        .collect();
    assert_eq!(
        aborts,
        [format!("abort {b}"), format!("abort {a}"), format!("abort {x}")]
    );
}

#[test]
fn a_child_between_two_phases_does_not_advance_before_the_cascade_reaches_it() {
    let (open, gate) = futures::channel::oneshot::channel::<()>();
    let gate = Rc::new(RefCell::new(Some(gate)));
    let probe = obedient().phase("gated", move |_, runtime: Rt| {
        let gate = gate.borrow_mut().take().unwrap();
        async move {
            runtime.advance(json!({ "phase": "never" })).await?;
            gate.await.map_err(|_| TaskFault::Failed("no gate".into()))
        }
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({}));
    let child = bench.create_with(
        json!({ "start": { "phase": "gated" } }),
        TaskOptions::owned_by(owner),
    );
    bench.settle();
    let scheduler = bench.scheduler.clone();
    bench.run(async move {
        // The child's step gets on the line behind the owner's mark and before the cascade.
        let abort = scheduler.abort_task(owner);
        let (marked, ()) = futures::join!(abort, async { open.send(()).unwrap() });
        marked.unwrap();
    });
    bench.settle();
    assert_eq!(outcome_name(&bench.outcome(child)), "aborted");
    assert_eq!(outcome_name(&bench.outcome(owner)), "aborted");
    assert!(!bench.log().contains(&format!("never {child}")));
}

#[test]
fn giving_up_an_abort_call_keeps_its_mark() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        // Deaf to its signal.
        runtime.session().host().sleep_until(START + 100).await;
        Ok(())
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    let (scheduler, host) = (bench.scheduler.clone(), bench.runtime.host());
    bench.run(async move {
        let call = Box::pin(scheduler.abort_task(id));
        futures::future::select(call, host.sleep_until(START + 10)).await;
    });
    assert!(bench.record(id).abort_requested);
    assert_eq!(bench.wait(id).ended_at, Some(START + 100));
}

#[test]
fn an_aborted_owner_shows_what_it_waits_for() {
    let probe = obedient().on_abort(|_, runtime: Rt| async move {
        runtime.sleep(runtime.now() + 50).await?;
        runtime.finish(Outcome::aborted()).await
    });
    let mut bench = Bench::new(probe);
    let (x, a, b) = tree(&mut bench);
    bench.abort(x);
    bench.settle();
    assert_eq!(bench.inspected(x), json!({ "kind": "waiting", "on": [a.0, b.0] }));
    assert_eq!(bench.inspected(b), json!({ "kind": "running" }));
}

#[test]
fn background_work_is_a_boundary_unless_it_is_aborted_itself() {
    let mut bench = Bench::new(obedient());
    let x = bench.create(json!({}));
    let below = bench.conversation_of(x);
    let background = bench.create_with(json!({}), TaskOptions::in_conversation(below).background());
    let child = bench.create_with(json!({}), TaskOptions::owned_by(background));
    bench.settle();
    bench.abort(x);
    assert_eq!(outcome_name(&bench.outcome(x)), "aborted");
    assert_eq!(
        (bench.status(background), bench.status(child)),
        ("running", "running")
    );
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(None).await })
        .unwrap();
    bench.abort(background);
    assert_eq!(outcome_name(&bench.outcome(child)), "aborted");
    assert_eq!(outcome_name(&bench.outcome(background)), "aborted");
}

#[test]
fn a_cascade_withdraws_below_and_leaves_the_own_queue() {
    let mut bench = Bench::new(obedient());
    let (x, _, _) = tree(&mut bench);
    let below = bench.scheduler.live_tasks(ROOT).len();
    assert_eq!(below, 1);
    let owned = bench.scheduler.inspect()[1].record.conversation_id;
    for conversation in [ROOT, owned] {
        queue(&mut bench, conversation);
    }
    bench.abort(x);
    bench.wait(x);
    assert_eq!(bench.hooks(), [format!("withdraw {owned}")]);
}

fn queue(bench: &mut Bench, conversation: tidehold_session::ids::ConversationId) {
    use tidehold_session::records::{InputStatus, SubmissionState};
    bench.commit(async move |tx| {
        let state = SubmissionState::Input(InputStatus::Queued);
        tx.create_submission(conversation, None, None, state)
            .await
            .map(drop)
    });
}

#[test]
fn a_conversation_abort_marks_and_names_what_it_reaches() {
    let mut bench = Bench::new(obedient());
    let (x, a, b) = tree(&mut bench);
    let owned = bench.scheduler.inspect()[1].record.conversation_id;
    let background = bench.create_with(json!({}), TaskOptions::in_conversation(owned).background());
    queue(&mut bench, owned);
    // Queues from before the open are found too.
    let mut bench = bench.restart();
    bench.scheduler.resume();
    bench.settle();
    let mark = |bench: &mut Bench, scope| {
        let scheduler = bench.scheduler.clone();
        bench.commit(async move |tx: Tx| -> Result<Reached, SessionError> {
            scheduler.mark_aborts(&tx, ROOT, scope).await
        })
    };
    let reached = mark(&mut bench, AbortScope::Foreground);
    assert_eq!(
        reached,
        Reached {
            marked: vec![x, a, b],
            conversations: vec![ROOT, owned]
        }
    );
    for id in [b, a, x] {
        assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    }
    assert_eq!(mark(&mut bench, AbortScope::Foreground).marked, []);
    assert_eq!(mark(&mut bench, AbortScope::Everything).marked, [background]);
    assert_eq!(outcome_name(&bench.outcome(background)), "aborted");
}

#[test]
fn a_waiting_task_leaves_its_wait_for_the_abort() {
    let probe = obedient().phase("waits", |task, runtime: Rt| async move {
        let on = vec![TaskId(task.input.get("on").and_then(|on| on.as_u64()).unwrap())];
        let wait = Next::Wait {
            checkpoint: json!({ "phase": "resumed" }),
            on,
            policy: JoinPolicy::AllSettled,
            until: None,
        };
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    });
    let mut bench = Bench::new(probe);
    let foreign = bench.create(json!({}));
    let waiter = bench.create(json!({ "start": { "phase": "waits" }, "on": foreign.0 }));
    bench.settle();
    assert!(matches!(bench.record(waiter).state, TaskState::Waiting { .. }));
    assert_eq!(
        bench.inspected(waiter),
        json!({ "kind": "waiting", "on": [foreign.0] })
    );
    bench.abort(waiter);
    assert_eq!(outcome_name(&bench.outcome(waiter)), "aborted");
    assert_eq!(bench.status(foreign), "running");
}

#[test]
fn an_owner_aborts_what_it_owns_and_nothing_else() {
    let probe = obedient().phase("owner", |task, runtime: Rt| async move {
        let child = runtime
            .commit_with(async |tx, record| {
                let options = TaskOptions::owned_by(record.id);
                Ok((
                    None,
                    create(&tx, &Probe::<Plain>::new(), &json!({}), options).await?,
                ))
            })
            .await?;
        let foreign = TaskId(task.input.get("foreign").and_then(|id| id.as_u64()).unwrap());
        let refused = runtime.abort_owned(foreign).await.unwrap_err();
        assert!(matches!(refused, TaskFault::NotOwned(id) if id == foreign));
        assert_eq!(runtime.owned_tasks().await?.len(), 1);
        let live = runtime.outcomes(&[child]).await.unwrap_err();
        assert_eq!(live.to_string(), format!("task {child} is not terminal"));
        runtime.abort_owned(child).await?;
        let outcomes = runtime.outcomes(&[child.id()]).await?;
        runtime
            .finish(Outcome::Completed(json!(outcome_name(&outcomes[0]))))
            .await
    });
    let mut bench = Bench::new(probe);
    let foreign = bench.create(json!({}));
    let owner = bench.create(json!({ "start": { "phase": "owner" }, "foreign": foreign.0 }));
    assert_eq!(
        bench.outcome(owner),
        TaskOutcome::Completed {
            result: json!("aborted")
        }
    );
}

#[test]
fn a_mark_between_two_phases_lets_the_next_one_not_start() {
    let (open, gate) = futures::channel::oneshot::channel::<()>();
    let gate = RefCell::new(Some(gate));
    let probe = Probe::new().phase("first", move |_, runtime: Rt| {
        let gate = gate.borrow_mut().take().unwrap();
        async move {
            runtime.advance(json!({ "phase": "never" })).await?;
            // Deaf to its signal.
            gate.await.map_err(|_| TaskFault::Failed("no gate".into()))
        }
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    let scheduler = bench.scheduler.clone();
    bench.run(async move {
        let (marked, ()) = futures::join!(scheduler.abort_task(id), async { open.send(()).unwrap() });
        marked.unwrap();
    });
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    assert_eq!(bench.log(), [format!("first {id}"), format!("abort {id}")]);
}

#[test]
fn an_abort_handler_cannot_own_new_work_and_compensates_in_the_background() {
    let probe = obedient()
        .phase("compensates", |_, runtime: Rt| async move {
            runtime.sleep(START + 70).await?;
            runtime.finish(Outcome::Completed(json!("given back"))).await
        })
        .on_abort(|_, runtime: Rt| async move {
            let child = runtime.commit_with(async |tx, record| {
                let options = TaskOptions::owned_by(record.id);
                let id = create(&tx, &Probe::<Plain>::new(), &json!({}), options).await?;
                Ok((None, id))
            });
            let refused = child.await.unwrap_err();
            assert!(refused.to_string().contains("cannot own new work"), "{refused}");
            let compensation = runtime
                .commit_with(async |tx, _| {
                    let options = TaskOptions::in_bound_conversation().background();
                    let input = json!({ "start": { "phase": "compensates" } });
                    Ok((None, create(&tx, &Probe::<Plain>::new(), &input, options).await?))
                })
                .await?;
            let receipt = runtime.wait_for_task(compensation).await?;
            assert_eq!(receipt.outcome, TypedOutcome::Completed(json!("given back")));
            runtime.finish(Outcome::aborted()).await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    bench.abort(id);
    assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    assert_eq!(bench.now(), START + 70);
}

#[test]
fn a_background_owner_below_an_aborted_background_task_survives() {
    let mut bench = Bench::new(obedient());
    let outer = bench.create_with(json!({}), TaskOptions::in_conversation(ROOT).background());
    let below = bench.conversation_of(outer);
    let ordinary = bench.create_with(json!({}), TaskOptions::in_conversation(below));
    let inner = bench.create_with(json!({}), TaskOptions::in_conversation(below).background());
    let inmost = bench.create_with(json!({}), TaskOptions::owned_by(inner));
    bench.settle();
    bench.abort(outer);
    assert_eq!(outcome_name(&bench.outcome(outer)), "aborted");
    assert_eq!(outcome_name(&bench.outcome(ordinary)), "aborted");
    for id in [inner, inmost] {
        assert_eq!(
            (bench.status(id), bench.record(id).abort_requested),
            ("running", false)
        );
    }
}

#[test]
fn an_input_that_is_queued_below_after_the_cascade_is_withdrawn_too() {
    // The owner's own abort takes its time, so its intent lasts.
    let probe = obedient().on_abort(|_, runtime: Rt| async move {
        runtime.sleep(START + 100).await?;
        runtime.finish(Outcome::aborted()).await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({}));
    let owned = bench.conversation_of(owner);
    bench.settle();
    bench.abort(owner);
    bench.settle();
    assert_eq!(bench.hooks(), Vec::<String>::new());
    queue(&mut bench, owned);
    queue(&mut bench, ROOT);
    bench.settle();
    assert_eq!(bench.hooks(), [format!("withdraw {owned}")]);
    assert_eq!(outcome_name(&bench.outcome(owner)), "aborted");
}

#[test]
fn what_completes_in_the_commit_that_marks_the_owner_frees_nobody_below() {
    // `ends` completes and marks the task its input names, in one commit.
    let probe = obedient()
        .phase("waits", |task, runtime: Rt| async move {
            let on = TaskId(number(&task.input, "on"));
            let wait = Next::join(json!({ "phase": "never" }), JoinPolicy::AllSettled, [on]);
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .phase("ends", |task, runtime: Rt| async move {
            runtime.poked().await?;
            let owner = TaskId(number(&task.input, "marks"));
            runtime
                .commit(async move |tx, _| {
                    let mut record = tx.task(owner).await?.unwrap();
                    record.abort_requested = true;
                    tx.stage_task(record).await?;
                    Ok(Some(Next::Finish(Outcome::Completed(json!(null)))))
                })
                .await
        });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({}));
    let dependency = bench.create(json!({ "start": { "phase": "ends" }, "marks": (owner.0) }));
    let input = json!({ "start": { "phase": "waits" }, "on": (dependency.0) });
    let child = bench.create_with(input, TaskOptions::owned_by(owner));
    bench.settle();
    assert_eq!(bench.status(child), "waiting");
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.poke(dependency).await })
        .unwrap();
    for id in [child, owner] {
        assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    }
    assert_eq!(outcome_name(&bench.outcome(dependency)), "completed");
    assert!(!bench.log().contains(&format!("never {child}")));
}

#[test]
fn no_phase_starts_below_a_cancelled_owner_while_the_cascade_is_being_stored() {
    let (open, gate) = futures::channel::oneshot::channel::<()>();
    let gate = RefCell::new(Some(gate));
    let probe = obedient().phase("gated", move |_, runtime: Rt| {
        let gate = gate.borrow_mut().take().unwrap();
        async move {
            runtime.advance(json!({ "phase": "never" })).await?;
            gate.await.map_err(|_| TaskFault::Failed("no gate".into()))
        }
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({}));
    let gated = json!({ "start": { "phase": "gated" } });
    let child = bench.create_with(gated, TaskOptions::owned_by(owner));
    bench.settle();
    let storage = bench.storage.clone();
    let held: Rc<RefCell<Option<tidehold_storage::fault::Held>>> = Rc::default();
    let slot = Rc::clone(&held);
    // The owner's mark is committed; everything that follows from it waits in storage.
    let subscription = bench.session.subscribe_commits(move |publication| {
        if publication
            .tasks
            .iter()
            .any(|change| change.after.abort_requested)
        {
            slot.borrow_mut().get_or_insert_with(|| storage.hold_commits());
        }
    });
    // The call itself waits for the owner's last step, behind the cascade.
    let scheduler = bench.scheduler.clone();
    bench.session.spawn(async move {
        scheduler.abort_task(owner).await.unwrap();
    });
    bench.settle();
    open.send(()).unwrap();
    bench.settle();
    assert!(bench.record(owner).abort_requested && !bench.record(child).abort_requested);
    assert_eq!(
        bench.record(child).checkpoint(),
        Some(&json!({ "phase": "never" }))
    );
    drop(subscription);
    held.take();
    for id in [child, owner] {
        assert_eq!(outcome_name(&bench.outcome(id)), "aborted");
    }
    assert!(!bench.log().contains(&format!("never {child}")));
}
