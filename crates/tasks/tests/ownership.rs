//! Structured concurrency: holds (spec 5.5).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use futures::future::{Either, select};
use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::documents::{DocToken, TaskDoc};
use tidehold_session::records::{ConversationOwnership, EntryDraft, TaskOutcome, TaskState};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

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

#[test]
fn work_admitted_after_a_restart_below_a_held_failure_is_aborted() {
    // An abort handler that takes its time holds the owner's failure over the restart.
    let probe = worker().on_abort(|_, runtime: Rt| async move {
        runtime.sleep(START + 1_000).await?;
        runtime.finish(Outcome::aborted()).await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({ "until": START + 10, "how": "fails" }));
    let owned = bench.conversation_of(owner);
    let child = bench.create_with(json!({ "until": START + 9_000 }), TaskOptions::owned_by(owner));
    bench.settle();
    bench.runtime.advance(10);
    assert_eq!(
        (bench.status(owner), bench.record(child).abort_requested),
        ("completing", true)
    );
    let mut bench = bench.restart();
    // Nothing lives in the owned conversation, so the edge above it is not loaded yet.
    let late = bench.create_with(json!({}), TaskOptions::in_conversation(owned));
    assert_eq!(outcome_name(&bench.outcome(late)), "aborted");
    assert!(!bench.log().contains(&format!("first {late}")));
    assert_eq!(outcome_name(&bench.outcome(owner)), "failed");
    assert_eq!(bench.now(), START + 1_000);
}

#[test]
fn idle_after_a_restart_counts_held_owners_and_what_is_below_them() {
    let probe = parenting(worker()).phase("holds", |_, runtime: Rt| async move {
        runtime
            .commit(async |tx, record| {
                let owned = tx
                    .create_conversation(ConversationOwnership::Task(record.id))
                    .await?
                    .id;
                let slow = json!({ "until": START + 80 });
                create(
                    &tx,
                    &Probe::<Plain>::new(),
                    &slow,
                    TaskOptions::in_conversation(owned),
                )
                .await?;
                let background = TaskOptions::in_conversation(owned).background();
                let slower = json!({ "until": START + 500 });
                create(&tx, &Probe::<Plain>::new(), &slower, background).await?;
                Ok(Some(Next::Continue(json!({ "phase": "ends" }))))
            })
            .await
    });
    let mut bench = Bench::new(probe.phase("ends", done));
    let owner = bench.create(parent(
        json!("ends"),
        vec![json!({ "start": { "phase": "holds" } })],
    ));
    bench.settle();
    let middle = bench.scheduler.inspect()[1].record.id;
    let held = [owner, middle];
    assert_eq!(held.map(|id| bench.status(id)), ["completing", "completing"]);
    let mut bench = bench.restart();
    let scheduler = bench.scheduler.clone();
    bench
        .run(async move { scheduler.wait_for_idle(None).await })
        .unwrap();
    assert_eq!(bench.now(), START + 80);
    for id in held {
        assert_eq!(outcome_name(&bench.outcome(id)), "completed");
    }
    assert_eq!(bench.scheduler.live_tasks(ROOT).len(), 0);
    assert_eq!(bench.scheduler.inspect().len(), 1, "the background task goes on");
}

static SCRATCH: TaskDoc = DocToken::of_task("test.scratch", 1, || json!({ "n": 0 }));

#[test]
fn a_hold_splits_the_writes_of_an_outcome() {
    let probe = parenting(worker()).phase("ends", |_, runtime: Rt| async move {
        runtime
            .commit(async |tx, record| {
                tx.doc(&SCRATCH, record.id).await?.at("n").set(7)?;
                let draft = EntryDraft {
                    kind: "note".into(),
                    ..EntryDraft::default()
                };
                tx.append_entry(record.conversation_id, draft).await?;
                Ok(Some(Next::Finish(Outcome::Completed(json!("done")))))
            })
            .await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(parent(json!("ends"), vec![json!({ "until": (START + 50) })]));
    let ended: Rc<RefCell<Option<u64>>> = Rc::default();
    let (waiter, scheduler, host) = (Rc::clone(&ended), bench.scheduler.clone(), bench.runtime.host());
    bench.session.spawn(async move {
        scheduler.wait_for_task(owner).await.unwrap();
        *waiter.borrow_mut() = Some(host.now());
    });
    bench.settle();
    let look = |bench: &mut Bench| {
        let session = bench.session.clone();
        bench.run(async move {
            let entries = session.context(ROOT, None).await.unwrap().entries.len();
            (entries, session.snapshot(&SCRATCH, owner).await.unwrap())
        })
    };
    assert_eq!(bench.status(owner), "completing");
    assert_eq!(
        look(&mut bench),
        (1, Some(json!({ "n": 7 }))),
        "what it wrote landed with the hold"
    );
    assert_eq!(*ended.borrow(), None);
    bench.runtime.advance(50);
    assert_eq!(bench.status(owner), "terminal");
    assert_eq!(
        look(&mut bench),
        (1, None),
        "its documents retire with the final record"
    );
    assert_eq!(*ended.borrow(), Some(START + 50));
}

#[test]
fn every_held_outcome_but_success_aborts_what_is_below() {
    let probe = parenting(worker())
        .phase("failed", |_, runtime: Rt| async move {
            runtime.finish(Outcome::failed("no")).await
        })
        .phase("aborted", |_, runtime: Rt| async move {
            runtime.finish(Outcome::aborted()).await
        })
        .phase("faulted", |_, _| async { Err(TaskFault::Failed("boom".into())) });
    let mut bench = Bench::new(probe);
    for outcome in ["failed", "aborted", "faulted"] {
        let owner = bench.create(parent(json!(outcome), vec![json!({ "until": (START + 50) })]));
        let record = bench.wait(owner);
        assert_eq!(outcome_name(record.outcome().unwrap()), outcome);
        assert!(!record.abort_requested, "its own outcome, not a mark");
        assert_eq!(bench.now(), START);
    }
    let aborts = bench
        .log()
        .iter()
        .filter(|line| line.starts_with("abort "))
        .count();
    assert_eq!(aborts, 3, "each child ran its abort handler");
}

#[test]
fn work_that_is_created_below_a_held_outcome_extends_or_obeys_it() {
    let probe = || {
        worker()
            .phase("owns", |task, runtime: Rt| async move {
                runtime
                    .commit(async move |tx, record| {
                        let owner = ConversationOwnership::Task(record.id);
                        let owned = tx.create_conversation(owner).await?.id;
                        let slow = json!({ "until": START + 50 });
                        let options = TaskOptions::in_conversation(owned);
                        create(&tx, &Probe::<Plain>::new(), &slow, options).await?;
                        let phase = task.input.get("then").cloned().unwrap();
                        Ok(Some(Next::Continue(json!({ "phase": phase }))))
                    })
                    .await
            })
            .phase("ends", done)
            .phase("fails", |_, runtime: Rt| async move {
                runtime.finish(Outcome::failed("no")).await
            })
            .on_abort(|_, runtime: Rt| async move {
                runtime.sleep(START + 20).await?;
                runtime.finish(Outcome::aborted()).await
            })
    };
    for (then, ends, late_ends) in [
        ("ends", "completed", (START + 90, "completed")),
        ("fails", "failed", (START + 20, "aborted")),
    ] {
        let mut bench = Bench::new(probe());
        let owner = bench.create(json!({ "start": { "phase": "owns" }, "then": then }));
        bench.settle();
        assert_eq!(bench.status(owner), "completing");
        let owned = bench.scheduler.inspect()[1].record.conversation_id;
        let late = bench.create_with(
            json!({ "until": START + 90 }),
            TaskOptions::in_conversation(owned),
        );
        assert_eq!(outcome_name(&bench.outcome(owner)), ends);
        assert_eq!(bench.status(late), "terminal", "it was waited for");
        assert_eq!((bench.now(), outcome_name(&bench.outcome(late))), late_ends);
    }
}

#[test]
fn work_below_an_owner_that_ended_badly_runs_normally() {
    let mut bench = Bench::new(worker());
    let failed = bench.create(json!({ "how": "fails", "until": START + 5 }));
    let aborted = bench.create(json!({ "until": START + 500 }));
    let conversations = [failed, aborted].map(|owner| bench.conversation_of(owner));
    bench.abort(aborted);
    assert_eq!(outcome_name(&bench.outcome(failed)), "failed");
    assert_eq!(outcome_name(&bench.outcome(aborted)), "aborted");
    for conversation in conversations {
        let later = bench.create_with(json!({}), TaskOptions::in_conversation(conversation));
        let record = bench.wait(later);
        assert_eq!(outcome_name(record.outcome().unwrap()), "completed");
        assert!(!record.abort_requested);
    }
}

#[test]
fn a_finishing_commit_cannot_create_an_owned_conversation() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime
            .commit(async |tx, record| {
                tx.create_conversation(ConversationOwnership::Task(record.id))
                    .await?;
                Ok(Some(Next::Finish(Outcome::Completed(json!(null)))))
            })
            .await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    let text = format!("task {id} is finished, finishing or abort-marked and cannot own new work");
    assert_eq!(message(&bench.outcome(id)), text);
}

#[test]
fn an_idle_wait_that_is_given_up_ends_alone() {
    let mut bench = Bench::new(worker());
    let id = bench.create(json!({ "until": START + 50 }));
    let (scheduler, host) = (bench.scheduler.clone(), bench.runtime.host());
    bench.run(async move {
        let hasty = select(scheduler.wait_for_idle(None), host.sleep_until(START + 10)).await;
        assert!(matches!(hasty, Either::Right(_)));
        drop(hasty);
        scheduler.wait_for_idle(None).await.unwrap();
    });
    assert_eq!(bench.now(), START + 50);
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}

/// The kind of an owner whose definition comes and goes.
struct Owner<const VERSION: u32>;

impl<const VERSION: u32> Kind for Owner<VERSION> {
    const NAME: &'static str = "owner";
    const VERSION: u32 = VERSION;
}

#[test]
fn a_held_outcome_needs_no_definition_and_is_never_migrated() {
    let upgrade = |registry: &TaskRegistry| {
        registry.install(Rc::new(Probe::<Owner<2>>::new().migrating(|_| panic!("tried"))));
    };
    let remove = |registry: &TaskRegistry| registry.remove("owner");
    let changes: [&dyn Fn(&TaskRegistry); 2] = [&remove, &upgrade];
    for change in changes {
        let mut bench = Bench::new(worker());
        let owner = Probe::<Owner<1>>::new()
            .phase("first", |_, runtime: Runtime<Probe<Owner<1>>>| async move {
                runtime
                    .commit(async |tx, record| {
                        let slow = json!({ "until": START + 50 });
                        let options = TaskOptions::owned_by(record.id);
                        create(&tx, &Probe::<Plain>::new(), &slow, options).await?;
                        Ok(Some(Next::Continue(json!({ "phase": "second" }))))
                    })
                    .await
            })
            .phase("second", done);
        let owner = Rc::new(owner);
        bench.registry.install(Rc::clone(&owner));
        let id = bench.commit(async move |tx| {
            let options = TaskOptions::in_conversation(ROOT);
            Ok(create(&tx, owner.as_ref(), &json!({}), options).await?.id())
        });
        bench.settle();
        assert_eq!(bench.status(id), "completing");
        let mut bench = bench.restart_with(change);
        assert_eq!(bench.inspected(id), json!({ "kind": "completing" }));
        let record = bench.wait(id);
        assert_eq!(
            (record.version, outcome_name(record.outcome().unwrap())),
            (1, "completed")
        );
        assert_eq!(*bench.recorder.reports.borrow(), Vec::<String>::new());
    }
}
