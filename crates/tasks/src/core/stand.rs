//! How a task stands: the one decision of what happens to it next. Everything else puts these answers in order.

use crate::core::agenda::Standing;
use crate::core::forest::Place;
use crate::core::marks::{inherited, is_news};
use crate::core::reserve::{Readiness, Reservation, readiness};
use crate::core::sabotage::Sabotage;
use crate::core::state::{Fit, LiveTask, Mode, State, unanswered};
use crate::task::Wake;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::{AbortMarkReason, TaskState};

/// What a task's place in the tree says about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Around {
    /// Live ordinary owned work holds it.
    pub held: bool,
    /// The mark that others ask for, with its reason.
    pub mark: Option<Option<AbortMarkReason>>,
    /// No run phase of it may start.
    pub below_intent: bool,
}

/// The task's next step. Costs its depth, and nothing of that while no cancellation is under way.
pub fn stand(state: &State, task: &LiveTask) -> Standing {
    let id = task.record.id;
    let around = Around {
        held: state.forest.is_busy_below(Place::task(id)),
        mark: wanted_mark(state, task),
        below_intent: state.is_below_intent(id),
    };
    decide(state, task, around)
}

/// A request beats a restart.
fn wanted_mark(state: &State, task: &LiveTask) -> Option<Option<AbortMarkReason>> {
    let id = task.record.id;
    let inherits = if state.intents > 0 {
        inherited(state, id)
    } else {
        None
    };
    if inherits == Some(None) || state.shares_a_loss(task) || state.is_being_aborted(id) {
        return Some(None);
    }
    let restart = Some(Some(AbortMarkReason::Restart));
    inherits.or(if task.awaits_restart_mark() { restart } else { None })
}

/// The step that follows from a task and its surroundings.
pub fn decide(state: &State, task: &LiveTask, around: Around) -> Standing {
    let record = &task.record;
    let completing = record.outcome().is_some();
    if completing && !around.held {
        return Standing::Finalize;
    }
    let step = if completing {
        Standing::Parked
    } else if task.invocation.is_some() {
        under_way(state, task)
    } else if record.abort_requested {
        abort_start(state, task, around)
    } else {
        run_start(state, task)
    };
    match (step, around.mark) {
        (Standing::ReserveAt(at, _) | Standing::UnderWayUntil(at), Some(reason))
            if is_news(record, reason) =>
        {
            Standing::Mark(reason, Some(at))
        }
        (_, Some(reason)) if is_news(record, reason) => Standing::Mark(reason, None),
        // Only its abort handler may run, once the cascade has marked it.
        (Standing::Reserve(_) | Standing::ReserveAt(..), _)
            if around.below_intent && !record.abort_requested =>
        {
            Standing::Parked
        }
        (step, _) => step,
    }
}

/// An invocation is active, or ends just now.
fn under_way(state: &State, task: &LiveTask) -> Standing {
    if task.record.abort_requested {
        return Standing::UnderWay;
    }
    let until = match (&task.record.state, task.wake) {
        (TaskState::Running { .. }, Some(Wake::At(at))) => Readiness::Until(at),
        // A poke must not be lost with the memory before the task has looked after it.
        (TaskState::Running { .. }, Some(Wake::External)) if unanswered(&task.record) == 0 => {
            Readiness::Parked
        }
        (TaskState::Running { .. }, _) => Readiness::Ready,
        _ => readiness(state, task),
    };
    match until {
        Readiness::Ready => Standing::UnderWay,
        Readiness::Until(at) => Standing::UnderWayUntil(at),
        Readiness::Parked => Standing::Parked,
    }
}

/// An abort handler starts once the work below, which is marked too, has ended.
fn abort_start(state: &State, task: &LiveTask, around: Around) -> Standing {
    if around.held && !state.sabotaged(Sabotage::TopDownAbort) {
        return Standing::Parked;
    }
    let id = task.record.id;
    match &task.fit {
        Fit::Blocked { reason, .. } if task.record.abort_reason.is_none() => {
            Standing::Reserve(Reservation::Orphan(id, *reason))
        }
        Fit::Blocked { .. } => Standing::Parked,
        Fit::Untried => Standing::Reserve(Reservation::Migrate(id)),
        Fit::Fits | Fit::Migrated { .. } => Standing::Reserve(Reservation::Start(id, Mode::Abort)),
    }
}

fn run_start(state: &State, task: &LiveTask) -> Standing {
    let id = task.record.id;
    let start = match &task.fit {
        Fit::Blocked { .. } => return Standing::Parked,
        Fit::Untried => Reservation::Migrate(id),
        Fit::Fits | Fit::Migrated { .. } => Reservation::Start(id, Mode::Run),
    };
    match readiness(state, task) {
        Readiness::Ready => Standing::Reserve(start),
        Readiness::Until(at) => Standing::ReserveAt(at, start),
        Readiness::Parked => Standing::Parked,
    }
}

/// Whether the queued inputs of a conversation are below an intent. The intent's own conversation keeps its queue.
pub fn must_withdraw(state: &State, id: ConversationId) -> bool {
    let mut owners = state.forest.view().ordinary_owners_of_conversation(id);
    state.intents > 0
        && state.forest.is_pinned(Place::conversation(id))
        && owners.any(|owner| state.cancels_below(owner))
}
