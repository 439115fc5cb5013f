//! Thinking levels: what a model supports and what a request gets (models.md 1.5 and 4.8).

use crate::model::Model;
use serde::Serialize;
use tidehold_delta::FromJson;

/// How hard a model should think. `Off` is the absence of thinking; a request omits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// No thinking.
    Off,
    /// The least.
    Minimal,
    /// A little.
    Low,
    /// The usual.
    Medium,
    /// A lot.
    High,
    /// More, where a model maps it.
    Xhigh,
    /// The most, where a model maps it.
    Max,
}

impl ThinkingLevel {
    /// All levels, least first.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// What a model's level map says about one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappedLevel<'a> {
    /// Not in the map: the level's own name.
    Unmapped,
    /// `null` in the map: the model lacks the level.
    Unsupported,
    /// The provider's value.
    Value(&'a str),
}

/// Looks `level` up in the model's map.
pub fn mapped_level(model: &Model, level: ThinkingLevel) -> MappedLevel<'_> {
    match model
        .thinking_level_map
        .as_ref()
        .and_then(|map| map.get(level.name()))
    {
        None => MappedLevel::Unmapped,
        Some(None) => MappedLevel::Unsupported,
        Some(Some(value)) => MappedLevel::Value(value),
    }
}

/// The levels a model accepts, least first; only `off` for a model that does not reason.
pub fn supported_thinking_levels(model: &Model) -> Vec<ThinkingLevel> {
    if !model.reasoning {
        return vec![ThinkingLevel::Off];
    }
    let supported = |level: &ThinkingLevel| match mapped_level(model, *level) {
        MappedLevel::Unsupported => false,
        MappedLevel::Value(_) => true,
        MappedLevel::Unmapped => *level < ThinkingLevel::Xhigh,
    };
    ThinkingLevel::ALL.into_iter().filter(supported).collect()
}

/// The level itself when supported, else the next one up, else the next one down, else `off`.
pub fn clamp_thinking_level(model: &Model, level: ThinkingLevel) -> ThinkingLevel {
    let supported = supported_thinking_levels(model);
    let up = supported.iter().find(|candidate| **candidate >= level);
    let down = supported.iter().rev().find(|candidate| **candidate < level);
    up.or(down).copied().unwrap_or(ThinkingLevel::Off)
}
