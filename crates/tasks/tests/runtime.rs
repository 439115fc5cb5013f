//! What a phase works with, and what becomes of it when its invocation has ended (spec 5.1 and 5.4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use futures::channel::oneshot;
use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::documents::{ConversationDoc, DocToken, ForkPolicy, History};
use tidehold_session::ids::{EntryId, TaskId};
use tidehold_session::observe::{DocumentState, Watch, WatchEnd};
use tidehold_session::records::{EntryDraft, TaskOutcome};
use tidehold_session::{SessionError, Tx};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

static NOTES: ConversationDoc = DocToken::of_conversation(
    "test.notes",
    1,
    History::Rewindable {
        fork: ForkPolicy::AsOf,
    },
    || json!({ "n": 0 }),
);

async fn note(tx: &Tx, n: u64) -> Result<EntryId, SessionError> {
    tx.doc(&NOTES, ROOT).await?.at("n").set(n)?;
    let draft = EntryDraft {
        kind: "note".into(),
        data: Some(json!(n)),
        ..EntryDraft::default()
    };
    Ok(tx.append_entry(ROOT, draft).await?.id)
}

fn result(outcome: TaskOutcome) -> Json {
    match outcome {
        TaskOutcome::Completed { result } => result,
        other => panic!("{other:?}"),
    }
}

/// Hands its runtime out, stays until the gate opens, and ends its invocation by `last`.
fn handing_out(
    slot: &Rc<RefCell<Option<Rt>>>,
    gate: oneshot::Receiver<()>,
    last: fn() -> Next<Json, Json>,
) -> Probe {
    let (slot, gate) = (Rc::clone(slot), RefCell::new(Some(gate)));
    Probe::new().phase("first", move |_, runtime: Rt| {
        let gate = gate.borrow_mut().take().unwrap();
        slot.borrow_mut().replace(runtime.clone());
        async move {
            gate.await.unwrap();
            runtime.commit(async move |_, _| Ok(Some(last()))).await
        }
    })
}

/// Every operation of a runtime that can be refused, by name.
async fn every_operation(runtime: &Rt, entry: EntryId) -> Vec<(&'static str, Result<(), TaskFault>)> {
    let own = runtime.task_id();
    vec![
        ("commit", runtime.commit(async |_, _| Ok(None)).await),
        (
            "commit_with",
            runtime.commit_with(async |_, _| Ok((None, ()))).await,
        ),
        ("advance", runtime.advance(json!({})).await),
        ("finish", runtime.finish(Outcome::aborted()).await),
        ("memo", runtime.memo("name", &1).await.map(drop)),
        ("memo_get", runtime.memo_get::<Json>("name").await.map(drop)),
        ("get_task", runtime.get_task(own).await.map(drop)),
        ("outcomes", runtime.outcomes(&[own]).await.map(drop)),
        ("owned_tasks", runtime.owned_tasks().await.map(drop)),
        ("entry", runtime.entry(entry).await.map(drop)),
        ("context", runtime.context(ROOT, None).await.map(drop)),
        ("context at", runtime.context(ROOT, Some(entry)).await.map(drop)),
        ("snapshot", runtime.snapshot(&NOTES, ROOT).await.map(drop)),
        (
            "snapshot_as_of",
            runtime.snapshot_as_of(&NOTES, ROOT, entry).await.map(drop),
        ),
        (
            "document_state",
            runtime.document_state(&NOTES, ROOT).await.map(drop),
        ),
        ("watch_doc", runtime.watch_doc(&NOTES, ROOT).await.map(drop)),
        ("wait_for_task", runtime.wait_for_task(own).await.map(drop)),
        ("abort_owned", runtime.abort_owned(own).await),
        ("sleep", runtime.sleep(0).await),
        ("poked", runtime.poked().await),
    ]
}

#[test]
fn after_the_invocation_ended_every_operation_refuses() {
    let slot: Rc<RefCell<Option<Rt>>> = Rc::default();
    let (open, gate) = oneshot::channel();
    let last = || Next::Finish(Outcome::Completed(json!(null)));
    let mut bench = Bench::new(handing_out(&slot, gate, last));
    let entry = bench.commit(async |tx| note(&tx, 1).await);
    let id = bench.create(json!({}));
    bench.settle();
    open.send(()).unwrap();
    bench.wait(id);
    bench.settle();
    let runtime = slot.take().unwrap();
    assert_eq!(runtime.signal().reason(), Some("the invocation has ended"));
    let before = head(&mut bench);
    let refused = bench.run(async move { every_operation(&runtime, entry).await });
    for (name, outcome) in refused {
        assert!(matches!(outcome, Err(TaskFault::Ended)), "{name}: {outcome:?}");
    }
    assert_eq!(head(&mut bench), before, "nothing was written");
    assert!(bench.session.health().is_ok());
}

