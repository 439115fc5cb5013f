//! The same decisions as scans over everything: slow, short, and without any memory of what was decided before.

use crate::core::forest::{Above, Life};
use crate::core::marks::{intent, is_news};
use crate::core::plan::Due;
use crate::core::reconcile::Reconcile;
use crate::core::reserve::Reservation;
use crate::core::scope::{Boundaries, Start, reaches_task};
use crate::core::state::{Fit, LiveTask, Mode, State, unanswered};
use crate::task::Wake;
use std::collections::{BTreeMap, BTreeSet};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{AbortMarkReason, JoinPolicy, TaskOutcome, TaskState};

fn owners(state: &State, id: TaskId) -> Vec<TaskId> {
    state.forest.view().ordinary_owners(id).collect()
}

/// Those, and across background ones with an intent those above them.
fn cancelling_owners(state: &State, id: TaskId) -> Vec<TaskId> {
    let mut found = owners(state, id);
    while let Some(last) = found.last().copied() {
        let is_background = state.forest.is_background(last);
        let record = state.tasks.get(&last).map(|task| &task.record);
        if !is_background || record.is_none_or(|record| intent(record).is_none()) {
            break;
        }
        let Above::Task(above) = state.forest.view().above(last) else {
            break;
        };
        found.push(above);
        if !state.forest.is_background(above) {
            found.extend(owners(state, above));
        }
    }
    found
}

/// Owners of live ordinary work, leaving some tasks out.
fn holding(state: &State, gone: &BTreeSet<TaskId>) -> BTreeSet<TaskId> {
    let live = state.tasks.keys().filter(|id| !gone.contains(id));
    live.flat_map(|id| owners(state, *id)).collect()
}

pub fn reconcile(state: &State) -> Vec<Reconcile> {
    let mut gone = BTreeSet::new();
    loop {
        let holding = holding(state, &gone);
        let ends = |id: &TaskId| state.tasks[id].record.outcome().is_some() && !holding.contains(id);
        let more: Vec<TaskId> = state.tasks.keys().copied().filter(ends).collect();
        let before = gone.len();
        gone.extend(more);
        if gone.len() == before {
            break;
        }
    }
    let mut actions: Vec<Reconcile> = withdrawals(state).map(Reconcile::Withdraw).collect();
    let marks = marks(state).into_iter().filter(|(id, _)| !gone.contains(id));
    actions.extend(marks.map(|(id, reason)| Reconcile::Mark(id, reason)));
    actions.extend(gone.iter().rev().copied().map(Reconcile::Finalize));
    actions.extend((!state.aborts.is_empty() && !state.tasks.is_empty()).then_some(Reconcile::EndAborts));
    actions
}

fn withdrawals(state: &State) -> impl Iterator<Item = ConversationId> {
    let mut queues: BTreeSet<ConversationId> = BTreeSet::new();
    for (conversation, _) in state.queues.inputs.up_to(u64::MAX) {
        let conversation = ConversationId(conversation);
        let mut above = state.forest.view().ordinary_owners_of_conversation(conversation);
        if above.any(|owner| state.cancels_below(owner)) {
            queues.insert(conversation);
        }
    }
    queues.into_iter()
}

fn marks(state: &State) -> BTreeMap<TaskId, Option<AbortMarkReason>> {
    let mut marks: BTreeMap<TaskId, Option<AbortMarkReason>> = BTreeMap::new();
    for (id, task) in &state.tasks {
        let intents = cancelling_owners(state, *id)
            .into_iter()
            .filter_map(|owner| intent(&state.tasks.get(&owner)?.record));
        let mut wanted: Vec<Option<AbortMarkReason>> = intents.collect();
        if task.recovered && task.record.abandon_on_restart {
            wanted.push(Some(AbortMarkReason::Restart));
        }
        let aborts = |abort: &&crate::core::state::UnfinishedAbort| {
            let start = Start::Conversation(abort.conversation);
            *id <= abort.last && reaches_task(state, *id, start, abort.boundaries)
        };
        wanted.extend(state.aborts.iter().filter(aborts).map(|_| None));
        if wanted.contains(&None) {
            marks.insert(*id, None);
        } else if let Some(restart) = wanted.first() {
            marks.insert(*id, *restart);
        }
    }
    for waiter in state.tasks.values() {
        let TaskState::Waiting {
            on,
            policy: JoinPolicy::FailFast,
            ..
        } = &waiter.record.state
        else {
            continue;
        };
        if !waiter.record.abort_requested && on.iter().any(|id| has_failed(state, *id)) {
            let losers = on
                .iter()
                .filter(|id| state.is_live(**id) && !has_failed(state, **id));
            marks.extend(losers.map(|id| (*id, None)));
        }
    }
    marks.retain(|id, reason| is_news(&state.tasks[id].record, *reason));
    marks
}

