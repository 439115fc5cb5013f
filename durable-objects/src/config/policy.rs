//! What sessions may do and how much of it.

use super::ConfigError;
use super::reader::At;
use tidehold_delta::{Json, MAX_SAFE_INTEGER};

/// Bounds of one session. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub concurrent_runs: u64,
    /// Requests of one session in a minute; more answer 429.
    pub requests_per_minute: u64,
    pub run_timeout_ms: u64,
    /// Settled runs that stay inspectable; the oldest beyond them are pruned.
    pub retain_settled_runs: u64,
    /// How far ahead the alarm stays while work is running: the longest a crash can delay it.
    pub watchdog_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrent_runs: 12,
            requests_per_minute: 600,
            run_timeout_ms: 7_200_000,
            retain_settled_runs: 1000,
            watchdog_ms: 10_000,
        }
    }
}

/// Which pages of other origins may read answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cors {
    /// Exact origins such as `https://app.example`; none by default.
    pub origins: Vec<String>,
}

/// A tool that the host of the agent runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Json,
    /// Whether an interrupted call may be asked again.
    pub replay_safe: bool,
    pub timeout_ms: Option<u64>,
    pub approve: bool,
}

pub(super) fn read_limits(at: &At<'_>) -> Result<Limits, ConfigError> {
    let members = at.members(&[
        "concurrentRuns",
        "requestsPerMinute",
        "runTimeoutMs",
        "retainSettledRuns",
        "watchdogMs",
    ])?;
    let default = Limits::default();
    let limit = |name, least, most, default| {
        Ok::<_, ConfigError>(
            members
                .optional(name, |at| at.integer(least, most))?
                .unwrap_or(default),
        )
    };
    Ok(Limits {
        concurrent_runs: limit("concurrentRuns", 1, 1000, default.concurrent_runs)?,
        requests_per_minute: limit(
            "requestsPerMinute",
            1,
            MAX_SAFE_INTEGER,
            default.requests_per_minute,
        )?,
        run_timeout_ms: limit("runTimeoutMs", 1, MAX_SAFE_INTEGER, default.run_timeout_ms)?,
        retain_settled_runs: limit(
            "retainSettledRuns",
            0,
            MAX_SAFE_INTEGER,
            default.retain_settled_runs,
        )?,
        // Below a second the alarm itself would be the load; above an hour a crash would look like a loss.
        watchdog_ms: limit("watchdogMs", 1000, 3_600_000, default.watchdog_ms)?,
    })
}

pub(super) fn read_cors(at: &At<'_>) -> Result<Cors, ConfigError> {
    let members = at.members(&["origins"])?;
    let origins = members.optional("origins", At::strings)?.unwrap_or_default();
    Ok(Cors { origins })
}

pub(super) fn read_remote_tool(at: &At<'_>) -> Result<RemoteTool, ConfigError> {
    let members = at.members(&[
        "name",
        "description",
        "parameters",
        "replay",
        "timeoutMs",
        "approve",
    ])?;
    let parameters = members.required("parameters")?;
    if parameters.json().as_object().is_none() {
        return Err(parameters.problem("must be an object"));
    }
    Ok(RemoteTool {
        name: members.required("name")?.string()?,
        description: members.required("description")?.string()?,
        parameters: parameters.json().clone(),
        replay_safe: members
            .optional("replay", |at| at.word(&[("safe", true)]))?
            .unwrap_or(false),
        timeout_ms: members.optional("timeoutMs", |at| at.integer(1, MAX_SAFE_INTEGER))?,
        approve: members.optional("approve", At::boolean)?.unwrap_or(false),
    })
}
