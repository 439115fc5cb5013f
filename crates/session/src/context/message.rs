//! All the kernel knows about a model message (the models crate owns the shapes).
//!
//! Messages come from entries that anyone may write, so every reader here has an answer for any JSON.

use tidehold_delta::{Json, Text};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    System,
    User,
    Assistant,
    ToolResult,
    /// Not a message of ours: kept in place, never paired, never skipped over.
    Unknown,
}

pub(super) fn role(message: &Json) -> Role {
    match text(message, "role") {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult") => Role::ToolResult,
        _ => Role::Unknown,
    }
}

pub(super) fn is_system(message: &Json) -> bool {
    role(message) == Role::System
}

/// Rule 9: an assistant message no provider may see again, as its content is partial or not there yet.
pub(super) fn is_excluded(message: &Json) -> bool {
    role(message) == Role::Assistant
        && matches!(
            text(message, "stopReason"),
            Some("aborted" | "error" | "deferred")
        )
}

/// A tool call of an assistant message.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub id: Text,
    pub name: Text,
}

/// The tool calls of an assistant message in order. A call without an id cannot be answered and is none.
pub(super) fn calls(assistant: &Json) -> Vec<Call> {
    let blocks = assistant.get("content").and_then(Json::as_array);
    blocks
        .into_iter()
        .flat_map(|blocks| blocks.iter())
        .filter_map(call)
        .collect()
}

fn call(block: &Json) -> Option<Call> {
    if text(block, "type") != Some("toolCall") {
        return None;
    }
    Some(Call {
        id: shared(block, "id")?,
        name: shared(block, "name").unwrap_or_else(|| Text::from("")),
    })
}

/// The call a tool result answers.
pub(super) fn answered_call(result: &Json) -> Option<&str> {
    text(result, "toolCallId")
}

/// What the model reads in place of a result that is not in the history.
///
/// Nothing can be said about the call's effect: the history was cut after it (fork, cutoff), its turn was interrupted,
/// or its task faulted. So the text states only what is known, that the history ends before the call completed, and
/// `isError` keeps the model from taking it for the tool's output. Hosts tell it from a real error by `details`.
const MISSING_RESULT: &str = "No result is recorded: the history ends before this call completed.";

/// Rule 8: the error result of a call without one. Never stored.
///
/// It carries its assistant's timestamp: derivation has no clock, and the same history must give the same bytes on
/// every read, or the provider's prompt cache misses.
pub(super) fn missing_result(assistant: &Json, call: &Call) -> Json {
    let content = Json::object([("type", Json::from("text")), ("text", Json::from(MISSING_RESULT))]);
    Json::object([
        ("role", Json::from("toolResult")),
        ("toolCallId", Json::String(call.id.clone())),
        ("toolName", Json::String(call.name.clone())),
        ("content", Json::array([content])),
        (
            "details",
            Json::object([("reason", Json::from("missing_result"))]),
        ),
        ("isError", Json::from(true)),
        (
            "timestamp",
            assistant.get("timestamp").cloned().unwrap_or(Json::from(0u64)),
        ),
    ])
}

fn text<'a>(object: &'a Json, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn shared(object: &Json, key: &str) -> Option<Text> {
    match object.get(key)? {
        Json::String(text) => Some(text.clone()),
        _ => None,
    }
}