#[test]
fn what_is_under_way_when_the_invocation_ends_refuses_too() {
    let slot: Rc<RefCell<Option<Rt>>> = Rc::default();
    let (open, gate) = oneshot::channel();
    // Parking reads nothing, so that it is not held itself.
    let last = || Next::sleep(json!({ "phase": "later" }), START + 90_000);
    let mut bench = Bench::new(handing_out(&slot, gate, last));
    let entry = bench.commit(async |tx| note(&tx, 1).await);
    let other = bench.create(json!({ "start": { "phase": "none", "external": true, "at": START + 90_000 } }));
    let id = bench.create(json!({}));
    bench.settle();
    let runtime = slot.take().unwrap();
    // Every storage read waits until the invocation is over.
    let held = bench.storage.hold_reads();
    let (scheduler, session) = (bench.scheduler.clone(), bench.session.clone());
    let ended = bench.run(async move {
        let reads = async {
            let absent = TaskId(999);
            let (task, entry, context, as_of, wait, sleep, poked) = futures::join!(
                runtime.get_task(absent),
                runtime.entry(entry),
                runtime.context(ROOT, None),
                runtime.snapshot_as_of(&NOTES, ROOT, entry),
                runtime.wait_for_task(other),
                runtime.sleep(START + 100_000),
                runtime.poked(),
            );
            vec![
                ("get_task", task.map(drop)),
                ("entry", entry.map(drop)),
                ("context", context.map(drop)),
                ("snapshot_as_of", as_of.map(drop)),
                ("wait_for_task", wait.map(drop)),
                ("sleep", sleep),
                ("poked", poked),
            ]
        };
        let script = async {
            // One turn, in which the reads begin.
            session.host().sleep_until(session.host().now() + 1).await;
            open.send(()).unwrap();
            session.host().sleep_until(session.host().now() + 1).await;
            assert_eq!(
                scheduler.live_task(id).map(|record| status(&record)),
                Some("waiting")
            );
            drop(held);
        };
        futures::join!(reads, script).0
    });
    for (name, outcome) in ended {
        assert!(matches!(outcome, Err(TaskFault::Ended)), "{name}: {outcome:?}");
    }
}

type Observers = Rc<RefCell<Option<(Rc<DocumentState>, Rc<Watch>)>>>;

