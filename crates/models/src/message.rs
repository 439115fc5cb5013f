//! The messages of a conversation, as plain data in pi-ai's JSON shape.
//!
//! Every type here is what is stored and what travels: camelCase names, optional members absent (never `null`), a
//! message tagged by `role`, a content block tagged by `type`. Members nobody here knows are ignored when a stored
//! message is read. Two optional members keep the difference between `null` and absent, because it is observable:
//! a tool result's `details` and a tool's `constrainedSampling`.

mod assistant;
mod content;
mod tool;
mod usage;

pub use assistant::{AssistantMessage, DeferredHandle, Diagnostic, DiagnosticError, StopReason};
pub use content::{
    AssistantBlock, ImageContent, SystemBlock, SystemContent, TextContent, ThinkingContent, ToolCall,
    UserBlock, UserContent, text_of_blocks,
};
pub use tool::{Tool, ToolReference};
pub use usage::{Usage, UsageCost};

use indexmap::IndexMap;
use serde::Serialize;
use tidehold_delta::{FromJson, Json, present};

/// Milliseconds since the Unix epoch. Signed, because stored messages may carry any number a client wrote.
pub type Timestamp = i64;

/// One message of a model context.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "role", rename_all = "camelCase")]
#[allow(
    clippy::large_enum_variant,
    reason = "answers are every other message; a box would cost more than it saves"
)]
pub enum Message {
    /// Instructions and changes of the offered tools, at any position.
    System(SystemMessage),
    /// What the user, or somebody on their behalf, said.
    User(UserMessage),
    /// What a model answered.
    Assistant(AssistantMessage),
    /// What a tool call gave back.
    ToolResult(ToolResultMessage),
}

/// Instructions; a later one changes what earlier ones said.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct SystemMessage {
    /// Free text, may be empty.
    pub content: SystemContent,
    /// Named parts of the prompt in order: a text sets the part, `None` removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sections: Option<IndexMap<String, Option<String>>>,
    /// Tools offered from here on; a known name is redefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_added: Option<Vec<Tool>>,
    /// Tools no longer offered; applied before `tools_added`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_removed: Option<Vec<ToolReference>>,
    /// When it was written.
    pub timestamp: Timestamp,
}

/// What the user said.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// A text, or blocks; which of the two is kept.
    pub content: UserContent,
    /// When it was written.
    pub timestamp: Timestamp,
}

/// The result of one tool call.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The `id` of the answered call.
    pub tool_call_id: String,
    /// The `name` of the answered call.
    pub tool_name: String,
    /// What the model sees.
    pub content: Vec<UserBlock>,
    /// Structured result for user interfaces, never sent to a model. `Some(null)` and `None` differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[json(with = "present")]
    pub details: Option<Json>,
    /// What the tool itself spent on models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Record of calls the tool made, in pi-ai's shape; kept as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_calls: Option<Json>,
    /// Whether the call failed.
    pub is_error: bool,
    /// When the call settled.
    pub timestamp: Timestamp,
    /// How long the call ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl Message {
    /// A user message holding one text.
    pub fn user(text: impl Into<String>, timestamp: Timestamp) -> Self {
        Self::User(UserMessage {
            content: UserContent::Text(text.into()),
            timestamp,
        })
    }

    /// When the message was written.
    pub fn timestamp(&self) -> Timestamp {
        match self {
            Self::System(message) => message.timestamp,
            Self::User(message) => message.timestamp,
            Self::Assistant(message) => message.timestamp,
            Self::ToolResult(message) => message.timestamp,
        }
    }
}
