//! What sessions may do and how much of it.

use super::ConfigError;
use super::reader::At;
use tidehold_delta::MAX_SAFE_INTEGER;

/// Bounds of one session. Times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Read and checked, applied by nothing yet.
    pub concurrent_runs: u64,
    /// Requests of one session in a minute; more answer 429.
    pub requests_per_minute: u64,
    pub run_timeout_ms: u64,
    /// Settled runs that stay inspectable; the oldest beyond them are to be pruned. Read and checked, applied by nothing
    /// yet.
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

pub(super) fn read_limits(at: At<'_>) -> Result<Limits, ConfigError> {
    let mut limits = Limits::default();
    for (name, at) in at.named()? {
        let (limit, least, most) = match name {
            "concurrentRuns" => (&mut limits.concurrent_runs, 1, 1000),
            "requestsPerMinute" => (&mut limits.requests_per_minute, 1, MAX_SAFE_INTEGER),
            "runTimeoutMs" => (&mut limits.run_timeout_ms, 1, MAX_SAFE_INTEGER),
            "retainSettledRuns" => (&mut limits.retain_settled_runs, 0, MAX_SAFE_INTEGER),
            // Below a second the alarm itself would be the load; above an hour a crash would look like a loss.
            "watchdogMs" => (&mut limits.watchdog_ms, 1000, 3_600_000),
            _ => return Err(at.problem(format!("unknown member \"{name}\""))),
        };
        *limit = at.integer(least, most)?;
    }
    Ok(limits)
}

pub(super) fn read_cors(at: At<'_>) -> Result<Cors, ConfigError> {
    at.only(&["origins"])?;
    let origins = at.get("origins").map(|at| at.strings()).transpose()?;
    Ok(Cors {
        origins: origins.unwrap_or_default(),
    })
}
