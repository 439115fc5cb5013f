//! An outcome meets the work below it: hold or end (spec 5.5, rule 1).

use crate::core::forest::View;
use crate::core::sabotage::Sabotage;
use crate::core::state::State;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskState};

/// The state an outcome takes in the forest that the commit would leave.
pub fn ending(state: &State, candidate: View<'_>, id: TaskId, outcome: TaskOutcome) -> TaskState {
    if state.sabotaged(Sabotage::NoHold) {
        return TaskState::Terminal { outcome };
    }
    if candidate.holds(id) {
        TaskState::Completing { outcome }
    } else {
        TaskState::Terminal { outcome }
    }
}
