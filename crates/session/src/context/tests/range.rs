//! Rules 1 to 5 and 9: which entries, and what each contributes.

use super::*;

/// Behaviours 1.
#[test]
fn a_transcript_without_a_head_is_its_own_context() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("hi"));
    let second = transcript.say(answer("hello"));
    let view = transcript.context();
    assert_eq!(view.head, None);
    assert_eq!(ids(&view), [first, second]);
    assert_eq!(show(&view.messages), ["user:hi", "assistant:hello"]);
}

#[test]
fn an_empty_transcript_has_an_empty_context() {
    assert_eq!(Transcript::default().context(), ContextView::default());
}

/// Behaviours 2, rules 1, 2 and 5.
#[test]
fn the_head_marker_comes_first_and_older_markers_drop_out() {
    let mut transcript = Transcript::default();
    transcript.say(user("old"));
    let kept = transcript.say(answer("kept"));
    transcript.head(DraftHead::Entry(kept), vec![user("older summary")]);
    let between = transcript.say(user("between"));
    let marker = transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    let after = transcript.say(answer("after"));

    let view = transcript.context();
    assert_eq!(view.head.as_ref().map(|head| head.id), Some(marker));
    assert_eq!(ids(&view), [marker, kept, between, after]);
    assert_eq!(
        show(&view.messages),
        [
            "user:summary",
            "assistant:kept",
            "user:between",
            "assistant:after"
        ]
    );
}

/// Behaviours 3, rule 2.
#[test]
fn a_self_head_leaves_only_itself_and_what_follows() {
    let mut transcript = Transcript::default();
    transcript.say(user("old"));
    let reset = transcript.head(DraftHead::Itself, vec![user("fresh")]);
    let after = transcript.say(answer("after"));
    let view = transcript.context();
    assert_eq!(view.head.as_ref().and_then(|head| head.head), Some(reset));
    assert_eq!(ids(&view), [reset, after]);
    assert_eq!(show(&view.messages), ["user:fresh", "assistant:after"]);
}

/// Rule 5: the marker may be handed over alone, its place and its edits are the same.
#[test]
fn a_marker_left_out_of_the_range_changes_nothing() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    let second = transcript.say(user("second"));
    transcript.append(EntryDraft {
        kind: "marker".into(),
        model: Some(vec![user("summary")]),
        head: Some(DraftHead::Entry(first)),
        edits: Some(vec![omit(first), replace(second, [user("second v2")])]),
        ..EntryDraft::default()
    });
    transcript.edit(vec![replace(second, [user("second v3")])]);
    let (marker, mut range) = transcript.range_at(EntryId(u64::MAX));
    range.retain(|entry| entry.head.is_none());
    assert_eq!(derive_context(marker, range), transcript.context());
    assert_eq!(transcript.messages(), ["user:summary", "user:second v3"]);
}

/// Behaviours 4, rules 1 to 4: a fork at an entry sees what the parent's context at that cutoff shows.
#[test]
fn a_cutoff_and_a_fork_there_have_the_same_context() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    transcript.edit(vec![replace(first, [user("edited")])]);
    transcript.head(DraftHead::Itself, vec![user("fresh")]);
    let kept = transcript.say(calling("kept", &["x"]));
    transcript.say(result("x", "done"));
    transcript.head(DraftHead::Entry(kept), vec![user("summary")]);
    transcript.say(user("later"));

    for at in transcript.entries.iter().map(|entry| entry.id) {
        let inherited = transcript
            .entries
            .iter()
            .filter(|entry| entry.id <= at)
            .cloned()
            .collect();
        let fork = Transcript { entries: inherited };
        assert_eq!(transcript.context_at(at), fork.context());
    }
    assert_eq!(show(&transcript.context_at(first).messages), ["user:first"]);
    assert_eq!(show(&transcript.context_at(EntryId(2)).messages), ["user:edited"]);
    let open = show(&transcript.context_at(kept).messages);
    assert_eq!(open, ["user:fresh", "assistant:kept", "result:x:missing"]);
}

/// Behaviours 6, rule 4.
#[test]
fn newest_edit_of_a_target_wins() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    let second = transcript.say(user("second"));
    transcript.edit(vec![replace(first, [user("first v2")]), omit(second)]);
    transcript.edit(vec![replace(first, [user("first v3"), user("and more")])]);
    assert_eq!(transcript.messages(), ["user:first v3", "user:and more"]);
    transcript.edit(vec![omit(first), replace(second, [user("second v2")])]);
    let view = transcript.context();
    assert_eq!(show(&view.messages), ["user:second v2"]);
    assert_eq!(view.entries.len(), 5, "edits leave the raw entries alone");
}

#[test]
fn the_later_of_two_edits_in_one_entry_wins() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    transcript.edit(vec![omit(first), replace(first, [user("kept after all")])]);
    assert_eq!(transcript.messages(), ["user:kept after all"]);
}

/// Rule 4: edits of older markers count although rule 5 drops these entries (spec 8.7), and so do the marker's own.
#[test]
fn markers_in_the_range_carry_edits_and_can_be_edited() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    let second = transcript.say(user("second"));
    let edits = |edits| EntryDraft {
        kind: "marker".into(),
        head: Some(DraftHead::Entry(first)),
        edits: Some(edits),
        ..EntryDraft::default()
    };
    transcript.append(edits(vec![omit(first)]));
    let marker = transcript.append(edits(vec![replace(second, [user("second v2")])]));
    assert_eq!(transcript.messages(), ["user:second v2"]);
    transcript.edit(vec![replace(marker, [user("summary")])]);
    assert_eq!(transcript.messages(), ["user:summary", "user:second v2"]);
}

