//! Backoff (models.md 4.4).

use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_delta::MAX_SAFE_INTEGER;

/// When and how often an agent asks again.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct RetryPolicy {
    /// Whether at all.
    pub enabled: bool,
    /// Attempts after the first.
    pub max_retries: u32,
    /// Delay before the first retry, in milliseconds; each further one doubles it.
    pub base_delay_ms: f64,
    /// Longest delay; absent: a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_agent_delay_ms: Option<f64>,
}

/// Milliseconds to wait before attempt `attempt + 1`, `attempt` counted from 1. No jitter: one session retries alone.
///
/// A product that is no safe integer counts as endless, so a fractional base yields the longest delay.
pub fn retry_delay_ms(policy: &RetryPolicy, attempt: i64) -> u64 {
    let doublings = attempt.saturating_sub(1).clamp(0, 2_000) as i32;
    let delay = policy.base_delay_ms * 2f64.powi(doublings);
    let safe = delay.fract() == 0.0 && delay.abs() <= MAX_SAFE_INTEGER as f64;
    let delay = if safe { delay } else { MAX_SAFE_INTEGER as f64 };
    // A float cast saturates: below zero is zero.
    delay.min(policy.max_agent_delay_ms.unwrap_or(60_000.0)) as u64
}
