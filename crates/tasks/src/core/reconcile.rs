//! What follows from committed records alone (spec 5.4 and 5.5): marks that flow down, queues they empty, outcomes whose
//! hold is over. One commit performs all of it.

use crate::core::sabotage::{Sabotage, broken};
use crate::core::set::Set;
use crate::core::state::{LiveTask, Stage, State};
use litemap::LiteMap;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{AbortMarkReason, TaskOutcome, TaskRecord, TaskState};

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
    let withdrawals = withdrawals(state).into_iter().map(Reconcile::Withdraw);
    let finalized = finalized(state);
    let marks = marks(state);
    let marks = marks.into_iter().filter(|(id, _)| !finalized.contains(id));
    let marks = marks.map(|(id, reason)| Reconcile::Mark(id, reason));
    // Last, so that it is reached by the commit that has room for the rest of the marks. Without live work it can wait.
    let ends_aborts = !state.aborts.is_empty() && !state.tasks.is_empty();
    // Withdrawals first: they may read documents of runs that a final record retires.
    withdrawals
        .chain(marks)
        .chain(finalized.iter().copied().map(Reconcile::Finalize))
        .chain(ends_aborts.then_some(Reconcile::EndAborts))
        .collect()
}

/// New marks by task; a request beats a restart.
fn marks(state: &State) -> LiteMap<TaskId, Option<AbortMarkReason>> {
    let mut marks = LiteMap::new_vec();
    if state.stage == Stage::Restarting && !broken(Sabotage::NoRestartMarks) {
        let abandoned = state
            .tasks
            .iter()
            .filter(|(_, task)| task.recovered && task.record.abandon_on_restart);
        marks.extend(abandoned.map(|(id, _)| (*id, Some(AbortMarkReason::Restart))));
    }
    // Nearly always there is no intent, and no chain needs a walk.
    if state.has_intent() {
        for id in state.tasks.keys() {
            match inherited(state, *id) {
                Some(None) => drop(marks.insert(*id, None)),
                Some(restart) => drop(marks.entry(*id).or_insert(restart)),
                None => {}
            }
        }
    }
    for id in fail_fast_losers(state) {
        marks.insert(id, None);
    }
    if !state.aborts.is_empty() {
        let reached = state.tasks.keys().filter(|id| state.is_being_aborted(**id));
        marks.extend(reached.map(|id| (*id, None)));
    }
    marks.retain(|id, reason| state.record(*id).is_some_and(|record| is_news(record, *reason)));
    marks
}

/// Whether a mark changes the record.
pub fn is_news(record: &TaskRecord, reason: Option<AbortMarkReason>) -> bool {
    !record.abort_requested || (record.abort_reason.is_some() && reason.is_none())
}

/// The mark that the owners above a task ask for.
fn inherited(state: &State, id: TaskId) -> Option<Option<AbortMarkReason>> {
    if broken(Sabotage::NoCascade) {
        return None;
    }
    let mut mark = None;
    for owner in state.forest.ordinary_owners(id) {
        match state.record(owner).map(|record| intent(record)) {
            Some(Some(None)) => return Some(None),
            Some(Some(restart)) => mark = Some(restart),
            Some(None) | None => {}
        }
    }
    mark
}

/// A live owner's cancellation intent and the reason it passes on.
fn intent(record: &TaskRecord) -> Option<Option<AbortMarkReason>> {
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

/// Live members of failFast waits of which another member failed, or holds a failure.
fn fail_fast_losers(state: &State) -> Set<TaskId> {
    let mut losers = Set::new();
    for (waiter, on) in state.fail_fast_waits() {
        if broken(Sabotage::NoFailFast) {
            break;
        }
        if on.iter().any(|id| has_failed(state, *id)) {
            if broken(Sabotage::MarksTheWaiter) {
                losers.insert(waiter);
            }
            losers.extend(
                on.iter()
                    .copied()
                    .filter(|id| state.is_live(*id) && !has_failed(state, *id)),
            );
        }
    }
    losers
}

fn has_failed(state: &State, id: TaskId) -> bool {
    use crate::core::forest::Life;
    match state.record(id) {
        Some(record) => record
            .outcome()
            .is_some_and(|held| !matches!(held, TaskOutcome::Completed { .. })),
        None => state
            .forest
            .node(id)
            .is_some_and(|node| node.life == Life::Unsuccessful),
    }
}

/// Completing tasks whose ordinary owned work has ended, counting those that end in this very commit. Work before its owner:
/// a commit that has room for a part only may cut the list anywhere.
fn finalized(state: &State) -> Vec<TaskId> {
    let completing = |task: &LiveTask| matches!(task.record.state, TaskState::Completing { .. });
    let (mut done, mut holding) = (Vec::new(), Set::new());
    if !state.tasks.values().any(completing) {
        return done;
    }
    // An owner exists before what it owns, so descending ids walk every tree from below.
    for (id, task) in state.tasks.iter().rev() {
        let forgotten = broken(Sabotage::ForgetsHeldAtOpen) && task.recovered;
        if completing(task) && !holding.contains(id) && !forgotten {
            done.push(*id);
        } else {
            state.forest.hold_above(*id, &mut holding);
        }
    }
    done
}

/// Conversations below an intent that may hold queued inputs. The intent's own conversation keeps its queue.
fn withdrawals(state: &State) -> Set<ConversationId> {
    if !state.has_intent() {
        return Set::new();
    }
    let cancels = |owner| state.record(owner).is_some_and(|record| record.cancels_below());
    let mut queues = state.queues.conversations();
    queues.retain(|id| state.forest.ordinary_owners_of_conversation(*id).any(cancels));
    queues
}