#[test]
fn observations_last_from_their_acquisition_to_the_end_of_the_invocation() {
    let kept = Observers::default();
    let (taken, watched): (Observers, Rc<RefCell<Vec<Json>>>) = (Rc::clone(&kept), Rc::default());
    let seen = Rc::clone(&watched);
    let probe = Probe::new().phase("first", move |_, runtime: Rt| {
        let (taken, seen) = (Rc::clone(&taken), Rc::clone(&seen));
        async move {
            assert!(
                runtime.watch_doc(&NOTES, ROOT).await?.is_none(),
                "absent, and not created"
            );
            runtime
                .commit(async |tx, _| {
                    note(&tx, 1).await?;
                    Ok(None)
                })
                .await?;
            let state = runtime.document_state(&NOTES, ROOT).await?.unwrap();
            let watch = runtime.watch_doc(&NOTES, ROOT).await?.unwrap();
            let listener = async move |revision: tidehold_session::observe::Revision| {
                seen.borrow_mut().push(revision.value);
                Ok::<_, SessionError>(())
            };
            watch.start(listener).unwrap();
            *taken.borrow_mut() = Some((state, watch));
            runtime
                .commit(async |tx, _| {
                    note(&tx, 2).await?;
                    Ok(Some(Next::Continue(json!({ "phase": "second" }))))
                })
                .await
        }
    });
    // The invocation goes on over the boundary, and the observations with it.
    let probe = probe.phase("second", |_, runtime: Rt| async move {
        runtime.sleep(START + 10).await?;
        runtime
            .commit(async |tx, _| {
                note(&tx, 3).await?;
                Ok(None)
            })
            .await?;
        runtime.sleep(START + 20).await?;
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.wait(id);
    bench.commit(async |tx| note(&tx, 4).await);
    bench.settle();
    assert_eq!(*watched.borrow(), [json!({ "n": 2 }), json!({ "n": 3 })]);
    let (state, watch) = kept.take().unwrap();
    assert_eq!(state.value(), json!({ "n": 3 }), "it keeps its last value");
    let end = bench.run(async move { watch.closed().await });
    assert!(matches!(end, WatchEnd::Stopped), "{end:?}");
}

#[test]
fn committed_records_documents_and_contexts_can_be_read() {
    let probe = Probe::new().phase("first", |task, runtime: Rt| async move {
        let entry = EntryId(number(&task.input, "entry"));
        let found = runtime.entry(entry).await?.unwrap();
        assert_eq!((found.data, found.by_task_id), (Some(json!(1)), None));
        assert!(runtime.entry(EntryId(9_999)).await?.is_none());
        let now = runtime.snapshot(&NOTES, ROOT).await?;
        let then = runtime.snapshot_as_of(&NOTES, ROOT, entry).await?;
        let all = runtime.context(ROOT, None).await?.entries.len();
        let cut = runtime.context(ROOT, Some(entry)).await?.entries.len();
        let own = runtime.get_task(runtime.task_id()).await?.unwrap();
        assert_eq!(
            (status(&own), own.kind.to_string()),
            ("running", "probe".to_owned())
        );
        assert!(runtime.get_task(TaskId(9_999)).await?.is_none());
        let seen = json!({ "now": (now.unwrap()), "then": (then.unwrap()), "all": all, "cut": cut });
        runtime.finish(Outcome::Completed(seen)).await
    });
    let mut bench = Bench::new(probe);
    let first = bench.commit(async |tx| note(&tx, 1).await);
    bench.commit(async |tx| note(&tx, 2).await);
    let id = bench.create(json!({ "entry": (first.0) }));
    assert_eq!(
        result(bench.outcome(id)),
        json!({ "now": { "n": 2 }, "then": { "n": 1 }, "all": 2_u64, "cut": 1_u64 })
    );
}

#[test]
fn a_commit_is_bound_to_the_conversation_of_the_task() {
    let probe = worker().phase("creates", |_, runtime: Rt| async move {
        let child = runtime
            .commit_with(async |tx, record| {
                assert_eq!(status(&record), "running");
                let options = TaskOptions::in_bound_conversation();
                let id = create(&tx, &Probe::<Plain>::new(), &json!({}), options).await?;
                Ok((None, id))
            })
            .await?;
        let record = runtime.get_task(child).await?.unwrap();
        assert_eq!(record.conversation_id, runtime.conversation_id());
        assert_eq!(record.owner, None);
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({ "until": START + 10 }));
    let conversation = bench.conversation_of(owner);
    let options = TaskOptions::in_conversation(conversation);
    let id = bench.create_with(json!({ "start": { "phase": "creates" } }), options);
    assert_eq!(outcome_name(&bench.outcome(id)), "completed");
}

#[test]
fn typed_ids_read_outcomes_and_plain_ones_leave_them_as_stored() {
    let probe = worker().phase("parent", |_, runtime: Rt| async move {
        let ids = runtime
            .commit_with(async |tx, record| {
                let mut ids = Vec::new();
                for input in [json!({}), json!({ "how": "fails" }), json!({ "how": "throws" })] {
                    let options = TaskOptions::owned_by(record.id);
                    ids.push(create(&tx, &Probe::<Plain>::new(), &input, options).await?);
                }
                Ok((None, ids))
            })
            .await?;
        let first: SettledTask<TypedOutcome<Json>> = runtime.wait_for_task(ids[0]).await?;
        assert_eq!(first.outcome, TypedOutcome::Completed(json!(null)));
        assert_eq!(first.record.id, ids[0].id());
        for id in &ids {
            runtime.wait_for_task(*id).await?;
        }
        let typed = runtime.outcomes(&ids).await?;
        assert!(
            matches!(&typed[1], TypedOutcome::Failed { error, result: None } if &*error.message == "as told")
        );
        assert!(matches!(&typed[2], TypedOutcome::Faulted { error } if &*error.message == "thrown"));
        let plain = runtime.outcomes(&[ids[0].id()]).await?;
        assert_eq!(plain, [TaskOutcome::Completed { result: json!(null) }]);
        let wrong = TypedTaskId::<u64>::assume(ids[0].id());
        let unread = runtime.outcomes(&[wrong]).await;
        assert!(matches!(unread, Err(TaskFault::Convert(_))), "{unread:?}");
        // At rest it is the number.
        let stored = Json::from_serialize(&ids[0])?;
        assert_eq!(stored, json!(ids[0].0));
        assert_eq!(stored.to_typed::<TypedTaskId<Json>>()?, ids[0]);
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "parent" } }));
    assert_eq!(result(bench.outcome(id)), json!(null));
}

#[test]
fn sleeps_and_waits_end_when_the_task_is_told_to_stop_and_refuse_afterwards() {
    let ends: Rc<RefCell<Vec<String>>> = Rc::default();
    let seen = Rc::clone(&ends);
    let probe = Probe::new().phase("first", move |task, runtime: Rt| {
        let seen = Rc::clone(&seen);
        async move {
            let other = TaskId(number(&task.input, "other"));
            let (sleep, wait) = futures::join!(runtime.sleep(START + 500), runtime.wait_for_task(other));
            let late = runtime.sleep(0).await;
            for end in [sleep, wait.map(drop), late] {
                seen.borrow_mut().push(end.unwrap_err().to_string());
            }
            Ok(())
        }
    });
    let mut bench = Bench::new(probe);
    let other = bench.create(json!({ "start": { "phase": "first", "at": START + 9_000 } }));
    let id = bench.create(json!({ "other": (other.0) }));
    bench.settle();
    bench.abort(id);
    let told = "the task's invocation was signalled: the task was aborted";
    assert_eq!(*ends.borrow(), [told; 3]);
    assert_eq!(bench.now(), START);
}

#[test]
fn a_phase_sees_one_registry_from_its_start_to_its_end() {
    struct Later;
    impl Task for Later {
        const NAME: &'static str = "later";
        const VERSION: u32 = 7;
        type Input = Json;
        type Checkpoint = Json;
        type Outcome = Json;

        fn initial(&self, _: &Json) -> Json {
            json!({ "phase": "only" })
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
    let seen = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&seen);
    let look = move |runtime: &Rt| {
        let registry = runtime.registry();
        log.borrow_mut()
            .push((registry.version("later"), registry.generation()));
    };
    let again = look.clone();
    let probe = Probe::new()
        .phase("first", move |_, runtime: Rt| {
            let look = look.clone();
            async move {
                look(&runtime);
                runtime.sleep(START + 10).await?;
                look(&runtime);
                runtime.advance(json!({ "phase": "second" })).await
            }
        })
        .phase("second", move |_, runtime: Rt| {
            again(&runtime);
            async move { runtime.finish(Outcome::Completed(json!(null))).await }
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    bench.registry.install(Rc::new(Later));
    bench.wait(id);
    assert_eq!(*seen.borrow(), [(None, 1), (None, 1), (Some(7), 2)]);
}

#[test]
fn a_task_whose_initial_checkpoint_panics_is_not_created() {
    struct Broken;
    impl Task for Broken {
        const NAME: &'static str = "broken";
        const VERSION: u32 = 1;
        type Input = Json;
        type Checkpoint = Json;
        type Outcome = Json;

        fn initial(&self, _: &Json) -> Json {
            panic!("no checkpoint")
        }

        fn wake(&self, _: &Json) -> Wake {
            Wake::Now
        }

        async fn run(&self, _: Running<Self>, _: Runtime<Self>) -> Result<(), TaskFault> {
            Ok(())
        }

        async fn abort(&self, _: Running<Self>, _: Runtime<Self>) -> Result<(), TaskFault> {
            Ok(())
        }
    }
    let mut bench = Bench::new(worker());
    let before = head(&mut bench);
    let session = bench.session.clone();
    let refused = bench.run(async move {
        let created = session.commit(async |tx| {
            let options = TaskOptions::in_conversation(ROOT);
            create(&tx, &Probe::<Plain>::new(), &json!({}), options).await?;
            create(&tx, &Broken, &json!({}), options).await.map(drop)
        });
        created.await.map_err(|error: SessionError| error.to_string())
    });
    assert_eq!(
        refused,
        Err("a commit callback panicked: no checkpoint".to_owned())
    );
    assert_eq!(head(&mut bench), before, "the other task of the commit neither");
    let neighbour = bench.create(json!({}));
    assert_eq!(outcome_name(&bench.outcome(neighbour)), "completed");
}
