//! What follows from committed records alone (spec 5.4 and 5.5): marks that flow down, queues they empty, outcomes whose
//! hold is over. One commit performs all of it.

use crate::core::agenda::{Due, Standing};
use crate::core::forest::{Named, Place};
use crate::core::index::{IdMap, Index};
use crate::core::state::State;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::AbortMarkReason;

/// One write of a reconcile commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reconcile {
    /// The conversation's queued inputs become unanswered.
    Withdraw(ConversationId),
    /// An abort mark, or a request that replaces a `restart` mark.
    Mark(TaskId, Option<AbortMarkReason>),
    /// The held outcome becomes terminal.
    Finalize(TaskId),
    /// Every mark of the unfinished conversation aborts is set.
    EndAborts,
}

/// All that is due. Everything the state misses was loaded.
pub fn reconcile(state: &State) -> Vec<Reconcile> {
    // Withdrawals first: they may read documents of runs that a final record retires.
    let mut actions: Vec<_> = state.agenda.withdrawals().map(Reconcile::Withdraw).collect();
    let finalized = finalized(state);
    let ends = |id: &TaskId| finalized.binary_search_by(|other| id.cmp(other)).is_ok();
    for id in state.agenda.tasks(Due::Mark).filter(|id| !ends(id)) {
        if let Some(Standing::Mark(reason, _)) = state.task(id).map(|task| task.standing) {
            actions.push(Reconcile::Mark(id, reason));
        }
    }
    actions.extend(finalized.iter().copied().map(Reconcile::Finalize));
    // Last, so that it is reached by the commit that has room for the rest of the marks.
    if state.has_aborts_to_end() {
        actions.push(Reconcile::EndAborts);
    }
    actions
}

/// Completing tasks whose ordinary owned work has ended, counting those that end in this very commit. Work before its owner:
/// a commit that has room for a part only may cut the list anywhere.
fn finalized(state: &State) -> Vec<TaskId> {
    let mut done = Vec::new();
    let mut ready = Index::default();
    for id in state.agenda.tasks(Due::Finalize) {
        ready.insert(0, id.0);
    }
    // Busy children that are left, of places above those that end here.
    let mut left: IdMap<u64, u64> = IdMap::default();
    // An owner exists before what it owns, so descending ids walk every tree from below.
    while let Some(id) = ready.pop_last().map(TaskId) {
        done.push(id);
        let mut next = state.forest.busy_parent(Place::task(id));
        while let Some(above) = next {
            let count = left
                .entry(above.number())
                .or_insert_with(|| state.forest.busy_children(above).into());
            *count = count.saturating_sub(1);
            if *count > 0 {
                break;
            }
            next = match above.named() {
                Named::Task(owner) if state.is_live(owner) => {
                    let completing = state
                        .record(owner)
                        .is_some_and(|record| record.outcome().is_some());
                    if completing {
                        ready.insert(0, owner.0);
                    }
                    None
                }
                Named::Task(_) | Named::Conversation(_) => state.forest.busy_parent(above),
            };
        }
    }
    done
}
