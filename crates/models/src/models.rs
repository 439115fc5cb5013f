//! What the rest of the system asks of models.

use crate::message::{AssistantMessage, DeferredHandle, Message};
use crate::model::{HeaderMap, Model};
use crate::stream::StreamEvent;
use crate::thinking::ThinkingLevel;
use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};
use tidehold_session::signal::AbortSignal;

/// Catalog and requests. [`crate::registry::ModelRegistry`] is the product's implementation.
pub trait Models {
    /// The model a [`crate::model::ModelRef`] names; `None` for an unknown provider or model.
    fn model(&self, provider: &str, id: &str) -> Option<Rc<Model>>;

    /// Asks a model. Nothing fails before the stream: every failure is a terminal [`StreamEvent::Error`], and the
    /// stream ends after its terminal event. Dropping the stream drops the request.
    fn stream(&self, request: StreamRequest) -> LocalBoxStream<'static, StreamEvent>;

    /// Asks for a deferred answer: the answer, or a message that is still deferred, or one that failed.
    fn fetch_deferred(
        &self,
        model: Rc<Model>,
        handle: &DeferredHandle,
        signal: AbortSignal,
    ) -> LocalBoxFuture<'static, AssistantMessage>;

    /// Tells the provider that nobody will fetch a deferred answer; the error is for a report, nothing depends on it.
    fn cancel_deferred(
        &self,
        model: Rc<Model>,
        handle: &DeferredHandle,
        signal: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<(), String>>;
}

/// One request to a model.
#[derive(Clone)]
pub struct StreamRequest {
    /// From [`Models::model`].
    pub model: Rc<Model>,
    /// The model context, normalized: results follow their calls, failed answers are gone.
    pub messages: Vec<Message>,
    /// How to ask.
    pub options: StreamOptions,
    /// What for. Providers never see it; the scripted model answers by it.
    pub purpose: RequestPurpose,
    /// Which request of its generation this is, from 1: a retry or an overflow recovery is the next one, a repeated
    /// request after a crash is the same one.
    pub ordinal: u32,
    /// Raised: the answer ends with stop reason `aborted`.
    pub signal: AbortSignal,
}

/// Why a model is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestPurpose {
    /// To answer the conversation.
    #[default]
    Answer,
    /// To summarize older messages (durable.md 8.7).
    Summary {
        /// How many messages the request asks to summarize.
        messages: usize,
    },
}

/// How to ask. The member names are those of pi-ai's simple options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct StreamOptions {
    /// Thinking level; absent or `off`: no thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ThinkingLevel>,
    /// Identity of the conversation for provider caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Most tokens of the answer; absent: the model's limit. Lowered to what the context window leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Longest wait for the response headers and between two pieces of the answer, in milliseconds. Absent:
    /// [`crate::limits::HEADERS_TIMEOUT_MS`] and [`crate::limits::IDLE_TIMEOUT_MS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Repeats of the HTTP request before its answer began; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Longest delay a provider may ask for between two of them; 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retry_delay_ms: Option<u64>,
    /// Request headers; `None` removes one that the model or the wire format sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<HeaderMap>,
    /// Free data for providers that take some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// How long the provider keeps the prompt; absent: short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_retention: Option<CacheRetention>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// A JSON object merged over the request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_params: Option<Json>,
    /// Whether the model may call tools; absent: the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Thinking tokens by level, where a provider wants a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budgets: Option<ThinkingBudgets>,
    /// `true` or `{window}`: the caller can wait. No HTTP adapter defers yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Json>,
}

/// How long a provider keeps a prompt for the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum CacheRetention {
    /// Not at all.
    None,
    /// Minutes.
    #[default]
    Short,
    /// An hour or a day, where a provider offers it.
    Long,
}

/// Whether the model may call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// It must not.
    None,
}

/// Thinking tokens by level; absent: the default of the level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(default)]
pub struct ThinkingBudgets {
    /// Default 1024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<u64>,
    /// Default 2048.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<u64>,
    /// Default 8192.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub medium: Option<u64>,
    /// Default 16384; also used for the levels above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
}
