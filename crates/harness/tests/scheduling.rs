//! What starts recovered work and what does not, and how an abort, an orphan and a fault end it (spec 2.2 and 5.4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use support::{Bench, input, reason, status};
use tidehold_delta::{Json, json};
use tidehold_harness::docs::{AGENT, LIVE, USAGE};
use tidehold_harness::{Harness, Settings};
use tidehold_session::SessionError;
use tidehold_session::ids::{ROOT_CONVERSATION_ID as ROOT, SubmissionId, TaskId};
use tidehold_session::records::{
    ConversationOwnership, EntryDraft, SubmissionState, TaskOutcome, WriteStatus,
};
use tidehold_session::storage::Storage;
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

/// Streams for a minute.
const SLOW: &str = "@pace 100\n@repeat 600 tide";

/// A paused harness with an interrupted generation, its submission, and one queued behind it.
fn interrupted() -> (Bench, SubmissionId, SubmissionId) {
    let mut bench = Bench::new();
    let placed = bench.submit(SLOW).id;
    let queued = bench.submit("later").id;
    bench.runtime.advance(1_000);
    let mut bench = bench.crash();
    bench.runtime.settle();
    (bench, placed, queued)
}

fn generation(bench: &Bench) -> TaskInspection {
    let tasks = bench.harness.scheduler().inspect();
    tasks
        .into_iter()
        .find(|task| &*task.record.kind == "pi.generation")
        .unwrap()
}

type Call = fn(&Harness, SubmissionId, TaskId) -> LocalBoxFuture<'static, ()>;

/// A call by name, that is started and given up after the present turn.
macro_rules! calls {
    ($(|$harness:ident, $submission:ident, $task:ident| $call:expr;)*) => {
        [$((stringify!($call), {
            let call: Call = |harness, $submission, $task| {
                let $harness = harness.clone();
                let _ = ($submission, $task);
                async move {
                    let _given_up = $call;
                }
                .boxed_local()
            };
            call
        })),*]
    };
}

#[test]
fn reading_starts_nothing() {
    let (mut bench, submission, _) = interrupted();
    let task = generation(&bench).record.id;
    let reads = calls![
        |harness, _s, _t| harness.scheduler().inspect();
        |harness, _s, task| harness.session().task(task).await.unwrap();
        |harness, _s, _t| harness.usage().await.unwrap();
        |harness, _s, _t| harness.conversation(ROOT).await.unwrap();
        |harness, _s, _t| harness.conversations(10, None).await.unwrap();
        |harness, _s, _t| harness.conversation_usage(ROOT).await.unwrap();
        |harness, _s, _t| harness.session().snapshot(&LIVE, ROOT).await.unwrap();
        |harness, _s, _t| harness.session().document_state(&USAGE, ROOT).await.unwrap();
        |harness, _s, _t| harness.session().watch_doc(&AGENT, ROOT).await.unwrap();
        |harness, submission, _t| harness.submission(submission).await.unwrap();
        |harness, _s, _t| harness.live_submissions().await.unwrap();
        |harness, _s, _t| harness.agent_state(ROOT).await.unwrap();
        |harness, _s, _t| harness.context(ROOT, None).await.unwrap();
        |harness, _s, _t| harness.entries(ROOT, None, 10, None).await.unwrap();
        |harness, _s, _t| harness.events().snapshot(ROOT).await.unwrap();
        |harness, _s, _t| harness.events().attach(ROOT, None).await.unwrap();
    ];
    for (name, read) in reads {
        bench.run(async move |harness| read(&harness, submission, task).await);
        bench.runtime.settle();
        assert_eq!(
            bench.harness.scheduler().scheduling(),
            Scheduling::Paused,
            "{name}"
        );
        assert_eq!(
            generation(&bench).state,
            TaskInspectionState::Ready { migrates: false },
            "{name}"
        );
    }
}

#[test]
fn every_call_that_asks_for_progress_starts_recovered_work() {
    let calls = calls![
        |harness, _s, _t| harness.submit(ROOT, input("more")).now_or_never();
        |harness, _s, _t| harness.reset(ROOT, None).now_or_never();
        |harness, _s, _t| harness.abort_conversation(ROOT, AbortScope::Foreground).await;
        |harness, submission, _t| futures::poll!(harness.wait_for_submission(submission, None)).is_ready();
        |harness, _s, task| futures::poll!(harness.scheduler().wait_for_task(task)).is_ready();
        |harness, _s, _t| futures::poll!(harness.scheduler().wait_for_idle(None)).is_ready();
        |harness, _s, _t| futures::poll!(harness.scheduler().wait_for_idle(Some(ROOT))).is_ready();
        |harness, _s, _t| harness.resume();
    ];
    for (name, call) in calls {
        let (mut bench, submission, _) = interrupted();
        let task = generation(&bench).record.id;
        bench.run(async move |harness| call(&harness, submission, task).await);
        assert_eq!(
            bench.harness.scheduler().scheduling(),
            Scheduling::Running,
            "{name}"
        );
        bench.runtime.settle();
        // It runs, or has been aborted already.
        let tasks = bench.harness.scheduler().inspect();
        let ready = tasks
            .iter()
            .filter(|task| task.state != TaskInspectionState::Running);
        assert_eq!(ready.count(), 0, "{name}");
        bench.drain();
        assert!(bench.harness.scheduler().inspect().is_empty(), "{name}");
    }
}

