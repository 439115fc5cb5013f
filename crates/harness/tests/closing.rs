//! What callers, waits and streams are told when the session closes or fails (spec 4 and 10.1).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use support::{Bench, input};
use tidehold_harness::HarnessError;
use tidehold_harness::agent::AgentChange;
use tidehold_harness::events::hub::Frame;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID, SubmissionId, TaskId};
use tidehold_session::{FailureCause, SessionEnd, SessionError, SessionFailed};
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::{AbortScope, Scheduling};

const ROOT: tidehold_session::ids::ConversationId = ROOT_CONVERSATION_ID;

/// An answer that never comes by itself.
const SLOW: &str = "@wait 9000\n@say late";

#[test]
fn after_a_close_every_operation_rejects_as_closed() {
    let mut bench = Bench::new();
    bench.settle("first");
    bench.run(async |harness| {
        harness.session().close().await.unwrap();
        let (scheduler, events) = (harness.scheduler(), harness.events());
        let of_harness = [
            harness.submit(ROOT, input("late")).await.map(drop),
            harness.root(AgentChange::default()).await.map(drop),
            harness
                .create_conversation(AgentChange::default())
                .await
                .map(drop),
            harness.configure(ROOT, AgentChange::default()).await,
            harness.conversation(ROOT).await.map(drop),
            harness.conversations(1, None).await.map(drop),
            harness.abort_conversation(ROOT, AbortScope::Everything).await,
            harness.reset(ROOT, None).await,
            harness.entries(ROOT, None, 1, None).await.map(drop),
            harness.context(ROOT, None).await.map(drop),
            harness.context(ROOT, Some(EntryId(2))).await.map(drop),
            harness.agent_state(ROOT).await.map(drop),
            harness.conversation_usage(ROOT).await.map(drop),
            harness.usage().await.map(drop),
            harness.live_submissions().await.map(drop),
            harness.submission(SubmissionId(2)).await.map(drop),
            harness.wait_for_submission(SubmissionId(2), None).await.map(drop),
            harness.abort_submission(SubmissionId(2)).await.map(drop),
        ];
        let of_session = [
            scheduler.abort_task(TaskId(2)).await.map(drop),
            scheduler.wait_for_task(TaskId(2)).await.map(drop),
            scheduler.wait_for_idle(None).await,
            scheduler.poke(TaskId(2)).await.map(drop),
            events.attach(ROOT, None).await.map(drop),
            events.snapshot(ROOT).await.map(drop),
        ];
        let of_session = of_session.map(|outcome| outcome.map_err(HarnessError::from));
        for (at, outcome) in of_harness.into_iter().chain(of_session).enumerate() {
            let error = outcome.expect_err("it is closed");
            assert!(error.to_string().contains("closed"), "operation {at}: {error}");
        }
        assert_eq!(scheduler.scheduling(), Scheduling::Closing);
    });
}

#[test]
fn a_close_rejects_pending_waits_and_ends_streams() {
    let mut bench = Bench::new();
    let id = bench.submit(SLOW).id;
    bench.run(async move |harness| {
        let mut reader = harness.events().attach(ROOT, None).await.unwrap();
        let wait = harness.wait_for_submission(id, None);
        let idle = harness.scheduler().wait_for_idle(None);
        let (wait, idle, closed) = futures::join!(wait, idle, harness.session().close());
        closed.unwrap();
        assert!(
            matches!(wait, Err(HarnessError::Session(SessionError::Closed))),
            "{wait:?}"
        );
        assert!(matches!(idle, Err(SessionError::Closed)));
        loop {
            if let Frame::End { reason } = reader.next().await {
                assert_eq!(reason, "session_closed");
                break;
            }
        }
    });
    assert_eq!(bench.reports.borrow().len(), 0);
}

#[test]
fn a_failure_rejects_pending_waits_with_its_cause_ends_streams_and_is_reported_once() {
    let mut bench = Bench::new();
    let id = bench.submit(SLOW).id;
    let storage = bench.storage.clone();
    let text = bench.run(async move |harness| {
        let mut reader = harness.events().attach(ROOT, None).await.unwrap();
        let mut wait = harness.wait_for_submission(id, None);
        assert!((&mut wait).now_or_never().is_none());
        let mut idle = harness.scheduler().wait_for_idle(None);
        assert!((&mut idle).now_or_never().is_none());
        storage.allow_commits(Some(0), CommitFault::Before);
        let hit = harness.submit(ROOT, input("more")).await;
        assert!(matches!(
            hit,
            Err(HarnessError::Session(SessionError::Storage(_)))
        ));
        let late = harness.submission(id).await.map(drop);
        for outcome in [wait.await.map(drop), idle.await.map_err(Into::into), late] {
            let Err(HarnessError::Session(SessionError::Failed(SessionFailed { cause }))) = outcome else {
                panic!("{outcome:?}");
            };
            assert!(matches!(cause, FailureCause::Storage(_)));
        }
        loop {
            if let Frame::End { reason } = reader.next().await {
                assert_eq!(reason, "session_failed");
                break;
            }
        }
        // It closes itself, once the generation has returned.
        match harness.session().closed().await {
            SessionEnd::Failed(failed) => failed.to_string(),
            SessionEnd::Closed => panic!("it failed"),
        }
    });
    assert_eq!(*bench.reports.borrow(), [text]);
}
