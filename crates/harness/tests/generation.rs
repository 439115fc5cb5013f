//! Generation (spec 8.3): answers, failures, retries, deferred answers, recovery.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use support::{Bench, reason, status};
use tidehold_delta::Json;
use tidehold_harness::Settings;
use tidehold_harness::agent::AgentChange;
use tidehold_harness::docs::{LIVE, USAGE};
use tidehold_models::model::ModelRef;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::AbortScope;

#[test]
fn an_input_is_answered_and_the_conversation_is_idle_again() {
    let mut bench = Bench::new();
    let done = bench.settle("Hello there, tide.");
    assert_eq!(status(&done), "done");
    assert_eq!(
        bench.transcript(),
        [
            "pi.user: Hello there, tide.",
            "pi.assistant[stop]: Hello there, tide."
        ]
    );
    let live = bench.run(async |harness| harness.session().snapshot(&LIVE, ROOT_CONVERSATION_ID).await);
    assert_eq!(live.unwrap(), Some(Json::empty_object()));
    assert_eq!(bench.alarm.0.get(), None, "settled work leaves no alarm");
    let usage = bench.run(async |harness| harness.usage().await).unwrap();
    assert!(
        usage
            .total
            .get("models")
            .and_then(|models| models.get("scripted/echo"))
            .is_some()
    );
}

#[test]
fn a_conversation_without_a_model_settles_no_model() {
    let mut bench = Bench::with(Settings::default(), None);
    let failed = bench.settle("hi");
    assert_eq!((status(&failed), reason(&failed)), ("unanswered", "no_model"));
    let unknown = ModelRef {
        provider: "scripted".into(),
        model_id: "nope".into(),
    };
    let mut bench = Bench::with(Settings::default(), Some(unknown));
    let failed = bench.settle("hi");
    assert_eq!(reason(&failed), "no_model");
    assert_eq!(
        failed.get("detail").and_then(Json::as_str),
        Some("Model scripted/nope is not available")
    );
}

#[test]
fn a_provider_error_that_no_retry_helps_settles_model_error() {
    let mut bench = Bench::new();
    let failed = bench.settle("@fail 400 bad request\n@say never");
    assert_eq!((status(&failed), reason(&failed)), ("unanswered", "model_error"));
    assert_eq!(
        failed.get("detail").and_then(Json::as_str),
        Some("400 bad request")
    );
    assert_eq!(bench.alarm.0.get(), None);
    // The failed message stays in the transcript and out of the next request.
    assert_eq!(status(&bench.settle("still here")), "done");
}

#[test]
fn an_overflow_is_never_retried() {
    let mut bench = Bench::new();
    let failed = bench.settle("@overflow\n@say recovered");
    assert_eq!(reason(&failed), "model_error");
}

#[test]
fn retryable_errors_back_off_durably_and_then_answer() {
    let mut bench = Bench::new();
    let id = bench
        .submit("@fail 529 overloaded\n@fail 503 unavailable\n@say ok")
        .id;
    bench.runtime.settle();
    bench.runtime.advance(50);
    assert_eq!(status(&bench.submission(id)), "placed");
    let wake = bench.alarm.0.get().expect("a backoff has a wake");
    assert_eq!(wake, 1_000_000 + 2_000, "the first delay is two seconds");
    bench.runtime.advance(2_000);
    bench.runtime.advance(4_000);
    assert_eq!(status(&bench.submission(id)), "done");
    let transcript = bench.transcript();
    assert_eq!(transcript.len(), 4, "{transcript:?}");
    assert!(
        transcript[1].starts_with("pi.assistant[error]") && transcript[2].starts_with("pi.assistant[error]")
    );
    assert_eq!(transcript[3], "pi.assistant[stop]: ok");
}

#[test]
fn retries_end_with_the_policy() {
    let mut bench = Bench::new();
    let id = bench.submit(&"@fail 500 boom\n".repeat(9)).id;
    bench.drain();
    let failed = bench.submission(id);
    assert_eq!(reason(&failed), "model_error");
    assert_eq!(bench.transcript().len(), 1 + 4, "one attempt and three retries");
}

#[test]
fn a_backoff_survives_a_crash_and_is_not_taken_early() {
    let mut bench = Bench::new();
    let id = bench.submit("@fail 500 boom\n@say ok").id;
    bench.runtime.advance(100);
    let mut bench = bench.crash();
    bench.harness.resume();
    bench.runtime.advance(1_000);
    assert_eq!(status(&bench.submission(id)), "placed");
    bench.runtime.advance(1_500);
    assert_eq!(status(&bench.submission(id)), "done");
}

