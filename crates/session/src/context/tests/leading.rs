//! Rule 10: which system message leads.

use super::*;

/// Behaviours 14.
#[test]
fn a_first_system_message_after_user_messages_only_leads() {
    let mut transcript = Transcript::default();
    let input = transcript.say(user("hi"));
    let more = transcript.say(user("there"));
    let prompt = transcript.prompt("preamble");
    transcript.say(answer("hello"));
    let view = transcript.context();
    assert_eq!(
        show(&view.messages),
        ["system:preamble", "user:hi", "user:there", "assistant:hello"]
    );
    assert_eq!(
        ids(&view)[..3],
        [input, more, prompt],
        "the entries keep the committed order"
    );
    assert_eq!(
        view.contributions[..3],
        [vec![user("hi")], vec![user("there")], vec![system("preamble")]].map(Rc::from)
    );
}

/// The clause on user messages asks for no kind, and nothing of the excluded or dropped is in the way.
#[test]
fn only_messages_that_are_sent_precede() {
    let mut transcript = Transcript::default();
    transcript.say(result("x", "stray"));
    transcript.say(assistant("partial", &[], "error"));
    transcript.say(user("hi"));
    transcript.say(system("of another kind"));
    assert_eq!(transcript.messages(), ["system:of another kind", "user:hi"]);
}

/// Behaviours 14: only the first one moves.
#[test]
fn later_system_messages_stay_in_place() {
    let mut transcript = Transcript::default();
    transcript.say(user("hi"));
    transcript.prompt("first");
    transcript.say(user("more"));
    transcript.prompt("second");
    assert_eq!(
        transcript.messages(),
        ["system:first", "user:hi", "user:more", "system:second"]
    );
}

/// Behaviours 15: kept history, assistant messages included, precedes the new baseline.
#[test]
fn the_baseline_after_a_head_marker_leads() {
    let mut transcript = Transcript::default();
    let old = transcript.prompt("old");
    let kept = transcript.say(user("kept"));
    let delta = transcript.prompt("delta");
    transcript.say(calling("calling", &["x"]));
    transcript.say(result("x", "X"));
    transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    transcript.say(user("next"));
    transcript.append(EntryDraft {
        kind: "pi.system".into(),
        model: Some(vec![system("baseline")]),
        edits: Some(vec![omit(old), omit(delta)]),
        ..EntryDraft::default()
    });
    transcript.say(answer("done"));
    transcript.prompt("later");
    let expected = [
        "system:baseline",
        "user:summary",
        "user:kept",
        "assistant:calling",
        "result:x:X",
        "user:next",
        "assistant:done",
        "system:later",
    ];
    assert_eq!(transcript.messages(), expected);
}

/// Kept history with an assistant, then the baseline.
fn rebaselined() -> (Transcript, EntryId, EntryId) {
    let mut transcript = Transcript::default();
    let kept = transcript.say(answer("kept"));
    transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    let baseline = transcript.prompt("baseline");
    (transcript, kept, baseline)
}

/// Behaviours 15: an edited baseline is no longer what generation wrote.
#[test]
fn an_edited_baseline_does_not_lead() {
    let (mut transcript, _, baseline) = rebaselined();
    assert_eq!(
        transcript.messages(),
        ["system:baseline", "user:summary", "assistant:kept"]
    );
    transcript.edit(vec![replace(baseline, [system("patched")])]);
    assert_eq!(
        transcript.messages(),
        ["user:summary", "assistant:kept", "system:patched"]
    );
    transcript.edit(vec![omit(baseline)]);
    assert_eq!(transcript.messages(), ["user:summary", "assistant:kept"]);
    transcript.prompt("second");
    assert_eq!(
        transcript.messages(),
        ["user:summary", "assistant:kept", "system:second"],
        "the second pi.system entry is not the baseline"
    );
}

/// Behaviours 16.
#[test]
fn a_retained_system_message_ahead_of_the_baseline_keeps_it_from_leading() {
    let mut transcript = Transcript::default();
    let kept = transcript.say(answer("kept"));
    let custom = transcript.say(system("custom"));
    transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    transcript.prompt("baseline");
    assert_eq!(
        transcript.messages(),
        [
            "user:summary",
            "assistant:kept",
            "system:custom",
            "system:baseline"
        ]
    );
    transcript.edit(vec![omit(custom)]);
    assert_eq!(
        transcript.messages(),
        ["system:baseline", "user:summary", "assistant:kept"]
    );
}

