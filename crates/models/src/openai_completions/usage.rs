//! The usage of a chunk.

use super::chunk::{count, object};
use crate::cost::{apply_open_router_cost, calculate_cost, is_open_router};
use crate::message::Usage;
use crate::model::Model;
use tidehold_delta::Json;

/// Tokens and money from a `usage` object. Services differ in where they count cached tokens; prompt tokens include
/// them everywhere.
pub(super) fn usage(model: &Model, reported: &Json) -> Usage {
    let prompt_details = object(reported, "prompt_tokens_details").unwrap_or(&Json::Null);
    let completion_details = object(reported, "completion_tokens_details").unwrap_or(&Json::Null);
    let prompt = count(reported, "prompt_tokens").unwrap_or(0);
    let output = count(reported, "completion_tokens").unwrap_or(0);
    let cache_read = count(prompt_details, "cached_tokens")
        .or_else(|| count(reported, "prompt_cache_hit_tokens"))
        .or_else(|| count(reported, "cached_tokens"))
        .unwrap_or(0);
    let cache_write = count(prompt_details, "cache_write_tokens").unwrap_or(0);
    let input = prompt.saturating_sub(cache_read).saturating_sub(cache_write);
    let reasoning = count(completion_details, "reasoning_tokens")
        .filter(|tokens| *tokens > 0)
        .or_else(|| count(reported, "reasoning_tokens"))
        .unwrap_or(0);
    let mut usage = Usage {
        input,
        output,
        cache_read,
        cache_write,
        reasoning: Some(reasoning),
        total_tokens: input
            .saturating_add(output)
            .saturating_add(cache_read)
            .saturating_add(cache_write),
        ..Usage::zero()
    };
    usage.cost = calculate_cost(model, &usage);
    if is_open_router(model) {
        apply_open_router_cost(&mut usage.cost, reported);
    }
    usage
}