#[test]
fn a_deferred_answer_is_polled_for() {
    let mut bench = Bench::new();
    let id = bench.submit("@defer 12000\n@say late").id;
    bench.runtime.advance(1_000);
    let mut bench = bench.crash();
    bench.harness.resume();
    bench.runtime.advance(60_000);
    assert_eq!(status(&bench.submission(id)), "done");
    assert!(
        bench
            .transcript()
            .iter()
            .any(|line| line == "pi.assistant[stop]: late")
    );
}

#[test]
fn partials_are_committed_while_the_answer_streams() {
    let mut bench = Bench::new();
    bench.submit("@pace 60\n@repeat 20 tide");
    bench.runtime.advance(500);
    let live = bench
        .run(async |harness| harness.session().snapshot(&LIVE, ROOT_CONVERSATION_ID).await)
        .unwrap();
    let shown = live
        .as_ref()
        .and_then(|live| live.get("generation"))
        .and_then(|it| it.get("message"))
        .cloned();
    let text = shown
        .as_ref()
        .and_then(|it| it.get("content"))
        .and_then(|it| it.index(0))
        .and_then(|it| it.get("text"));
    let text = text.and_then(Json::as_str).expect("a partial").to_owned();
    assert!(text.starts_with("tide tide") && text.len() < 20 * 5, "{text}");
    bench.drain();
    assert_eq!(bench.transcript().len(), 2, "no partial outlives its answer");
}

#[test]
fn an_interrupted_partial_is_its_own_aborted_entry() {
    let mut bench = Bench::new();
    let id = bench.submit("@pace 60\n@repeat 20 tide").id;
    bench.runtime.advance(700);
    let mut bench = bench.crash();
    assert!(
        bench.alarm.0.get().is_some(),
        "an opened session with unsettled work has a wake"
    );
    bench.harness.resume();
    bench.drain();
    assert_eq!(status(&bench.submission(id)), "done");
    let transcript = bench.transcript();
    assert_eq!(transcript.len(), 3, "{transcript:?}");
    assert!(transcript[1].starts_with("pi.assistant[aborted]: tide tide"));
    assert_eq!(
        transcript[2],
        format!("pi.assistant[stop]: {}", ["tide"; 20].join(" "))
    );
    assert_eq!(bench.alarm.0.get(), None);
}

#[test]
fn a_crash_at_any_commit_settles_the_submission_once() {
    let script = "@pace 60\n@repeat 12 tide\n";
    for fault in [CommitFault::Before, CommitFault::After] {
        for commits in 0..12 {
            let mut bench = Bench::new();
            bench.storage.allow_commits(Some(commits), fault);
            let draft = support::input_when(
                script,
                tidehold_harness::submissions::WhenBusy::FollowUp,
                Some("r"),
            );
            let again = draft.clone();
            let first = bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await);
            bench.drain();
            let mut bench = bench.crash();
            bench.harness.resume();
            bench.drain();
            // The client repeats its request, as one does after an error.
            let record = bench
                .run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, again).await)
                .unwrap();
            bench.drain();
            assert_eq!(
                status(&bench.submission(record.id)),
                "done",
                "{fault:?} {commits}"
            );
            if let Ok(first) = first {
                assert_eq!(first.id, record.id);
            }
            let transcript = bench.transcript();
            let answers = transcript
                .iter()
                .filter(|line| line.starts_with("pi.assistant[stop]"))
                .count();
            let inputs = transcript
                .iter()
                .filter(|line| line.starts_with("pi.user"))
                .count();
            assert_eq!((inputs, answers), (1, 1), "{fault:?} {commits}: {transcript:?}");
        }
    }
}

#[test]
fn unavailable_tools_answer_the_call_and_the_run_goes_on() {
    let mut bench = Bench::new();
    let done = bench.settle("@say looking\n@call read {\"path\": \"x\"}\n---\n@say no such tool");
    assert_eq!(status(&done), "done");
    assert_eq!(
        bench.transcript()[2..],
        [
            "pi.tool-result: Tool read is not available.",
            "pi.assistant[stop]: no such tool"
        ]
    );
}