/// Rule 10: a retained `pi.system` entry is before the marker and so not the baseline.
#[test]
fn a_retained_prompt_is_not_the_baseline() {
    let mut transcript = Transcript::default();
    let kept = transcript.say(answer("kept"));
    transcript.prompt("retained");
    transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    assert_eq!(
        transcript.messages(),
        ["user:summary", "assistant:kept", "system:retained"]
    );
}

/// Rule 10: a marker with a system message of its own leads anyway.
#[test]
fn a_system_message_of_the_marker_is_the_first() {
    let mut transcript = Transcript::default();
    let kept = transcript.say(answer("kept"));
    transcript.head(DraftHead::Entry(kept), vec![user("summary"), system("marker")]);
    transcript.prompt("baseline");
    assert_eq!(
        transcript.messages(),
        [
            "system:marker",
            "user:summary",
            "assistant:kept",
            "system:baseline"
        ]
    );
}

/// Rule 10: the baseline comes after the marker, whatever kind that has.
#[test]
fn the_marker_itself_is_not_the_baseline() {
    let mut transcript = Transcript::default();
    let kept = transcript.say(answer("kept"));
    transcript.append(EntryDraft {
        kind: "pi.system".into(),
        model: Some(vec![user("summary")]),
        head: Some(DraftHead::Entry(kept)),
        ..EntryDraft::default()
    });
    transcript.prompt("baseline");
    assert_eq!(
        transcript.messages(),
        ["system:baseline", "user:summary", "assistant:kept"]
    );
}

/// Rule 10 without a marker: an agent that answered without a prompt gets one.
#[test]
fn without_a_marker_the_first_prompt_is_the_baseline() {
    let mut transcript = Transcript::default();
    transcript.say(user("hi"));
    transcript.say(answer("hello"));
    let baseline = transcript.prompt("baseline");
    transcript.prompt("delta");
    assert_eq!(
        transcript.messages(),
        ["system:baseline", "user:hi", "assistant:hello", "system:delta"]
    );
    transcript.edit(vec![replace(baseline, [system("patched")])]);
    assert_eq!(
        transcript.messages(),
        ["user:hi", "assistant:hello", "system:patched", "system:delta"],
        "edited like with a marker"
    );
}

/// Rule 10 without a marker: generation then wrote a delta only.
#[test]
fn without_a_marker_an_earlier_system_message_means_there_is_no_baseline() {
    let mut transcript = Transcript::default();
    transcript.say(user("hi"));
    transcript.say(answer("hello"));
    let custom = transcript.say(system("custom"));
    transcript.prompt("delta");
    assert_eq!(
        transcript.messages(),
        ["user:hi", "assistant:hello", "system:custom", "system:delta"]
    );
    transcript.edit(vec![omit(custom)]);
    assert_eq!(
        transcript.messages(),
        ["user:hi", "assistant:hello", "system:delta"],
        "even one an edit omits later"
    );
}

/// Rule 10 without a marker: the earlier system message came with an edit.
#[test]
fn without_a_marker_an_earlier_replacement_with_a_system_message_means_there_is_no_baseline() {
    let mut transcript = Transcript::default();
    let hi = transcript.say(user("hi"));
    transcript.say(answer("hello"));
    transcript.edit(vec![replace(hi, [user("hi"), system("custom")])]);
    transcript.prompt("delta");
    transcript.edit(vec![replace(hi, [user("hi v2")])]);
    assert_eq!(
        transcript.messages(),
        ["user:hi v2", "assistant:hello", "system:delta"]
    );
}

/// A replacement made after the baseline was written says nothing about how complete that was.
#[test]
fn without_a_marker_a_later_replacement_leaves_the_baseline() {
    let mut transcript = Transcript::default();
    let hi = transcript.say(user("hi"));
    let hello = transcript.say(answer("hello"));
    transcript.prompt("baseline");
    transcript.edit(vec![replace(hello, [answer("hello"), system("custom")])]);
    assert_eq!(
        transcript.messages(),
        ["user:hi", "assistant:hello", "system:custom", "system:baseline"]
    );
    transcript.edit(vec![replace(hello, [answer("hello v2")]), omit(hi)]);
    assert_eq!(transcript.messages(), ["system:baseline", "assistant:hello v2"]);
}

/// Anything but user messages in front is in the way, also what is no message at all.
#[test]
fn an_unknown_message_in_front_keeps_the_first_system_message_in_place() {
    let mut transcript = Transcript::default();
    transcript.say(Json::object([("role", Json::from("custom"))]));
    transcript.say(system("other"));
    assert_eq!(transcript.messages(), ["custom:", "system:other"]);
}
