//! Everything the next pass would do. Computed after each commit that matters, to start a pass and to set the alarm.

use crate::core::forest::Missing;
use crate::core::reconcile::{Reconcile, reconcile};
use crate::core::reserve::{Reservation, reserve};
use crate::core::set::Set;
use crate::core::state::{LiveTask, Stage, State};
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;

/// Work of the next pass.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Loaded first: the other decisions need it.
    pub missing: Set<Missing>,
    pub needs_queues: bool,
    /// Committed first and alone, so that reservations see the marks.
    pub reconcile: Vec<Reconcile>,
    pub reservations: Vec<Reservation>,
    /// Owners that live ordinary work holds, for the marked ones among them.
    pub holding: Set<TaskId>,
    /// Resuming will set restart marks.
    pub restarts: bool,
}

/// The plan of a state.
pub fn plan(state: &State, now: Millis) -> Plan {
    Plan {
        missing: state.missing(),
        needs_queues: state.needs_queues(),
        reconcile: reconcile(state),
        reservations: reserve(state, now),
        holding: state.holding_marked(),
        restarts: state.stage == Stage::Paused && state.tasks.values().any(LiveTask::awaits_restart_mark),
    }
}

impl Plan {
    /// Whether a pass has something to do.
    pub fn is_due(&self) -> bool {
        !self.missing.is_empty()
            || self.needs_queues
            || !self.reconcile.is_empty()
            || !self.reservations.is_empty()
            || self.restarts
    }
}
