//! Live work as callers see it (spec 2, `TaskInspection`).

use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::Text;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskRecord;

/// Whether tasks are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Scheduling {
    /// Opened, nothing asked for progress yet.
    Paused,
    Running,
    /// The session is closed, closing or failed.
    Closing,
}

/// One live task with its state under the current registry.
#[derive(Clone, Debug, Serialize)]
pub struct TaskInspection {
    pub record: Rc<TaskRecord>,
    pub state: TaskInspectionState,
}

/// How a live task stands. Derived, never stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum TaskInspectionState {
    /// An invocation is active.
    Running,
    /// The next pass reserves it.
    Ready { migrates: bool },
    /// Parked: for live tasks, for a time, or (`external`, with an empty `on`) for something outside. The last two members
    /// are ours.
    #[serde(rename_all = "camelCase")]
    Waiting {
        on: Vec<TaskId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        external: bool,
    },
    /// Its outcome is held until its owned work has ended.
    Completing,
    /// No installed definition can take it.
    Blocked {
        reason: BlockedReason,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Text>,
    },
}

/// Why no installed definition can take a task (spec 5.4). Also the reason of its `orphaned` outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedReason {
    MissingTask,
    /// Stored by a newer version than the installed one.
    TaskTooOld,
    /// Stored by an older version and not migrated, or stored data that does not fit its own version.
    MigrationFailed,
}

impl BlockedReason {
    /// The wire name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingTask => "missing_task",
            Self::TaskTooOld => "task_too_old",
            Self::MigrationFailed => "migration_failed",
        }
    }
}
