//! What an answer cost (models.md 1.3).

use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_delta::MAX_SAFE_INTEGER;

/// Tokens and money of one answer, or a sum over several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Prompt tokens that no cache served or stored.
    pub input: u64,
    /// Answer tokens, thinking included.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// The part of `cache_write` with a lifetime of one hour.
    #[serde(rename = "cacheWrite1h", default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// The part of `output` spent on thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// All of the above as the provider counts them.
    pub total_tokens: u64,
    /// In US dollars.
    pub cost: UsageCost,
}

/// US dollars by kind of token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct UsageCost {
    /// For `Usage::input`.
    pub input: f64,
    /// For `Usage::output`.
    pub output: f64,
    /// For `Usage::cache_read`.
    pub cache_read: f64,
    /// For `Usage::cache_write`.
    pub cache_write: f64,
    /// The sum, or what the provider billed.
    pub total: f64,
    /// `true`: `total` is the provider's figure. Absent on a message that never received usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_from_provider: Option<bool>,
}

impl Usage {
    /// No tokens, no money: the usage of a message that received none.
    pub fn zero() -> Self {
        Self::default()
    }

    /// Adds `other` to this sum. Money is summed, never recomputed, so totals match the recorded parts; a sum that
    /// holds a provider's figure does not claim to be one. Sums stay within what JSON can hold.
    pub fn add(&mut self, other: &Usage) {
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);
        self.cache_read = sum(self.cache_read, other.cache_read);
        self.cache_write = sum(self.cache_write, other.cache_write);
        self.cache_write_1h = add_optional(self.cache_write_1h, other.cache_write_1h);
        self.reasoning = add_optional(self.reasoning, other.reasoning);
        self.total_tokens = sum(self.total_tokens, other.total_tokens);
        self.cost.input = (self.cost.input + other.cost.input).min(f64::MAX);
        self.cost.output = (self.cost.output + other.cost.output).min(f64::MAX);
        self.cost.cache_read = (self.cost.cache_read + other.cost.cache_read).min(f64::MAX);
        self.cost.cache_write = (self.cost.cache_write + other.cost.cache_write).min(f64::MAX);
        self.cost.total = (self.cost.total + other.cost.total).min(f64::MAX);
        self.cost.total_from_provider = None;
    }
}

fn add_optional(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (None, None) => None,
        (left, right) => Some(sum(left.unwrap_or(0), right.unwrap_or(0))),
    }
}

/// Stops where JSON numbers stop being exact, so that a sum can always be stored.
fn sum(left: u64, right: u64) -> u64 {
    left.saturating_add(right).min(MAX_SAFE_INTEGER)
}
