//! Recorded streams: every event with the partial it leaves, and the final message.

use crate::pure::{member, text, typed};
use crate::reader::{Outcome, Tally, same};
use crate::replay::Replay;
use crate::request::context;
use crate::support::VirtualHost;
use futures::StreamExt;
use std::rc::Rc;
use tidehold_delta::{Json, Object};
use tidehold_models::message::{AssistantBlock, AssistantMessage, ToolCall};
use tidehold_models::models::{RequestPurpose, StreamRequest};
use tidehold_models::openai_completions;
use tidehold_models::openai_completions::request::ApiKey;
use tidehold_models::partial::Partial;
use tidehold_models::stream::StreamEvent;
use tidehold_session::signal::AbortController;

pub fn run(tally: &mut Tally) {
    tally.file("sse.openai-completions", |case| {
        let (events, message) = replay(case);
        let named = |outcome: Outcome, what: &str| match outcome {
            Outcome::Differs(how) => Outcome::Differs(format!("{} {what}: {how}", text(case, "name"))),
            other => other,
        };
        let expected = member(case, "events");
        let expected = expected.as_array().expect("events");
        for (index, (actual, expected)) in events.iter().zip(expected).enumerate() {
            if let outcome @ Outcome::Differs(_) = same(&comparable(actual), &comparable(expected)) {
                return named(outcome, &format!("event {index}"));
            }
        }
        if events.len() != expected.len() {
            return named(
                Outcome::Differs(format!("{} events, want {}", events.len(), expected.len())),
                "",
            );
        }
        named(
            same(&comparable(&message), &comparable(&member(case, "message"))),
            "message",
        )
    });
}

fn replay(case: &Json) -> (Vec<Json>, Json) {
    let host = VirtualHost::new();
    let controller = AbortController::new();
    let responses = member(case, "responses").as_array().expect("responses").to_vec();
    let transport = Replay::new(responses, controller.clone());
    let request = StreamRequest {
        model: Rc::new(typed(case, "model")),
        messages: context(&member(case, "context")),
        options: typed(case, "options"),
        purpose: RequestPurpose::Answer,
        ordinal: 1,
        signal: controller.signal(),
    };
    let key = ApiKey::Key("sk-test".to_owned());
    let stream = openai_completions::stream(request, key, transport.clone(), Rc::new(host.clone()));
    let events: Vec<StreamEvent> = host.run(stream.collect());
    let count = member(case, "requestCount").as_u64().expect("a count") as usize;
    assert_eq!(
        transport.requests.borrow().len(),
        count,
        "requests of {}",
        text(case, "name")
    );
    let message = events
        .last()
        .cloned()
        .and_then(StreamEvent::into_terminal)
        .expect("a terminal event");
    (rendered(&events), json_of(&message))
}

/// The events as pi-ai writes them; its live partial has no event for what ours calls an update.
fn rendered(events: &[StreamEvent]) -> Vec<Json> {
    let mut partial = Partial::new();
    let mut out = Vec::new();
    for event in events {
        partial.apply(event);
        let message = partial.message().expect("a message");
        if let Some(fields) = fields(event, &message) {
            let carrier = match event {
                StreamEvent::Done { .. } => "message",
                StreamEvent::Error { .. } => "error",
                _ => "partial",
            };
            out.push(Json::object(
                fields.into_iter().chain([(carrier, json_of(&message))]),
            ));
        }
    }
    out
}

fn fields(event: &StreamEvent, message: &AssistantMessage) -> Option<Vec<(&'static str, Json)>> {
    let (kind, index, more): (&str, Option<usize>, Option<(&'static str, Json)>) = match event {
        StreamEvent::Start { .. } => ("start", None, None),
        StreamEvent::TextStart { content_index, .. } => ("text_start", Some(*content_index), None),
        StreamEvent::ThinkingStart { content_index, .. } => ("thinking_start", Some(*content_index), None),
        StreamEvent::ToolCallStart { content_index, .. } => ("toolcall_start", Some(*content_index), None),
        StreamEvent::TextDelta { content_index, delta } => (
            "text_delta",
            Some(*content_index),
            Some(("delta", Json::from(delta))),
        ),
        StreamEvent::ThinkingDelta { content_index, delta } => (
            "thinking_delta",
            Some(*content_index),
            Some(("delta", Json::from(delta))),
        ),
        StreamEvent::ToolCallDelta { content_index, delta } => (
            "toolcall_delta",
            Some(*content_index),
            Some(("delta", Json::from(delta))),
        ),
        StreamEvent::TextEnd { content_index } => (
            "text_end",
            Some(*content_index),
            Some(("content", content(message, *content_index))),
        ),
        StreamEvent::ThinkingEnd { content_index } => (
            "thinking_end",
            Some(*content_index),
            Some(("content", content(message, *content_index))),
        ),
        StreamEvent::ToolCallEnd {
            content_index,
            tool_call,
        } => (
            "toolcall_end",
            Some(*content_index),
            Some(("toolCall", call_json(tool_call))),
        ),
        StreamEvent::Update(_) => return None,
        StreamEvent::Done { message } => ("done", None, Some(("reason", json_of(&message.stop_reason)))),
        StreamEvent::Error { message } => ("error", None, Some(("reason", json_of(&message.stop_reason)))),
    };
    let mut fields = vec![("type", Json::from(kind))];
    fields.extend(index.map(|index| ("contentIndex", Json::from(index))));
    fields.extend(more);
    Some(fields)
}

fn content(message: &AssistantMessage, index: usize) -> Json {
    match message.content.get(index) {
        Some(AssistantBlock::Text(block)) => Json::from(&block.text),
        Some(AssistantBlock::Thinking(block)) => Json::from(&block.thinking),
        _ => Json::Null,
    }
}

fn call_json(call: &ToolCall) -> Json {
    json_of(&AssistantBlock::ToolCall(call.clone()))
}

fn json_of<T: serde::Serialize>(value: &T) -> Json {
    Json::from_serialize(value).expect("plain data")
}

/// Without what is stamped by the registry, tagged as pi-ai tags it, and without V8's words for syntax errors.
fn comparable(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::array(items.iter().map(comparable)),
        Json::Object(members) => {
            let kept = members
                .iter()
                .filter(|(name, _)| !matches!(&***name, "durationMs" | "role"));
            let kept = kept.map(|(name, member)| match (&**name, member.as_str()) {
                ("argumentsError", Some(error)) => (name.clone(), Json::from(without_syntax_error(error))),
                _ => (name.clone(), comparable(member)),
            });
            Json::Object(kept.collect::<Object>())
        }
        other => other.clone(),
    }
}

fn without_syntax_error(error: &str) -> &str {
    let (reason, rest) = error
        .split_once("\n\nReceived arguments:\n")
        .unwrap_or(("", error));
    if reason == "Tool arguments must be a JSON object" {
        error
    } else {
        rest
    }
}
