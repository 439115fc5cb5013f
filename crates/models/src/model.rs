//! What is known about one model (models.md 1.7).

use crate::message::{AssistantMessage, StopReason, Timestamp};
use crate::thinking::ThinkingLevel;
use indexmap::IndexMap;
use serde::Serialize;
use std::fmt;
use tidehold_delta::{FromJson, Json};

/// Names a model: a provider of the configuration and a key of its `models`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ModelRef {
    /// Key of the configuration's `providers`.
    pub provider: String,
    /// Key of the provider's `models`.
    pub model_id: String,
}

impl ModelRef {
    /// Reads `provider/model`. The model's key may hold further slashes.
    pub fn parse(text: &str) -> Option<Self> {
        let (provider, model_id) = text.split_once('/')?;
        let named = !provider.is_empty() && !model_id.is_empty();
        named.then(|| Self {
            provider: provider.to_owned(),
            model_id: model_id.to_owned(),
        })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.provider, self.model_id)
    }
}

/// Wire formats this crate knows by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// The embedded deterministic model.
    #[default]
    Scripted,
    /// OpenAI Chat Completions and everything compatible with it.
    OpenaiCompletions,
    /// Anthropic Messages.
    AnthropicMessages,
}

impl Api {
    /// The name used in configuration, models and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::OpenaiCompletions => "openai-completions",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }

    /// The reverse of [`Api::name`].
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Scripted, Self::OpenaiCompletions, Self::AnthropicMessages]
            .into_iter()
            .find(|api| api.name() == name)
    }
}

/// What a model accepts besides text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// Text.
    Text,
    /// Images.
    Image,
}

/// Header name to value; `None` removes a header that a lower layer set.
pub type HeaderMap = IndexMap<String, Option<String>>;

/// One model of the catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    /// Key in the catalog: what [`ModelRef::model_id`] and [`crate::message::AssistantMessage::model`] hold.
    pub id: String,
    /// The provider's own name for it, when that differs from `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_id: Option<String>,
    /// For people.
    pub name: String,
    /// Wire format.
    pub api: Api,
    /// Key of its provider.
    pub provider: String,
    /// Address the wire format's paths are appended to; empty for `scripted`.
    pub base_url: String,
    /// What it accepts.
    pub input: Vec<InputKind>,
    /// Prices.
    pub cost: ModelCost,
    /// Sent with every request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<HeaderMap>,
    /// Whether it can think.
    pub reasoning: bool,
    /// Level name to the provider's value; `None`: the model lacks the level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level_map: Option<IndexMap<String, Option<String>>>,
    /// Tokens of prompt and answer together; 0: unknown.
    pub context_window: u64,
    /// Most tokens of one answer.
    pub max_tokens: u64,
    /// A JSON object merged over every request body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_params: Option<Json>,
    /// The same by thinking level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_params_by_thinking_level: Option<IndexMap<ThinkingLevel, Json>>,
    /// Flags of the wire format that differ from what provider and address suggest; a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<Json>,
}

impl Model {
    /// The name the provider knows it by.
    pub fn wire_id(&self) -> &str {
        self.wire_id.as_deref().unwrap_or(&self.id)
    }

    /// An answer of this model before its first block.
    pub fn pending_answer(&self, timestamp: Timestamp) -> AssistantMessage {
        AssistantMessage::pending(self.api.name(), &self.provider, &self.id, timestamp)
    }

    /// An answer that failed before it began: `reason` is `error` or `aborted`.
    pub fn failed_answer(&self, timestamp: Timestamp, reason: StopReason, text: &str) -> AssistantMessage {
        let mut message = self.pending_answer(timestamp);
        message.stop_reason = reason;
        message.error_message = Some(text.to_owned());
        message
    }

    /// Whether it accepts images.
    pub fn accepts_images(&self) -> bool {
        self.input.contains(&InputKind::Image)
    }
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelCost {
    /// Prompt tokens.
    pub input: f64,
    /// Answer tokens.
    pub output: f64,
    /// Prompt tokens read from the cache.
    pub cache_read: f64,
    /// Prompt tokens written to the cache.
    pub cache_write: f64,
    /// Other prices for large prompts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<CostTier>,
}

/// Prices of prompts above a size, in US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct CostTier {
    /// The tier applies to prompts with more tokens than this, cached ones included.
    pub input_tokens_above: u64,
    /// Prompt tokens.
    pub input: f64,
    /// Answer tokens.
    pub output: f64,
    /// Prompt tokens read from the cache.
    pub cache_read: f64,
    /// Prompt tokens written to the cache.
    pub cache_write: f64,
}