#[test]
fn resuming_again_is_nothing_and_after_a_close_it_is_refused() {
    let (mut bench, _, _) = interrupted();
    bench.harness.resume();
    bench.runtime.settle();
    let first = generation(&bench).record;
    bench.harness.resume();
    bench.runtime.settle();
    assert!(
        Rc::ptr_eq(&first, &generation(&bench).record),
        "nothing was written"
    );
    let refused = bench.run(async |harness| {
        harness.session().close().await.unwrap();
        harness.scheduler().try_resume()
    });
    assert!(matches!(refused, Err(SessionError::Closed)));
}

#[test]
fn live_submissions_are_the_queued_and_the_placed_in_order_of_ids() {
    let mut bench = Bench::new();
    bench.settle("settled");
    let placed = bench.submit(SLOW).id;
    let queued = bench.submit("later").id;
    let live = bench
        .run(async |harness| harness.live_submissions().await)
        .unwrap();
    let live: Vec<_> = live
        .iter()
        .map(|record| (record.id, record.is_queued()))
        .collect();
    assert_eq!(live, [(placed, false), (queued, true)]);
}

/// Stands in for the generation.
struct Impostor {
    fails: bool,
}

impl Task for Impostor {
    const NAME: &'static str = "pi.generation";
    const VERSION: u32 = 1;
    type Input = Json;
    type Checkpoint = Json;
    type Outcome = Json;

    fn initial(&self, _: &Json) -> Json {
        Json::Null
    }

    fn wake(&self, _: &Json) -> Wake {
        Wake::Now
    }

    async fn run(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        if self.fails {
            return Err(TaskFault::Failed("not a response".to_owned()));
        }
        runtime.finish(Outcome::Completed(json!("of the impostor"))).await
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}

#[test]
fn the_definition_that_is_installed_when_scheduling_starts_runs() {
    let (mut bench, _, _) = interrupted();
    let task = generation(&bench).record.id;
    let registry = bench.harness.scheduler().registry().clone();
    registry.install(Rc::new(Impostor { fails: false }));
    let record = bench.run(async move |harness| harness.scheduler().wait_for_task(task).await);
    let result = json!("of the impostor");
    assert_eq!(
        record.unwrap().outcome(),
        Some(&TaskOutcome::Completed { result })
    );
}

/// Ends the interrupted run as `ends` does and looks at what is left of it.
fn ends_by(ends: impl AsyncFnOnce(Harness, TaskId) + 'static) -> (Bench, Json) {
    let (mut bench, placed, queued) = interrupted();
    let task = generation(&bench).record.id;
    bench.run(async move |harness| {
        // As a provider would that tells what it has spent so far.
        let reported = harness.session().commit(async |tx| {
            let partial = tx.doc(&LIVE, ROOT).await?.at("generation").at("message");
            partial.at("usage").at("input").set(3)?;
            Ok::<_, SessionError>(())
        });
        reported.await.unwrap();
        ends(harness.clone(), task).await;
        harness.scheduler().wait_for_task(task).await.unwrap();
    });
    let live = bench.run(async |harness| harness.session().snapshot(&LIVE, ROOT).await);
    assert_eq!(
        live.unwrap(),
        Some(Json::empty_object()),
        "run and generation are gone"
    );
    let entries = bench.entries();
    let partial = entries.last().unwrap();
    assert!(
        support::line(partial).starts_with("pi.assistant[aborted]: tide"),
        "{partial}"
    );
    assert_eq!(
        partial.get("byTaskId"),
        None,
        "the scheduler's commit has no task"
    );
    let usage = bench
        .run(async |harness| harness.conversation_usage(ROOT).await)
        .unwrap();
    let spent = usage.get("models").and_then(|models| models.get("scripted/echo"));
    assert_eq!(
        spent.and_then(|spent| spent.get("input")),
        Some(&json!(3)),
        "{usage}"
    );
    assert_eq!(
        status(&bench.submission(queued)),
        "queued",
        "the inbox is left alone"
    );
    let settled = bench.submission(placed);
    assert_eq!(status(&settled), "unanswered");
    (bench, settled)
}

#[test]
fn an_orphaned_generation_leaves_its_partial_and_names_the_reason() {
    let (_, settled) = ends_by(async |harness, task| {
        harness.scheduler().registry().remove("pi.generation");
        harness.scheduler().abort_task(task).await.unwrap();
    });
    assert_eq!(reason(&settled), "missing_task");
}

#[test]
fn a_faulted_generation_leaves_its_partial_and_tells_the_fault() {
    let (_, settled) = ends_by(async |harness, _| {
        let registry = harness.scheduler().registry();
        registry.install(Rc::new(Impostor { fails: true }));
    });
    assert_eq!(reason(&settled), "faulted");
    assert_eq!(settled.get("detail"), Some(&json!("not a response")));
}

/// Runs until it is told to stop, and ends 500 ms later.
struct Work;

impl Task for Work {
    const NAME: &'static str = "test.work";
    const VERSION: u32 = 1;
    type Input = Json;
    type Checkpoint = Json;
    type Outcome = Json;

