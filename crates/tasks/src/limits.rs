//! Every limit of the task crate, with its reason.

use tidehold_session::host::Millis;

/// Default distance of the watchdog while an invocation runs: long enough that a busy session sets few alarms (each is a
/// billed row), short enough that a killed object resumes soon.
pub const WATCHDOG_MS: Millis = 10_000;

/// Opens without progress that still wake at once: one or two are ordinary deploys and evictions.
pub const PATIENT_OPENS: u32 = 2;

/// The longest back-off: a poisoned session costs at most a start an hour, and a repaired one recovers within it.
pub const MAX_BACKOFF_MS: Millis = 3_600_000;

/// Encoded bytes of task records that one scheduler commit replaces. Half of the session's batch limit, so that what
/// hooks add fits; work beyond it follows in the next commit.
pub const PASS_BYTES: usize = 8 * 1024 * 1024;

/// Steps of one ownership walk. Ownership chains are short; the bound ends a walk over corrupt, cyclic edges.
pub const MAX_OWNER_DEPTH: usize = 4_096;

/// Remembered ended tasks and conversations beyond what live tasks need, before they are forgotten.
pub const EDGE_SLACK: usize = 256;

/// Bytes of the text of a fault, which task code may make of any length; the rest is cut off. A text beyond what a commit may
/// write would otherwise end the session instead of the task, and again at every open.
pub const FAULT_TEXT_BYTES: usize = 64 * 1024;
