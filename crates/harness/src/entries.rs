//! Built-in entry kinds (spec 8.1) and the drafts the harness writes.

use tidehold_delta::{Json, Text};
use tidehold_models::message::{AssistantMessage, Message};
use tidehold_session::SessionError;
use tidehold_session::host::Millis;
use tidehold_session::records::{DraftHead, EntryDraft};

pub const USER: &str = "pi.user";
pub const ASSISTANT: &str = "pi.assistant";
pub const SYSTEM: &str = "pi.system";
pub const TOOL_RESULT: &str = "pi.tool-result";
pub const RESET: &str = "pi.reset";

/// Kinds with this prefix belong to the harness.
pub const RESERVED_PREFIX: &str = "pi.";

/// An input's entry: the user message of its content, under its own kind when the host gave one.
pub(crate) fn input_entry(content: &Json, entry: Option<&InputEntry>, timestamp: Millis) -> EntryDraft {
    EntryDraft {
        kind: entry.map_or_else(|| USER.into(), |entry| entry.kind.clone()),
        model: Some(vec![user_message(content.clone(), timestamp)]),
        data: entry.and_then(|entry| entry.data.clone()),
        ..EntryDraft::default()
    }
}

fn user_message(content: Json, timestamp: Millis) -> Json {
    Json::object([
        ("role", Json::from("user")),
        ("content", content),
        ("timestamp", Json::from(timestamp)),
    ])
}

/// Kind and data a host gives an input's entry (spec 6).
#[derive(Clone, Debug, PartialEq)]
pub struct InputEntry {
    pub kind: Text,
    pub data: Option<Json>,
}

/// A reset: the context starts anew at this entry, with the handoff text as its first message when given.
pub(crate) fn reset_entry(handoff: Option<&str>, timestamp: Millis) -> EntryDraft {
    EntryDraft {
        kind: RESET.into(),
        model: handoff.map(|text| vec![user_message(Json::from(text), timestamp)]),
        head: Some(DraftHead::Itself),
        ..EntryDraft::default()
    }
}

/// An assistant message with any stop reason.
pub(crate) fn assistant_entry(message: &AssistantMessage) -> Result<EntryDraft, SessionError> {
    let json = Json::from_serialize(&Message::Assistant(message.clone()))
        .map_err(|error| crate::error::malformed("model response", &error))?;
    Ok(EntryDraft::of_messages(ASSISTANT, vec![json]))
}