fn has_failed(state: &State, id: TaskId) -> bool {
    match state.tasks.get(&id) {
        Some(task) => task
            .record
            .outcome()
            .is_some_and(|held| !matches!(held, TaskOutcome::Completed { .. })),
        None => state
            .forest
            .node(id)
            .is_some_and(|node| node.life == Life::Unsuccessful),
    }
}

#[derive(PartialEq)]
enum Ready {
    Now,
    At(Millis),
    Never,
}

fn ready(state: &State, task: &LiveTask) -> Ready {
    let poked = unanswered(&task.record) > 0;
    match &task.record.state {
        TaskState::Waiting { on, until, .. } => {
            let open = on.iter().any(|id| state.is_live(*id));
            match until {
                Some(_) if on.is_empty() && poked => Ready::Now,
                Some(at) if on.is_empty() || open => Ready::At(*at),
                None if open => Ready::Never,
                _ => Ready::Now,
            }
        }
        TaskState::Completing { .. } | TaskState::Terminal { .. } => Ready::Never,
        _ => match task.wake {
            Some(Wake::At(at)) if !poked => Ready::At(at),
            Some(Wake::External) if !poked && task.recovered && task.record.started_at.is_some() => {
                Ready::Never
            }
            _ => Ready::Now,
        },
    }
}

pub fn reserve(state: &State, now: Millis) -> Vec<Reservation> {
    let holding = holding(state, &BTreeSet::new());
    let mut reservations = BTreeMap::new();
    for (id, task) in &state.tasks {
        if task.invocation.is_some() || task.record.outcome().is_some() {
            continue;
        }
        let marked = task.record.abort_requested;
        let due = match ready(state, task) {
            Ready::Now => true,
            Ready::At(at) => at <= now,
            Ready::Never => false,
        };
        if if marked {
            holding.contains(id)
        } else {
            !due || state.is_below_intent(*id)
        } {
            continue;
        }
        let reservation = match &task.fit {
            Fit::Blocked { reason, .. } if marked && task.record.abort_reason.is_none() => {
                Reservation::Orphan(*id, *reason)
            }
            Fit::Blocked { .. } => continue,
            Fit::Untried => Reservation::Migrate(*id),
            _ if marked => Reservation::Start(*id, Mode::Abort),
            _ => Reservation::Start(*id, Mode::Run),
        };
        reservations.insert(*id, reservation);
    }
    // What is marked first has nothing to start.
    let marked = marks(state);
    reservations.retain(|id, _| !marked.contains_key(id));
    reservations.into_values().collect()
}

pub fn due(state: &State, now: Millis) -> Due {
    let holding = holding(state, &BTreeSet::new());
    let mut due = Due {
        now: state.first_missing().is_some()
            || state.needs_queues()
            || !reconcile(state).is_empty()
            || !reserve(state, now).is_empty(),
        at: None,
    };
    for (id, task) in &state.tasks {
        let blocked = matches!(task.fit, Fit::Blocked { .. });
        if task.record.outcome().is_some() || (blocked && task.invocation.is_none()) {
            continue;
        }
        let needs = if task.record.abort_requested {
            match task.invocation.is_some() || !holding.contains(id) {
                true => Ready::Now,
                false => Ready::Never,
            }
        } else if matches!(task.record.state, TaskState::Running { .. }) && task.invocation.is_some() {
            match task.wake {
                Some(Wake::At(at)) => Ready::At(at),
                Some(Wake::External) if unanswered(&task.record) == 0 => Ready::Never,
                _ => Ready::Now,
            }
        } else {
            ready(state, task)
        };
        match needs {
            Ready::Now => due.now = true,
            Ready::At(at) if at <= now => due.now = true,
            Ready::At(at) => due.at = Some(due.at.map_or(at, |other| other.min(at))),
            Ready::Never => {}
        }
    }
    due
}

pub fn is_idle(state: &State, start: Start) -> bool {
    let mut live = state.tasks.keys();
    !live.any(|id| reaches_task(state, *id, start, Boundaries::Background))
}
