//! What is too large for one commit costs neither the session nor anything that was admitted.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

use support::{Bench, input, status, write};
use tidehold_delta::Json;
use tidehold_harness::HarnessError;
use tidehold_harness::limits::{MAX_ANSWER_BYTES, MAX_QUEUED_ITEMS};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::records::EntryDraft;

fn large_write(megabytes: usize) -> EntryDraft {
    EntryDraft {
        kind: "note".into(),
        model: Some(vec![Json::object([
            ("role", Json::from("user")),
            ("content", Json::from("x".repeat(megabytes * 1_000_000))),
            ("timestamp", Json::from(1_u64)),
        ])]),
        ..EntryDraft::default()
    }
}

/// Two million control characters are two megabytes of text and twelve of JSON.
const ESCAPED: &str = "@repeat 1000000 \u{1}\n@wait 1000\n@repeat 1000000 \u{1}\n@wait 1000\n@say end";

#[test]
fn an_answer_too_large_for_its_commit_fails_alone() {
    let mut bench = Bench::new();
    let record = bench.settle(ESCAPED);
    assert_eq!(status(&record), "unanswered");
    assert_eq!(record.get("reason").and_then(Json::as_str), Some("model_error"));
    let detail = record.get("detail").and_then(Json::as_str).unwrap_or_default();
    assert!(detail.contains(&MAX_ANSWER_BYTES.to_string()), "{detail}");
    // What had arrived is kept, up to the limit, and the session goes on.
    let entries = bench.entries();
    let kept = entries
        .last()
        .map(|entry| entry.to_string().len())
        .unwrap_or_default();
    assert!(
        (MAX_ANSWER_BYTES / 2..MAX_ANSWER_BYTES + 1000).contains(&kept),
        "{kept}"
    );
    assert_eq!(status(&bench.settle("@say next")), "done");
}

#[test]
fn an_answer_just_below_the_limit_is_whole() {
    let mut bench = Bench::new();
    let copies = MAX_ANSWER_BYTES / 5 - 1;
    assert_eq!(status(&bench.settle(&format!("@repeat {copies} tide"))), "done");
    let answer = bench.transcript().pop().unwrap();
    assert_eq!(answer.len(), "pi.assistant[stop]: ".len() + copies * 5 - 1);
}

#[test]
fn a_crash_while_a_large_answer_streams_ends_as_without_it() {
    let mut bench = Bench::new();
    let id = bench.submit(ESCAPED).id;
    bench.runtime.advance(1500);
    bench = bench.crash();
    bench.harness.scheduler().on_alarm();
    bench.drain();
    assert_eq!(status(&bench.submission(id)), "unanswered");
    assert_eq!(status(&bench.settle("@say next")), "done");
}

#[test]
fn an_answer_does_not_share_its_fate_with_the_inbox() {
    let mut bench = Bench::new();
    let asked = bench.submit("@wait 6000\n@say the precious answer").id;
    let mut writes = Vec::new();
    for _ in 0..3 {
        let draft = write(large_write(4));
        let admitted = bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await);
        writes.push(admitted.unwrap().id);
    }
    let next = bench.submit("@say next").id;
    bench.drain();
    assert_eq!(status(&bench.submission(asked)), "done");
    for id in writes {
        assert_eq!(status(&bench.submission(id)), "done");
    }
    assert_eq!(status(&bench.submission(next)), "done");
    let order: Vec<String> = bench
        .transcript()
        .iter()
        .map(|line| line.chars().take(24).collect())
        .collect();
    assert_eq!(
        order,
        [
            "pi.user: @wait 6000\n@say",
            "pi.assistant[stop]: the ",
            "note: xxxxxxxxxxxxxxxxxx",
            "note: xxxxxxxxxxxxxxxxxx",
            "note: xxxxxxxxxxxxxxxxxx",
            "pi.user: @say next",
            "pi.assistant[stop]: next",
        ]
    );
}

#[test]
fn what_a_boundary_left_is_placed_after_a_crash() {
    let mut bench = Bench::new();
    bench.submit("@wait 6000\n@say answer");
    let mut writes = Vec::new();
    for _ in 0..3 {
        let draft = write(large_write(4));
        let admitted = bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await);
        writes.push(admitted.unwrap().id);
    }
    // Step by step to the answer's commit, and no further.
    while bench.entries().len() < 2 {
        bench.runtime.advance(1);
    }
    bench = bench.crash();
    bench.harness.scheduler().on_alarm();
    bench.drain();
    for id in writes {
        assert_eq!(status(&bench.submission(id)), "done");
    }
    assert_eq!(status(&bench.settle("@say on")), "done");
}

#[test]
fn an_inbox_has_a_bound_in_items_and_in_bytes() {
    let mut bench = Bench::new();
    bench.submit("@wait 600000\n@say late");
    let mut outcomes = Vec::new();
    for _ in 0..5 {
        let draft = write(large_write(4));
        outcomes.push(bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await));
    }
    let full = |outcome: &Result<_, HarnessError>| matches!(outcome, Err(HarnessError::InboxFull(_)));
    assert_eq!(
        outcomes.iter().map(full).collect::<Vec<_>>(),
        [false, false, false, false, true]
    );
    for outcome in outcomes.into_iter().flatten() {
        let withdrawn = bench.run(async move |harness| harness.abort_submission(outcome.id).await);
        assert!(withdrawn.is_ok());
    }
    for _ in 0..MAX_QUEUED_ITEMS {
        bench.submit("@say one of many");
    }
    let draft = input("@say one too many");
    let refused = bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await);
    assert!(full(&refused));
}

#[test]
fn a_submission_larger_than_a_boundary_is_refused() {
    let mut bench = Bench::new();
    let draft = write(large_write(6));
    let refused = bench.run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await);
    assert!(matches!(refused, Err(HarnessError::Invalid { .. })));
    let root = bench.run(async |harness| harness.conversation(ROOT_CONVERSATION_ID).await);
    assert_eq!(root.unwrap(), None);
}
