//! Which tasks start now (spec 5.1 and 5.4).

use crate::core::sabotage::{Sabotage, broken};
use crate::core::set::Set;
use crate::core::state::{Fit, LiveTask, Mode, State, unanswered};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// Until this time, or what else ends the wait.
    Until(Millis),
    /// Until something else changes it.
    Parked,
}

/// Everything the next reservation commit does, in id order.
pub fn reserve(state: &State, now: Millis) -> Vec<Reservation> {
    let holding = state.holding_marked();
    state
        .tasks
        .iter()
        .filter_map(|(id, task)| reserve_one(state, &holding, *id, task, now))
        .collect()
}

fn reserve_one(
    state: &State,
    holding: &Set<TaskId>,
    id: TaskId,
    task: &LiveTask,
    now: Millis,
) -> Option<Reservation> {
    if task.invocation.is_some() || task.record.outcome().is_some() {
        return None;
    }
    let mode = if task.record.abort_requested {
        Mode::Abort
    } else {
        Mode::Run
    };
    match mode {
        Mode::Abort if is_held(holding, id) => return None,
        // Only its abort handler may run, once the cascade has marked it.
        Mode::Run if state.is_below_intent(id) && !broken(Sabotage::StartsBelowIntent) => return None,
        _ => {}
    }
    match (&task.fit, mode) {
        (Fit::Blocked { reason, .. }, Mode::Abort) if task.record.abort_reason.is_none() => {
            return Some(Reservation::Orphan(id, *reason));
        }
        (Fit::Blocked { reason, .. }, Mode::Run) if broken(Sabotage::OrphansUnasked) => {
            return Some(Reservation::Orphan(id, *reason));
        }
        (Fit::Blocked { .. }, _) => return None,
        _ => {}
    }
    if mode == Mode::Run && readiness(state, task, now) != Readiness::Ready {
        return None;
    }
    match task.fit {
        Fit::Untried => Some(Reservation::Migrate(id)),
        _ => Some(Reservation::Start(id, mode)),
    }
}

fn is_held(holding: &Set<TaskId>, id: TaskId) -> bool {
    if broken(Sabotage::TopDownAbort) {
        return false;
    }
    holding.contains(&id)
}

/// When a run phase of the task may start, its definition permitting.
pub fn readiness(state: &State, task: &LiveTask, now: Millis) -> Readiness {
    match &task.record.state {
        TaskState::Waiting { on, until, .. } => waiting_readiness(state, task, on, *until, now),
        TaskState::Pending { .. } | TaskState::Running { .. } => match task.wake {
            None | Some(Wake::Now) => Readiness::Ready,
            _ if unanswered(&task.record) > 0 => Readiness::Ready,
            Some(Wake::At(at)) => until_or_ready(at, now),
            // A task that never ran has not reached the outside yet: only a recovered one is parked.
            Some(Wake::External) if task.recovered && task.record.started_at.is_some() => Readiness::Parked,
            Some(Wake::External) => Readiness::Ready,
        },
        TaskState::Completing { .. } | TaskState::Terminal { .. } => Readiness::Parked,
    }
}

fn waiting_readiness(
    state: &State,
    task: &LiveTask,
    on: &[TaskId],
    until: Option<Millis>,
    now: Millis,
) -> Readiness {
    let sleeps = on.is_empty() && until.is_some();
    let early = broken(Sabotage::ResumesJoinEarly) && on.iter().any(|id| !state.is_live(*id));
    let joined = !sleeps && (early || !on.iter().any(|id| state.is_live(*id)));
    if joined || (sleeps && unanswered(&task.record) > 0) {
        return Readiness::Ready;
    }
    until.map_or(Readiness::Parked, |until| until_or_ready(until, now))
}

fn until_or_ready(at: Millis, now: Millis) -> Readiness {
    if broken(Sabotage::EarlyWake) {
        return Readiness::Ready;
    }
    if now >= at {
        Readiness::Ready
    } else {
        Readiness::Until(at)
    }
}
