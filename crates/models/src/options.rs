//! What a request asks for when the caller leaves it open (models.md 9).

use crate::estimate::estimate_context_tokens;
use crate::message::Message;
use crate::model::Model;
use crate::models::ThinkingBudgets;
use crate::thinking::{ThinkingLevel, clamp_thinking_level};
use tidehold_delta::Json;

/// Room kept beside an answer for what the estimate may miss.
const MARGIN_TOKENS: u64 = 4_096;

/// Below this much room the proportional margin is given up.
const SMALL_ROOM_TOKENS: u64 = 32_768;

/// Answer tokens that thinking leaves at least.
pub(crate) const ANSWER_TOKENS: u64 = 1_024;

/// Lowers a limit for an answer to what the context window leaves, at least 1. An unknown window (0) leaves everything.
pub fn clamp_max_tokens_to_context(model: &Model, messages: &[Message], max_tokens: u64) -> u64 {
    if model.context_window == 0 {
        return max_tokens.max(1);
    }
    let input = estimate_context_tokens(messages).tokens;
    // ceil(0.15 * input), in whole numbers.
    let margin = MARGIN_TOKENS.max(input.saturating_mul(15).div_ceil(100));
    let window = i128::from(model.context_window);
    let mut room = window - i128::from(input) - i128::from(margin);
    if room < i128::from(SMALL_ROOM_TOKENS) {
        room = i128::from(SMALL_ROOM_TOKENS).min(window - i128::from(input) - i128::from(MARGIN_TOKENS));
    }
    max_tokens.min(u64::try_from(room.max(1)).unwrap_or(1))
}

/// Tokens a level may think; the levels above `high` think as much as `high`.
pub fn thinking_budget(level: ThinkingLevel, budgets: &ThinkingBudgets) -> u64 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => budgets.minimal.unwrap_or(1_024),
        ThinkingLevel::Low => budgets.low.unwrap_or(2_048),
        ThinkingLevel::Medium => budgets.medium.unwrap_or(8_192),
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => budgets.high.unwrap_or(16_384),
    }
}

/// The sampling parameters of a request: the model's, then those of the level, then the request's own.
pub fn resolve_sampling_params(model: &Model, level: ThinkingLevel, request: Option<&Json>) -> Option<Json> {
    // Off is not a level to be raised to one that the model has.
    let level = if level == ThinkingLevel::Off {
        level
    } else {
        clamp_thinking_level(model, level)
    };
    let of_level = model
        .sampling_params_by_thinking_level
        .as_ref()
        .and_then(|by_level| by_level.get(&level));
    let layers: Vec<&Json> = [model.sampling_params.as_ref(), of_level, request]
        .into_iter()
        .flatten()
        .collect();
    if layers.is_empty() {
        return None;
    }
    let members = layers
        .into_iter()
        .filter_map(Json::as_object)
        .flat_map(|layer| layer.iter());
    Some(Json::object(
        members.map(|(name, value)| (name.clone(), value.clone())),
    ))
}
