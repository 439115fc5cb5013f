//! Money from tokens (models.md 4.7).

use crate::message::{Usage, UsageCost};
use crate::model::{Model, ModelCost};
use tidehold_delta::Json;

/// A larger bill for one answer is nonsense.
const MOST_DOLLARS: f64 = 1e12;

struct Rates {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// What `usage` costs at the model's prices, in US dollars.
///
/// The order of the floating point operations is part of the contract: recorded costs are compared bit for bit.
pub fn calculate_cost(model: &Model, usage: &Usage) -> UsageCost {
    let prompt = usage
        .input
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write);
    let rates = rates_for(&model.cost, prompt);
    let hour = usage.cache_write_1h.unwrap_or(0);
    let input = rates.input / 1e6 * usage.input as f64;
    let output = rates.output / 1e6 * usage.output as f64;
    let cache_read = rates.cache_read / 1e6 * usage.cache_read as f64;
    let short_writes = usage.cache_write as f64 - hour as f64;
    let cache_write = (rates.cache_write * short_writes + rates.input * 2.0 * hour as f64) / 1e6;
    UsageCost {
        input,
        output,
        cache_read,
        cache_write,
        total: input + output + cache_read + cache_write,
        total_from_provider: Some(false),
    }
}

fn rates_for(cost: &ModelCost, prompt: u64) -> Rates {
    let tier = cost
        .tiers
        .iter()
        .filter(|tier| tier.input_tokens_above < prompt)
        .max_by_key(|tier| tier.input_tokens_above);
    match tier {
        Some(tier) => Rates {
            input: tier.input,
            output: tier.output,
            cache_read: tier.cache_read,
            cache_write: tier.cache_write,
        },
        None => Rates {
            input: cost.input,
            output: cost.output,
            cache_read: cost.cache_read,
            cache_write: cost.cache_write,
        },
    }
}

/// Whether OpenRouter bills the model's requests.
pub fn is_open_router(model: &Model) -> bool {
    model.provider == "openrouter" || model.base_url.contains("openrouter.ai")
}

/// Takes OpenRouter's billed figure, from the `usage` object of its answer, as the total. Anything incomplete leaves
/// the computed total.
pub fn apply_open_router_cost(cost: &mut UsageCost, reported: &Json) {
    if let Some(total) = open_router_total(reported) {
        cost.total = total;
        cost.total_from_provider = Some(true);
    }
}

fn open_router_total(reported: &Json) -> Option<f64> {
    let billed = amount(reported.get("cost"))?;
    let own_key = reported.get("is_byok")?.as_bool()?;
    if !own_key {
        return Some(billed);
    }
    let details = reported.get("cost_details")?;
    let upstream = match details
        .get("upstream_inference_cost")
        .filter(|value| !value.is_null())
    {
        Some(total) => amount(Some(total))?,
        None => {
            amount(details.get("upstream_inference_prompt_cost"))?
                + amount(details.get("upstream_inference_completions_cost"))?
        }
    };
    Some(billed + upstream)
}

fn amount(value: Option<&Json>) -> Option<f64> {
    value?
        .as_f64()
        .filter(|amount| (0.0..=MOST_DOLLARS).contains(amount))
}
