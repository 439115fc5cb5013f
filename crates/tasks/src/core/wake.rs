//! When the object must wake again (invariant 6). Pure: due work in, alarm time out.

use crate::core::plan::Plan;
use crate::core::reserve::{Readiness, readiness};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::set::Set;
use crate::core::state::{LiveTask, State, unanswered};
use crate::recovery::backoff;
use crate::task::Wake;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;

/// What the scheduler has to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Work is under way or could start.
    pub now: bool,
    /// The earliest time that something is parked until.
    pub at: Option<Millis>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DueOne {
    Now,
    At(Millis),
}

/// What is due over all live, unblocked tasks. A time that has passed is now.
pub fn due(state: &State, plan: &Plan, now: Millis) -> Due {
    let mut due = Due {
        now: plan.is_due(),
        at: None,
    };
    for (id, task) in &state.tasks {
        match due_one(state, &plan.holding, *id, task, now) {
            Some(DueOne::Now) => due.now = true,
            Some(DueOne::At(at)) => due.at = Some(due.at.map_or(at, |earlier| earlier.min(at))),
            None => {}
        }
    }
    if broken(Sabotage::NoDeadlines) {
        due.at = None;
    }
    due
}

fn due_one(state: &State, holding: &Set<TaskId>, id: TaskId, task: &LiveTask, now: Millis) -> Option<DueOne> {
    // What a held outcome waits for has its own wake; when its turn comes the plan is due.
    if task.record.outcome().is_some() || (task.blocked().is_some() && task.invocation.is_none()) {
        return None;
    }
    if task.record.abort_requested {
        // Its abort handler, at once or after the work below, which is marked too and has a wake of its own. A run
        // invocation that still ends counts as work below: it was signalled.
        return if task.invocation.is_some() || !holding.contains(&id) {
            Some(DueOne::Now)
        } else {
            None
        };
    }
    match &task.record.state {
        TaskState::Running { .. } if task.invocation.is_some() => match task.wake {
            Some(Wake::At(at)) if at > now => Some(DueOne::At(at)),
            // A poke must not be lost with the memory before the task has looked after it.
            Some(Wake::External) if unanswered(&task.record) == 0 => None,
            None | Some(_) if broken(Sabotage::NoWatchdog) => None,
            None | Some(_) => Some(DueOne::Now),
        },
        _ => match readiness(state, task, now) {
            Readiness::Ready => Some(DueOne::Now),
            Readiness::Until(at) => Some(DueOne::At(at)),
            Readiness::Parked => None,
        },
    }
}

/// What the alarm is computed from besides what is due.
#[derive(Clone, Copy, Debug)]
pub struct AlarmInputs {
    pub now: Millis,
    /// The time it was set to last.
    pub armed: Option<Millis>,
    pub watchdog: Millis,
    /// Opens without progress that still count.
    pub opens: u32,
    /// Whether tasks are being started; a paused session wakes at once instead of watching.
    pub scheduling: bool,
}

/// The alarm for what is due. While work is under way the watchdog stays ahead, and moves only when it is too late or under
/// half its distance away, since each setting is a billed row.
pub fn alarm(due: Due, inputs: AlarmInputs) -> Option<Millis> {
    let watch = due.now.then(|| watch(due.at, inputs));
    match (watch, due.at) {
        (Some(watch), Some(at)) => Some(watch.min(at)),
        (watch, at) => watch.or(at),
    }
}

fn watch(before: Option<Millis>, inputs: AlarmInputs) -> Millis {
    let AlarmInputs {
        now,
        armed,
        watchdog,
        opens,
        scheduling,
    } = inputs;
    let distance = if scheduling {
        watchdog.max(backoff(opens, watchdog))
    } else {
        backoff(opens, watchdog)
    };
    let latest = now.saturating_add(distance);
    // A paused session has a deadline rather than a watchdog: it is not pushed ahead.
    let earliest = if scheduling {
        now.saturating_add(distance / 2)
    } else {
        0
    };
    let serves = earliest..=latest;
    let armed = armed.filter(|armed| serves.contains(armed) && before.is_none_or(|before| *armed <= before));
    armed.unwrap_or(latest)
}

/// Deadlines of tasks that are parked until a time, for the timer in memory.
pub fn next_deadline(state: &State, now: Millis) -> Option<Millis> {
    let parked = state
        .tasks
        .values()
        .filter(|task| task.invocation.is_none() && task.blocked().is_none() && !task.record.abort_requested);
    let deadlines = parked.filter_map(|task| match readiness(state, task, now) {
        Readiness::Until(at) => Some(at),
        Readiness::Ready | Readiness::Parked => None,
    });
    deadlines.min()
}
