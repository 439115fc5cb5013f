//! A model's answer (models.md 1.2).

use super::{AssistantBlock, Timestamp, Usage};
use crate::thinking::ThinkingLevel;
use serde::Serialize;
use tidehold_delta::{FromJson, Json};

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// Not yet: only partials say so.
    Pending,
    /// The model was done.
    Stop,
    /// The token limit cut it.
    Length,
    /// It waits for tool results.
    ToolUse,
    /// It failed; `error_message` says why.
    Error,
    /// The caller gave up on it.
    Aborted,
    /// The provider answers later; `deferred` says where to ask.
    Deferred,
}

/// A model's answer, whole or so far.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and tool calls in the provider's order.
    pub content: Vec<AssistantBlock>,
    /// Wire format that was spoken, e.g. `openai-completions`.
    pub api: String,
    /// Provider that was asked.
    pub provider: String,
    /// Model that was asked for.
    pub model: String,
    /// Model that answered, when the provider names another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// The provider's id of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The provider's own effort name, for models that carry the effort in the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_thinking_level: Option<String>,
    /// The level that was asked for; set by the caller, never in this crate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    /// Oddities worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<Diagnostic>>,
    /// Tokens and money.
    pub usage: Usage,
    /// How it ended.
    pub stop_reason: StopReason,
    /// Where to fetch the answer; with [`StopReason::Deferred`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<DeferredHandle>,
    /// Why it failed; with [`StopReason::Error`] and [`StopReason::Aborted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The provider's own word for the stop reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_stop_reason: Option<String>,
    /// The provider's hint that the turn is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_turn: Option<bool>,
    /// When the request started.
    pub timestamp: Timestamp,
    /// From request to end, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Names an answer that the provider finishes later.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct DeferredHandle {
    /// Provider to ask.
    pub provider: String,
    /// Model that answers.
    pub model_id: String,
    /// Wire format to ask with.
    pub api: String,
    /// The provider's id of the pending answer.
    pub id: String,
    /// After this moment the provider forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How long to wait before asking, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_after_ms: Option<u64>,
    /// What the adapter needs to rebuild the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

/// An oddity of an answer, kept with it.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// What kind of oddity.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it was seen.
    pub timestamp: Timestamp,
    /// The error behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<DiagnosticError>,
    /// Anything else, a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
}

/// The error behind a [`Diagnostic`].
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosticError {
    /// Class of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its text.
    pub message: String,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// A code, text or number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Json>,
}

impl AssistantMessage {
    /// An answer before its first event: no content, zero usage, pending.
    pub fn pending(api: &str, provider: &str, model: &str, timestamp: Timestamp) -> Self {
        Self {
            content: Vec::new(),
            api: api.to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            response_model: None,
            response_id: None,
            provider_thinking_level: None,
            thinking_level: None,
            diagnostics: None,
            usage: Usage::zero(),
            stop_reason: StopReason::Pending,
            deferred: None,
            error_message: None,
            raw_stop_reason: None,
            end_turn: None,
            timestamp,
            duration_ms: None,
        }
    }

    /// The text blocks, nothing between them.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|block| match block {
                AssistantBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The tool calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &super::ToolCall> {
        self.content.iter().filter_map(|block| match block {
            AssistantBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}
