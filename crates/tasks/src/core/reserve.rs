//! Which tasks start now (spec 5.1 and 5.4).

use crate::core::agenda::{Due, Standing};
use crate::core::index::ascending;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::{LiveTask, Mode, State, unanswered};
use crate::inspection::BlockedReason;
use crate::task::Wake;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;

/// One decision of a reservation pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reservation {
    /// Try the definition's migration first; then decide again.
    Migrate(TaskId),
    /// Becomes `running`, migrated if need be, and an invocation of this mode starts.
    Start(TaskId, Mode),
    /// Aborted while no definition can take it: settled `orphaned`.
    Orphan(TaskId, BlockedReason),
}

/// What an unmarked, unblocked task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Until this time, or what else ends the wait.
    Until(Millis),
    /// Until something else changes it.
    Parked,
}

/// Everything the next reservation commit does, in id order.
pub fn reserve(state: &State, now: Millis) -> Vec<Reservation> {
    let by = if broken(Sabotage::EarlyWake) {
        Millis::MAX
    } else {
        now
    };
    let ready = state.agenda.tasks(Due::Reserve).chain(state.agenda.starts_by(by));
    let ready = ascending(ready.map(|id| id.0)).into_iter().map(TaskId);
    let reservation = |id: TaskId| match state.task(id)?.standing {
        Standing::Reserve(reservation) | Standing::ReserveAt(_, reservation) => Some(reservation),
        _ => None,
    };
    ready.filter_map(reservation).collect()
}

/// When a run phase of the task may start, its definition permitting.
pub fn readiness(task: &LiveTask) -> Readiness {
    match &task.record.state {
        TaskState::Waiting { on, until, .. } => waiting_readiness(task, on, *until),
        TaskState::Pending { .. } | TaskState::Running { .. } => match task.wake {
            None | Some(Wake::Now) => Readiness::Ready,
            _ if unanswered(&task.record) > 0 => Readiness::Ready,
            Some(Wake::At(at)) => Readiness::Until(at),
            // A task that never ran has not reached the outside yet: only a recovered one is parked.
            Some(Wake::External) if task.recovered && task.record.started_at.is_some() => Readiness::Parked,
            Some(Wake::External) => Readiness::Ready,
        },
        TaskState::Completing { .. } | TaskState::Terminal { .. } => Readiness::Parked,
    }
}

fn waiting_readiness(task: &LiveTask, on: &[TaskId], time: Option<Millis>) -> Readiness {
    let sleeps = on.is_empty() && time.is_some();
    let early = broken(Sabotage::ResumesJoinEarly) && (task.join.open as usize) < on.len();
    let joined = !sleeps && (early || task.join.open == 0);
    if joined || (sleeps && unanswered(&task.record) > 0) {
        return Readiness::Ready;
    }
    time.map_or(Readiness::Parked, Readiness::Until)
}

impl Readiness {
    /// Whether it may start at `now`.
    pub fn is_ready(self, now: Millis) -> bool {
        match self {
            Self::Ready => true,
            Self::Until(at) => at <= now,
            Self::Parked => false,
        }
    }
}