#[test]
fn instructions_become_one_positional_system_entry() {
    let mut bench = Bench::new();
    let agent =
        AgentChange::from_request(&Json::object([("instructions", Json::from("Be brief."))])).unwrap();
    bench.run(async move |harness| harness.root(agent).await).unwrap();
    bench.settle("one");
    bench.settle("two");
    let entries = bench.entries();
    let systems: Vec<_> = entries
        .iter()
        .filter(|entry| entry.get("kind").unwrap().as_str() == Some("pi.system"))
        .collect();
    assert_eq!(systems.len(), 1);
    let sections = systems[0]
        .get("model")
        .unwrap()
        .index(0)
        .unwrap()
        .get("sections")
        .unwrap();
    assert_eq!(
        sections.get("instructions").unwrap().as_str(),
        Some("<instructions>\nBe brief.\n</instructions>")
    );
}

#[test]
fn an_abort_ends_the_run_and_keeps_what_was_said() {
    let mut bench = Bench::new();
    let running = bench.submit("@pace 100\n@repeat 50 tide").id;
    let queued = bench.submit("later").id;
    bench.runtime.advance(1_000);
    bench
        .run(async |harness| {
            harness
                .abort_conversation(ROOT_CONVERSATION_ID, AbortScope::Foreground)
                .await
        })
        .unwrap();
    bench.drain();
    for id in [running, queued] {
        let settled = bench.submission(id);
        assert_eq!((status(&settled), reason(&settled)), ("unanswered", "aborted"));
    }
    assert!(bench.transcript()[1].starts_with("pi.assistant[aborted]: tide"));
    assert_eq!(bench.alarm.0.get(), None);
    assert_eq!(status(&bench.settle("again")), "done");
}

#[test]
fn usage_counts_failed_and_aborted_attempts() {
    let mut bench = Bench::new();
    bench.settle("@usage 10 5\n@say one");
    bench.settle("@usage 7 2\n@fail 400 no such thing");
    // Cut in mid-stream: the interrupted attempt spent what it had reported, its repetition reports again.
    let interrupted = bench.submit("@usage 3 1\n@pace 100\n@repeat 20 tide").id;
    bench.runtime.advance(1000);
    bench = bench.crash();
    bench.harness.scheduler().on_alarm();
    bench.drain();
    assert_eq!(status(&bench.submission(interrupted)), "done");
    let entries = bench.entries();
    let usage = bench
        .run(async |harness| harness.session().snapshot(&USAGE, ROOT_CONVERSATION_ID).await)
        .unwrap()
        .unwrap();
    let stops: Vec<_> = bench.transcript();
    assert!(
        stops.iter().any(|line| line.starts_with("pi.assistant[error]")),
        "{stops:?}"
    );
    assert!(
        stops.iter().any(|line| line.starts_with("pi.assistant[aborted]")),
        "{stops:?}"
    );
    for member in ["input", "output"] {
        let spent = usage.get("models").unwrap().get("scripted/echo").unwrap();
        let told = entries.iter().filter_map(|entry| {
            let message = entry.get("model")?.index(0)?;
            message.get("usage")?.get(member)?.as_u64()
        });
        assert_eq!(spent.get(member).unwrap().as_u64(), Some(told.sum()), "{member}");
    }
    let spent = usage.get("models").unwrap().get("scripted/echo").unwrap();
    assert!(
        spent.get("input").unwrap().as_u64() >= Some(10 + 7 + 3),
        "{spent}"
    );
}

#[test]
fn ten_crashes_in_mid_stream_still_end_in_one_answer_and_do_not_back_off() {
    let mut bench = Bench::new();
    let id = bench.submit("@pace 60\n@repeat 20 tide").id;
    for _ in 0..10 {
        bench.runtime.advance(500);
        bench = bench.crash();
        let wake = bench.alarm.0.get().expect("unsettled work has a wake");
        assert!(
            wake <= bench.runtime.host().now() + 10_000,
            "interrupted work that advances is not put off"
        );
        bench.harness.scheduler().on_alarm();
    }
    bench.drain();
    assert_eq!(status(&bench.submission(id)), "done");
    let transcript = bench.transcript();
    assert_eq!(
        transcript
            .iter()
            .filter(|line| line.starts_with("pi.assistant[aborted]"))
            .count(),
        10
    );
    assert_eq!(
        transcript
            .iter()
            .filter(|line| line.starts_with("pi.assistant[stop]"))
            .count(),
        1
    );
}
