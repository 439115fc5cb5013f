//! The edits of a growing message, applied to a copy, give the message.

use tidehold_delta::{Json, Segment};
use tidehold_models::changes::Changes;
use tidehold_models::message::{AssistantMessage, Message, StopReason, TextContent, ToolCall, Usage};
use tidehold_models::partial::Partial;
use tidehold_models::stream::{StreamEvent, Update};
use tidehold_models::tool_arguments::Change;

fn start() -> StreamEvent {
    StreamEvent::Start {
        message: Box::new(AssistantMessage::pending("scripted", "p", "m", 1)),
    }
}

fn text(delta: &str) -> StreamEvent {
    StreamEvent::TextDelta {
        content_index: 0,
        delta: delta.into(),
    }
}

fn piece(delta: &str) -> StreamEvent {
    StreamEvent::ToolCallDelta {
        content_index: 1,
        delta: delta.into(),
    }
}

fn text_start() -> StreamEvent {
    StreamEvent::TextStart {
        content_index: 0,
        block: TextContent::default(),
    }
}

fn call_start() -> StreamEvent {
    StreamEvent::ToolCallStart {
        content_index: 1,
        block: Box::new(ToolCall::open("", "t")),
    }
}

/// Puts a value at a path whose parents exist.
fn edited(value: &Json, path: &[Segment], new: &dyn Fn(Option<&Json>) -> Json) -> Json {
    let Some((segment, rest)) = path.split_first() else {
        return new(Some(value));
    };
    match (segment, value) {
        (Segment::Key(key), Json::Object(members)) => {
            let mut members = members.clone();
            let child = members.get(key).cloned();
            let edit = child
                .as_ref()
                .map_or_else(|| new(None), |child| edited(child, rest, new));
            members.insert(key.clone(), edit);
            Json::Object(members)
        }
        (Segment::Index(index), Json::Array(items)) => {
            let mut items = items.clone();
            let index = *index as usize;
            match items.get(index).cloned() {
                Some(child) => drop(items.set(index, edited(&child, rest, new))),
                None => items.push_back(new(None)),
            }
            Json::Array(items)
        }
        _ => unreachable!("{segment:?} leads nowhere in {value}"),
    }
}

fn apply(copy: &Json, change: &Change) -> Json {
    match change {
        Change::Set { path, value } => edited(copy, path, &|_| value.clone()),
        Change::Append { path, text } => edited(copy, path, &|old| {
            Json::from(
                old.and_then(Json::as_str)
                    .expect("a text to append to")
                    .to_owned()
                    + text,
            )
        }),
    }
}

#[track_caller]
fn check(events: &[StreamEvent]) {
    for every in [1, 3, events.len()] {
        let (mut changes, mut partial, mut copy) = (Changes::new(), Partial::new(), Json::Null);
        for (index, event) in events.iter().enumerate() {
            changes.apply(event);
            partial.apply(event);
            if (index + 1) % every == 0 || index + 1 == events.len() {
                copy = changes
                    .take()
                    .iter()
                    .fold(copy, |copy, change| apply(&copy, change));
                let expected =
                    Json::from_serialize(&Message::Assistant(partial.message().expect("a message")))
                        .expect("plain data");
                assert_eq!(copy, expected, "after {index}, taken every {every}");
            }
        }
    }
}

#[test]
fn edits_follow_the_partial() {
    check(&[
        start(),
        text_start(),
        text("a "),
        text("b"),
        StreamEvent::Update(Update::ResponseId("r".into())),
        call_start(),
        piece("{\"x\": {\"y\": \"one "),
        text(" c"),
        piece("two\", \"z\": [\"1\", \"2\"]}"),
        StreamEvent::Update(Update::ToolCallId {
            content_index: 1,
            id: "c".into(),
        }),
        StreamEvent::Update(Update::Usage(Box::new(Usage {
            input: 3,
            ..Usage::zero()
        }))),
        StreamEvent::Update(Update::Stopping {
            reason: StopReason::Stop,
            raw: "stop".into(),
            error: None,
        }),
        piece("}"),
        StreamEvent::ToolCallEnd {
            content_index: 1,
            tool_call: Box::new(ToolCall::open("c", "t")),
        },
    ]);
}

#[test]
fn arguments_that_paths_cannot_name_are_told_whole() {
    check(&[
        start(),
        text_start(),
        call_start(),
        piece("{\"a\": \"1\", \"__proto__\": {\"b\": \"2"),
        piece("3\"}, \"c\": \"4"),
        piece("\"}"),
    ]);
    check(&[
        start(),
        text_start(),
        call_start(),
        piece("[1, \"2"),
        piece("3\"]"),
    ]);
}

#[test]
fn pieces_between_two_publications_are_one_edit() {
    let mut changes = Changes::new();
    for event in [start(), text_start()] {
        changes.apply(&event);
    }
    changes.take();
    for _ in 0..1000 {
        changes.apply(&text("ab "));
    }
    let taken = changes.take();
    assert!(
        matches!(taken.as_slice(), [Change::Append { text, .. }] if text.len() == 3000),
        "{} edits",
        taken.len()
    );
    assert!(changes.take().is_empty());
}