/// Behaviours 7, rule 4: neither from before the head's target nor from after the cutoff.
#[test]
fn an_edit_outside_the_range_has_no_effect() {
    let mut transcript = Transcript::default();
    let cut = transcript.say(user("cut"));
    transcript.edit(vec![replace(cut, [user("cut v2")])]);
    let kept = transcript.say(user("kept"));
    transcript.edit(vec![omit(kept)]);
    assert_eq!(
        show(&transcript.context_at(kept).messages),
        ["user:cut v2", "user:kept"]
    );

    transcript.head(DraftHead::Entry(kept), Vec::new());
    transcript.edit(vec![replace(cut, [user("cut v3")])]);
    assert_eq!(
        transcript.messages(),
        Vec::<String>::new(),
        "a target outside gives nothing either"
    );

    // Whatever an edit targets, only the range's edits count.
    let (_, range) = transcript.range_at(kept);
    let range = range.into_iter().filter(|entry| entry.edits.is_none()).collect();
    assert_eq!(
        show(&derive_context(None, range).messages),
        ["user:cut", "user:kept"]
    );
}

/// Behaviours 8, rule 9.
#[test]
fn assistants_that_did_not_finish_are_excluded() {
    let mut transcript = Transcript::default();
    transcript.say(user("q"));
    for reason in ["aborted", "error", "deferred", "length", "stop", "toolUse"] {
        transcript.say(assistant(reason, &[], reason));
    }
    let view = transcript.context();
    assert_eq!(view.entries.len(), 7, "the raw entries stay");
    assert_eq!(
        show(&view.messages),
        [
            "user:q",
            "assistant:length",
            "assistant:stop",
            "assistant:toolUse"
        ]
    );
}

/// Rule 9 looks at messages, not entries, and at what a replacement brings too.
#[test]
fn exclusion_is_per_message_and_after_edits() {
    let mut transcript = Transcript::default();
    let partial = assistant("partial", &[], "aborted");
    let both = transcript.append(EntryDraft::of_messages(
        "message",
        vec![user("a"), partial.clone()],
    ));
    assert_eq!(transcript.messages(), ["user:a"]);
    transcript.edit(vec![replace(both, [partial, answer("whole")])]);
    assert_eq!(transcript.messages(), ["assistant:whole"]);
}

/// Behaviours 9, rule 9.
#[test]
fn model_less_entries_are_listed_and_contribute_nothing() {
    let mut transcript = Transcript::default();
    let hi = transcript.say(user("hi"));
    let note = transcript.note();
    let empty = transcript.append(EntryDraft::of_messages("message", Vec::new()));
    let view = transcript.context();
    assert_eq!(ids(&view), [hi, note, empty]);
    assert_eq!(
        view.contributions,
        [vec![user("hi")], vec![], vec![]].map(Rc::from)
    );
    assert_eq!(view.messages, [user("hi")]);
}

/// Rule 4 before rule 9: a replacement stands for its target whole, whatever that had.
#[test]
fn a_replaced_model_less_entry_contributes() {
    let mut transcript = Transcript::default();
    let note = transcript.note();
    transcript.edit(vec![replace(note, [user("now said")])]);
    assert_eq!(transcript.messages(), ["user:now said"]);
}

/// Behaviours 17: `contributions` after edits and rule 9, before rules 7, 8 and 10.
#[test]
fn contributions_are_edited_and_filtered_but_not_reordered() {
    let mut transcript = Transcript::default();
    let first = transcript.say(user("first"));
    transcript.prompt("tools");
    transcript.say(calling("calling", &["a", "b"]));
    transcript.say(user("meanwhile"));
    transcript.say(result("b", "B"));
    transcript.say(result("stray", "S"));
    transcript.say(assistant("cut", &[], "aborted"));
    transcript.edit(vec![replace(first, [user("first v2")])]);

    let view = transcript.context();
    let contributions: Vec<_> = view
        .contributions
        .iter()
        .map(|messages| show(messages).join(" "))
        .collect();
    let expected = [
        "user:first v2",
        "system:tools",
        "assistant:calling",
        "user:meanwhile",
        "result:b:B",
        "result:stray:S",
        "",
        "",
    ];
    assert_eq!(contributions, expected);
    assert_eq!(view.entries.len(), view.contributions.len());
    let expected = [
        "system:tools",
        "user:first v2",
        "assistant:calling",
        "result:a:missing",
        "result:b:B",
        "user:meanwhile",
    ];
    assert_eq!(show(&view.messages), expected);
}

/// Messages come from entries that anyone may write: anything odd stays where it is.
#[test]
fn messages_of_another_shape_stay_in_place() {
    let mut transcript = Transcript::default();
    let odd = [
        Json::Null,
        Json::from("text"),
        Json::object([("role", Json::from(3u64))]),
        Json::object([("role", Json::from("assistant"))]),
        Json::object([("role", Json::from("assistant")), ("content", Json::from("text"))]),
        Json::object([("role", Json::from("custom"))]),
    ];
    transcript.append(EntryDraft::of_messages("message", odd.to_vec()));
    transcript.say(Json::object([("role", Json::from("toolResult"))]));
    assert_eq!(transcript.context().messages, odd);
}
