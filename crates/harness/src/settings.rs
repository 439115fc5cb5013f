//! Harness-wide run policy, resolved anew by every reader (spec 2.2).

use serde::Serialize;
use tidehold_delta::{ConvertError, FromJson, Json};
use tidehold_models::errors::RetryPolicy;
use tidehold_session::host::Millis;
use tidehold_session::limits::DOCUMENT_RETENTION_MS;

/// Resolved settings; every field has the default of the spec.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Settings {
    /// Request options forwarded to the model layer.
    pub stream: Json,
    /// Durable retries of generation attempts; members given replace the defaults one by one.
    #[json(with = "over_default_retry")]
    pub retry: RetryPolicy,
    pub compaction: CompactionPolicy,
    pub tool_execution: ToolExecution,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub progress: Progress,
    /// How long an unused document stays in memory.
    pub document_retention_ms: Millis,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stream: Json::empty_object(),
            retry: default_retry(),
            compaction: CompactionPolicy::default(),
            tool_execution: ToolExecution::Parallel,
            steering_mode: QueueMode::OneAtATime,
            follow_up_mode: QueueMode::OneAtATime,
            progress: Progress::default(),
            document_retention_ms: DOCUMENT_RETENTION_MS,
        }
    }
}

/// Retries of the spec: three after the first attempt, from two seconds up to a minute.
fn default_retry() -> RetryPolicy {
    RetryPolicy {
        enabled: true,
        max_retries: 3,
        base_delay_ms: 2000.0,
        max_agent_delay_ms: Some(60_000.0),
    }
}

fn over_default_retry(json: &Json) -> Result<RetryPolicy, ConvertError> {
    #[derive(FromJson)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Given {
        enabled: Option<bool>,
        max_retries: Option<u32>,
        base_delay_ms: Option<f64>,
        max_agent_delay_ms: Option<f64>,
    }
    let given = Given::from_json(json)?;
    let default = default_retry();
    Ok(RetryPolicy {
        enabled: given.enabled.unwrap_or(default.enabled),
        max_retries: given.max_retries.unwrap_or(default.max_retries),
        base_delay_ms: given.base_delay_ms.unwrap_or(default.base_delay_ms),
        max_agent_delay_ms: given.max_agent_delay_ms.or(default.max_agent_delay_ms),
    })
}

/// Automatic compaction thresholds, in tokens (spec 8.7). Read by the compaction task once it exists.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CompactionPolicy {
    pub enabled: bool,
    pub reserve_tokens: u64,
    pub keep_recent_tokens: u64,
    pub background_tokens: u64,
}

impl Default for CompactionPolicy {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_tokens: 16_384,
            keep_recent_tokens: 20_000,
            background_tokens: 32_768,
        }
    }
}

/// How the calls of one round run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum ToolExecution {
    Parallel,
    Sequential,
}

/// How many queued items of one mode a boundary selects (spec 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
pub enum QueueMode {
    #[serde(rename = "all")]
    All,
    #[serde(rename = "one-at-a-time")]
    OneAtATime,
}

/// Throttles of durable progress, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Progress {
    pub partial_interval_ms: Millis,
    pub output_interval_ms: Millis,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            partial_interval_ms: 100,
            output_interval_ms: 100,
        }
    }
}
