//! Every limit of the platform side, with its reason.

/// A comment is written to an idle event stream this often, so that proxies and clients can tell quiet from dead.
pub const HEARTBEAT_MS: u64 = 15_000;

/// White space is written to a waiting foreground call this often, for the same reason.
pub const WAITING_BYTE_MS: u64 = 15_000;

/// `setTimeout` counts in a signed 32-bit integer; longer sleeps are taken in pieces.
pub const LONGEST_TIMEOUT_MS: u64 = i32::MAX as u64;

/// Nesting of the configuration, from its root: that of a request body.
pub const CONFIG_DEPTH: usize = 128;

/// Nesting of a request body, from its root (http.md "Addressing, auth, limits").
pub const BODY_DEPTH: usize = 128;

/// What a failed session tells its caller to wait before the next request reopens it.
pub const REOPEN_AFTER_SECONDS: u32 = 1;

/// When a refused setting of the alarm is tried again at first; the pauses double.
pub const SET_ALARM_AGAIN_MS: u64 = 1_000;

/// The distance of alarms while the configuration is broken: only a deploy ends that, and each try is a billed row.
pub const WAKE_UNCONFIGURED_MS: u64 = 300_000;
