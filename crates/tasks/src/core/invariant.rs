//! "Unsettled, unblocked, non-external work has a wake" (invariant 6), stated independently of how the wake is computed.

use crate::core::state::{LiveTask, State, unanswered};
use crate::task::Wake;
use std::collections::HashSet;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;

/// A breach, in words. `alarm` is what is armed after the commit.
pub fn check(state: &State, alarm: Option<Millis>, now: Millis) -> Result<(), String> {
    if state.tasks.is_empty() {
        return match alarm {
            None => Ok(()),
            Some(at) => Err(format!("nothing is live, yet an alarm is set for {at}")),
        };
    }
    let holding = holding(state);
    let mut needs = state
        .tasks
        .iter()
        .filter_map(|(id, task)| needs(state, &holding, *id, task, now));
    match needs.find(|(_, at)| !is_served(alarm, *at)) {
        None => Ok(()),
        Some((id, at)) => match alarm {
            Some(alarm) => Err(format!("task {id} wakes at {at:?}, the alarm only at {alarm}")),
            None => Err(format!("task {id} is unsettled and nothing wakes it")),
        },
    }
}

/// A watchdog may sit beyond a time that has passed; nothing else may be later than the task's own time.
fn is_served(alarm: Option<Millis>, at: Option<Millis>) -> bool {
    alarm.is_some_and(|alarm| at.is_none_or(|at| alarm <= at))
}

/// Whether the task itself needs a wake, and by when.
fn needs(
    state: &State,
    holding: &HashSet<TaskId>,
    id: TaskId,
    task: &LiveTask,
    now: Millis,
) -> Option<(TaskId, Option<Millis>)> {
    if task.blocked().is_some() && task.invocation.is_none() && task.record.outcome().is_none() {
        return None;
    }
    let future = |at: Millis| (at > now).then_some(at);
    match &task.record.state {
        TaskState::Terminal { .. } => None,
        // Held outcomes and marks wait for what is below; at the bottom there is nothing to wait for.
        TaskState::Completing { .. } => (!holding.contains(&id)).then_some((id, None)),
        _ if task.record.abort_requested => (!holding.contains(&id)).then_some((id, None)),
        // The end of all it waits for, or a poke, makes it ready before its time.
        TaskState::Waiting { on, until, .. } => match until {
            Some(until) if on.iter().any(|on| state.is_live(*on)) => Some((id, future(*until))),
            Some(until) if on.is_empty() && unanswered(&task.record) == 0 => Some((id, future(*until))),
            Some(_) => Some((id, None)),
            None => (!on.iter().any(|on| state.is_live(*on))).then_some((id, None)),
        },
        TaskState::Pending { .. } if unanswered(&task.record) > 0 => Some((id, None)),
        // Code under way has looked: only after its end a poke starts the task before its time.
        TaskState::Running { .. } if unanswered(&task.record) > 0 && task.invocation.is_none() => {
            Some((id, None))
        }
        TaskState::Pending { .. } | TaskState::Running { .. } => match task.wake {
            None | Some(Wake::Now) => Some((id, None)),
            Some(Wake::At(at)) => Some((id, future(at))),
            Some(Wake::External) => (unanswered(&task.record) > 0).then_some((id, None)),
        },
    }
}

/// Owners of live ordinary work, found from below.
fn holding(state: &State) -> HashSet<TaskId> {
    let view = state.forest.view();
    let owners = state.tasks.keys().flat_map(|id| view.ordinary_owners(*id));
    owners.collect()
}
