//! Rules 6 to 8: results follow their calls.

use super::*;

/// Behaviours 10, rules 6 and 7.
#[test]
fn results_follow_their_assistant_in_call_order() {
    let mut transcript = Transcript::default();
    transcript.prompt("preamble");
    transcript.say(user("go"));
    transcript.say(calling("calling", &["a", "b", "c"]));
    transcript.say(result("c", "C"));
    transcript.prompt("cwd");
    transcript.say(result("a", "A"));
    transcript.say(user("meanwhile"));
    transcript.say(result("b", "B"));
    transcript.say(answer("done"));
    let expected = [
        "system:preamble",
        "user:go",
        "assistant:calling",
        "result:a:A",
        "result:b:B",
        "result:c:C",
        "system:cwd",
        "user:meanwhile",
        "assistant:done",
    ];
    assert_eq!(transcript.messages(), expected);
}

/// Behaviours 11, rule 8: the exact message.
#[test]
fn a_call_without_a_result_gets_an_error_result() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x"]));
    let text = "No result is recorded: the history ends before this call completed.";
    let expected = Json::object([
        ("role", Json::from("toolResult")),
        ("toolCallId", Json::from("x")),
        ("toolName", Json::from("tool-x")),
        (
            "content",
            Json::array([Json::object([
                ("type", Json::from("text")),
                ("text", Json::from(text)),
            ])]),
        ),
        (
            "details",
            Json::object([("reason", Json::from("missing_result"))]),
        ),
        ("isError", Json::from(true)),
        ("timestamp", Json::from(7u64)),
    ]);
    assert_eq!(transcript.context().messages.get(1), Some(&expected));
}

/// Behaviours 11, rule 8: a fork cut, an interrupted turn in the middle, a faulted tool among others, the tail.
#[test]
fn error_results_stand_where_the_missing_ones_would() {
    let mut transcript = Transcript::default();
    transcript.say(user("go"));
    transcript.say(calling("one", &["x", "y"]));
    transcript.say(result("y", "Y"));
    let interrupted = transcript.say(calling("two", &["z"]));
    transcript.say(user("stop that"));
    transcript.say(calling("three", &["t"]));
    let expected = [
        "user:go",
        "assistant:one",
        "result:x:missing",
        "result:y:Y",
        "assistant:two",
        "result:z:missing",
        "user:stop that",
        "assistant:three",
        "result:t:missing",
    ];
    assert_eq!(transcript.messages(), expected);
    assert_eq!(show(&transcript.context_at(interrupted).messages), &expected[..6]);
}

/// A result an edit omits is missing like any other.
#[test]
fn an_omitted_result_is_synthesized() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x"]));
    let huge = transcript.say(result("x", "huge"));
    transcript.edit(vec![omit(huge)]);
    assert_eq!(transcript.messages(), ["assistant:calling", "result:x:missing"]);
}

/// Behaviours 12, rule 8.
#[test]
fn results_without_a_preceding_call_are_dropped() {
    let mut transcript = Transcript::default();
    transcript.say(result("early", "no assistant yet"));
    transcript.say(user("go"));
    transcript.say(result("x", "before its call"));
    transcript.say(calling("calling", &["x"]));
    transcript.say(result("other", "never called"));
    transcript.say(answer("done"));
    transcript.say(result("x", "after the next assistant"));
    assert_eq!(
        transcript.messages(),
        [
            "user:go",
            "assistant:calling",
            "result:x:missing",
            "assistant:done"
        ]
    );
}

/// Behaviours 12: a head between a call and its results leaves results that are not sent.
#[test]
fn results_a_head_cut_from_their_call_are_dropped() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x", "y"]));
    transcript.say(result("x", "X"));
    let cut = transcript.say(result("y", "Y"));
    transcript.head(DraftHead::Entry(cut), Vec::new());
    let view = transcript.context();
    assert_eq!(view.entries.len(), 2);
    assert_eq!(view.messages, []);
}

/// Behaviours 12.
#[test]
fn the_first_of_two_results_for_a_call_counts() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x"]));
    transcript.say(result("x", "first"));
    transcript.say(result("x", "second"));
    assert_eq!(transcript.messages(), ["assistant:calling", "result:x:first"]);
}

/// Behaviours 13, rule 7: pairing is positional.
#[test]
fn an_id_reused_in_a_later_turn_is_another_call() {
    let mut transcript = Transcript::default();
    transcript.say(calling("one", &["call_0"]));
    transcript.say(result("call_0", "first"));
    transcript.say(calling("two", &["call_0"]));
    transcript.say(calling("three", &["call_0"]));
    transcript.say(result("call_0", "third"));
    let expected = [
        "assistant:one",
        "result:call_0:first",
        "assistant:two",
        "result:call_0:missing",
        "assistant:three",
        "result:call_0:third",
    ];
    assert_eq!(transcript.messages(), expected);
}

#[test]
fn calls_of_one_assistant_with_one_id_take_one_result_each() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x", "y", "x", "x"]));
    transcript.say(result("x", "1"));
    transcript.say(result("x", "2"));
    let expected = [
        "assistant:calling",
        "result:x:1",
        "result:y:missing",
        "result:x:2",
        "result:x:missing",
    ];
    assert_eq!(transcript.messages(), expected);
}

/// Rule 9 before rule 7: no request has an excluded assistant, so it neither ends a window nor calls anything.
#[test]
fn an_excluded_assistant_does_not_come_between_a_call_and_its_result() {
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &["x"]));
    transcript.say(assistant("partial", &["p"], "aborted"));
    transcript.say(result("p", "P"));
    transcript.say(result("x", "X"));
    assert_eq!(transcript.messages(), ["assistant:calling", "result:x:X"]);
}

/// One entry may hold a whole exchange.
#[test]
fn messages_of_one_entry_are_paired_like_those_of_many() {
    let messages = vec![
        calling("calling", &["a", "b"]),
        user("meanwhile"),
        result("b", "B"),
        result("a", "A"),
    ];
    let mut transcript = Transcript::default();
    transcript.append(EntryDraft::of_messages("import", messages));
    assert_eq!(
        transcript.messages(),
        ["assistant:calling", "result:a:A", "result:b:B", "user:meanwhile"]
    );
}

/// A quadratic derivation would take minutes here.
#[test]
fn a_turn_with_many_calls_takes_linear_time() {
    const CALLS: usize = 50_000;
    let names: Vec<String> = (0..CALLS).map(|n| format!("call_{n}")).collect();
    let calls: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut transcript = Transcript::default();
    transcript.say(calling("calling", &calls));
    for call in calls.iter().rev() {
        transcript.say(result(call, call));
        transcript.say(user("meanwhile"));
    }
    let same = vec!["same"; CALLS];
    transcript.say(calling("again", &same));
    for _ in &same {
        transcript.say(result("same", "same"));
    }
    let messages = transcript.messages();
    assert_eq!(messages.len(), 2 + 3 * CALLS);
    for (message, call) in messages.iter().skip(1).zip(&calls) {
        assert_eq!(*message, format!("result:{call}:{call}"));
    }
    assert!(!messages.iter().any(|message| message.ends_with("missing")));
}
