//! Abort marks that flow down (spec 5.4).

use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{AbortMarkReason, TaskOutcome, TaskRecord, TaskState};

/// Whether a mark changes the record.
pub fn is_news(record: &TaskRecord, reason: Option<AbortMarkReason>) -> bool {
    !record.abort_requested || (record.abort_reason.is_some() && reason.is_none())
}

/// The mark that the owners above a task ask for.
pub fn inherited(state: &State, id: TaskId) -> Option<Option<AbortMarkReason>> {
    if broken(Sabotage::NoCascade) {
        return None;
    }
    let mut mark = None;
    // A background task with an intent of its own is no boundary: a request above it replaces what a restart marked below.
    let crosses = |owner| state.record(owner).is_some_and(|record| intent(record).is_some());
    for owner in state.forest.view().owners_across(id, crosses) {
        match state.record(owner).and_then(|record| intent(record)) {
            Some(None) => return Some(None),
            Some(restart) => mark = Some(restart),
            None => {}
        }
    }
    mark
}

/// A live owner's cancellation intent and the reason it passes on.
pub fn intent(record: &TaskRecord) -> Option<Option<AbortMarkReason>> {
    match &record.state {
        TaskState::Terminal { .. } => None,
        TaskState::Completing { outcome }
            if !matches!(outcome, TaskOutcome::Completed { .. }) || broken(Sabotage::CompletedCancels) =>
        {
            Some(None)
        }
        _ => record.abort_requested.then_some(record.abort_reason),
    }
}