    fn initial(&self, _: &Json) -> Json {
        json!({ "phase": "works" })
    }

    fn wake(&self, _: &Json) -> Wake {
        Wake::Now
    }

    async fn run(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.signal().aborted().await;
        Ok(())
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.sleep(runtime.now() + 500).await?;
        runtime.finish(Outcome::aborted()).await
    }
}

/// A busy root: a run with a queued input behind it, and background work that owns a conversation with foreground work.
fn busy() -> (Bench, [TaskId; 2]) {
    let mut bench = Bench::new();
    bench.harness.scheduler().registry().install(Rc::new(Work));
    bench.submit(SLOW);
    bench.submit("later");
    let created = bench.run(async |harness| {
        harness
            .session()
            .commit(async |tx| {
                let options = TaskOptions::in_conversation(ROOT).background();
                let background = create(&tx, &Work, &Json::Null, options).await?.id();
                let owned = tx
                    .create_conversation(ConversationOwnership::Task(background))
                    .await?;
                let options = TaskOptions::in_conversation(owned.id);
                let below = create(&tx, &Work, &Json::Null, options).await?.id();
                Ok::<_, SessionError>([background, below])
            })
            .await
    });
    bench.runtime.advance(1_000);
    (bench, created.unwrap())
}

fn abort(bench: &mut Bench, scope: AbortScope) -> u64 {
    let before = bench.runtime.host().now();
    let done = bench.run(async move |harness| harness.abort_conversation_and_wait(ROOT, scope).await);
    done.unwrap();
    bench.runtime.host().now() - before
}

fn live(bench: &Bench) -> Vec<TaskId> {
    let tasks = bench.harness.scheduler().inspect();
    tasks.iter().map(|task| task.record.id).collect()
}

#[test]
fn an_abort_of_a_conversation_ends_its_foreground_and_returns_when_it_is_idle() {
    let (mut bench, background) = busy();
    let options = TaskOptions::in_conversation(ROOT);
    bench.run(async move |harness| {
        let created = harness.session().commit(async move |tx| {
            let created = create(&tx, &Work, &Json::Null, options).await;
            created.map(drop)
        });
        created.await.unwrap();
        let message = json!({ "role": "user", "content": "a note", "timestamp": 1 });
        let entry = EntryDraft::of_messages("app.note", vec![message]);
        harness.submit(ROOT, support::write(entry)).await.unwrap();
    });
    bench.runtime.settle();
    assert_eq!(
        abort(&mut bench, AbortScope::Foreground),
        500,
        "when the last of it had ended"
    );
    assert_eq!(live(&bench), background, "background work is untouched");
    let submissions = bench.run(async |harness| harness.live_submissions().await);
    let left: Vec<_> = submissions
        .unwrap()
        .into_iter()
        .map(|record| record.state)
        .collect();
    let write = SubmissionState::Write(WriteStatus::Queued);
    assert_eq!(left, [write], "queued inputs are withdrawn, writes stay");
}

#[test]
fn an_abort_of_everything_waits_for_what_it_marked_and_for_nothing_later() {
    let (mut bench, _) = busy();
    let session = bench.harness.session().clone();
    // Created in the background while the abort waits.
    bench.harness.session().spawn(async move {
        session.host().sleep_until(session.host().now() + 100).await;
        let options = TaskOptions::in_conversation(ROOT).background();
        let created =
            session.commit(async move |tx| create(&tx, &Work, &Json::Null, options).await.map(drop));
        created.await.unwrap();
    });
    let waited = abort(&mut bench, AbortScope::Everything);
    assert_eq!(waited, 1_000, "the work below, then its owner");
    assert_eq!(
        live(&bench).len(),
        1,
        "the later one is neither marked nor awaited"
    );
    assert!(!bench.harness.scheduler().inspect()[0].record.abort_requested);
}

#[test]
fn an_open_that_fails_closes_its_storage_and_tells_why() {
    for close_fails in [false, true] {
        let (bench, _, _) = interrupted();
        let storage = bench.storage.inner().reopen();
        let storage = Rc::new(tidehold_storage::fault::Countdown::new(storage));
        storage.allow_commits(Some(0), CommitFault::Before);
        if close_fails {
            storage.fail_close();
        }
        let mut bench = bench;
        let (failed, reports) =
            support::try_harness_over(&mut bench.runtime, storage.clone(), &Settings::default());
        let error = failed.map(drop).expect_err("its recovery commit fails");
        assert!(matches!(error, SessionError::Storage(_)), "{error}");
        assert_eq!(error.to_string(), "storage backend failed: injected failure");
        let closed = storage.head().now_or_never().unwrap();
        assert!(closed.is_err(), "the storage is closed");
        let told = reports
            .borrow()
            .iter()
            .filter(|text| text.contains("did not close"))
            .count();
        assert_eq!(told, usize::from(close_fails));
    }
}
