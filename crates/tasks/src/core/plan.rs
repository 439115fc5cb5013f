//! Whether and when something is to be done: read off the agenda after each commit that matters.

use crate::core::sabotage::Sabotage;
use crate::core::state::State;
use tidehold_session::host::Millis;

/// What the scheduler has to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Work is under way or could start.
    pub now: bool,
    /// The earliest time that something is parked until.
    pub at: Option<Millis>,
}

/// Whether a pass has something to do.
pub fn is_due(state: &State, now: Millis) -> bool {
    state.first_missing().is_some()
        || state.needs_queues()
        || state.agenda.is_due(now)
        || state.has_aborts_to_end()
}

/// What is due over all live, unblocked tasks. A time that has passed is now.
pub fn due(state: &State, now: Millis) -> Due {
    if state.sabotaged(Sabotage::NoDeadlines) {
        let now = is_due(state, now) || state.agenda.is_under_way(now);
        return Due { now, at: None };
    }
    let times = [state.agenda.next_start(now), state.agenda.next_check(now)];
    Due {
        now: is_due(state, now) || state.agenda.is_under_way(now),
        at: times.into_iter().flatten().min(),
    }
}

/// The earliest later time at which a task starts, for the timer in memory.
pub fn next_start(state: &State, now: Millis) -> Option<Millis> {
    if state.sabotaged(Sabotage::NoDeadlines) {
        return None;
    }
    state.agenda.next_start(now)
}
