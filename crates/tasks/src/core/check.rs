//! Everything that the mirror keeps up to date, computed again from records and owner edges alone. For tests, and for debug
//! builds while few tasks are live: an index that went wrong shows at once, and not when somebody misses a wake-up.

use crate::core::agenda::{Agenda, Standing};
use crate::core::forest::{Known, Life, Named, Place, Reach};
use crate::core::index::Index;
use crate::core::joins::wait_of;
use crate::core::marks::{inherited, intent};
use crate::core::scope::{Boundaries, Start, is_idle, reaches_task};
use crate::core::stand::{Around, decide};
use crate::core::state::{Join, LiveTask, State, has_failed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{AbortMarkReason, JoinPolicy};

#[cfg(test)]
thread_local! {
    static WANTED: std::cell::Cell<bool> = const { std::cell::Cell::new(true) };
}

/// Whether this thread computes everything again after its commits. Tens of thousands of stories do it now and then.
#[cfg(test)]
pub(crate) fn set_wanted(wanted: bool) {
    WANTED.set(wanted);
}

/// Whether a debug build computes everything again after this commit.
pub(crate) fn is_wanted() -> bool {
    #[cfg(test)]
    return WANTED.get();
    #[cfg(not(test))]
    true
}

/// The first difference, in words.
pub fn check(state: &State) -> Result<(), String> {
    same("waits", &state.waits, &waits(state))?;
    let intents = state.tasks.values().filter(|task| intent(&task.record).is_some());
    same("intents", &state.intents, &intents.count())?;
    same("edges", &kept_edges(state), &edges(state))?;
    for (id, task) in state.live_tasks() {
        let life = state.forest.node(id).map(|node| node.life);
        same("life", &(id, life), &(id, Some(Life::Live)))?;
        same("join", &(id, task.join), &(id, join(state, task)))?;
    }
    check_idle(state)?;
    // While an edge is missing nothing is decided, and what is below it stands anew with the last one.
    if state.first_missing().is_some() {
        return Ok(());
    }
    let view = state.forest.view();
    let holding: BTreeSet<TaskId> = state
        .tasks
        .keys()
        .flat_map(|id| view.ordinary_owners(*id))
        .collect();
    let mut agenda = Agenda::default();
    for (id, task) in state.live_tasks() {
        let standing = standing(state, task, holding.contains(&id));
        same("standing", &(id, task.standing), &(id, standing))?;
        agenda.move_task(id, Standing::Parked, standing);
    }
    for conversation in queues(state) {
        let mut owners = view.ordinary_owners_of_conversation(conversation);
        if owners.any(|owner| state.cancels_below(owner)) {
            agenda.withdraw(conversation);
        }
    }
    same("agenda", &state.agenda, &agenda)
}

fn same<T: PartialEq + Debug>(what: &str, kept: &T, computed: &T) -> Result<(), String> {
    if kept == computed {
        Ok(())
    } else {
        Err(format!("{what}: kept {kept:?}, computed {computed:?}"))
    }
}

fn queues(state: &State) -> BTreeSet<ConversationId> {
    let inputs = state.queues.inputs.up_to(u64::MAX);
    inputs
        .map(|(conversation, _)| ConversationId(conversation))
        .collect()
}

fn waits(state: &State) -> Index {
    let mut waits = Index::default();
    for (id, task) in &state.tasks {
        for target in wait_of(&task.record).iter().flat_map(|(on, _)| *on) {
            waits.insert(target.0, id.0);
        }
    }
    waits
}

fn join(state: &State, task: &LiveTask) -> Join {
    let Some((on, policy)) = wait_of(&task.record) else {
        return Join::default();
    };
    let on: BTreeSet<TaskId> = on.iter().copied().collect();
    let open = on.iter().filter(|id| state.is_live(**id)).count();
    Join {
        open: u32::try_from(open).unwrap_or(u32::MAX),
        lost: policy == JoinPolicy::FailFast && on.iter().any(|id| has_ended_badly(state, *id)),
    }
}

fn has_ended_badly(state: &State, id: TaskId) -> bool {
    match state.record(id) {
        Some(record) => has_failed(record),
        None => state
            .forest
            .node(id)
            .is_some_and(|node| node.life == Life::Unsuccessful),
    }
}

fn is_loser(state: &State, task: &LiveTask) -> bool {
    let id = task.record.id;
    let mut waiters = state.tasks.values();
    !has_failed(&task.record)
        && waiters.any(|waiter| {
            wait_of(&waiter.record).is_some_and(|(on, policy)| {
                policy == JoinPolicy::FailFast
                    && on.contains(&id)
                    && on.iter().any(|other| has_ended_badly(state, *other))
            })
        })
}

fn standing(state: &State, task: &LiveTask, held: bool) -> Standing {
    let (id, view) = (task.record.id, state.forest.view());
    let aborted = state.aborts.iter().any(|abort| {
        let start = Start::Conversation(abort.conversation);
        id <= abort.last && reaches_task(state, id, start, abort.boundaries)
    });
    let mut marks = vec![inherited(state, id)];
    marks.push((is_loser(state, task) || aborted).then_some(None));
    let abandoned = task.recovered && task.record.abandon_on_restart && !task.record.abort_requested;
    marks.push(abandoned.then_some(Some(AbortMarkReason::Restart)));
    let marks: Vec<_> = marks.into_iter().flatten().collect();
    let around = Around {
        held,
        mark: if marks.contains(&None) {
            Some(None)
        } else {
            marks.first().copied()
        },
        below_intent: aborted || view.ordinary_owners(id).any(|owner| state.cancels_below(owner)),
    };
    decide(task, around)
}

/// Children by parent and reach. An unknown place is a child of nothing, with the reach by which it is missing.
type Edges = BTreeMap<(Option<Place>, Reach), BTreeSet<Place>>;

fn edges(state: &State) -> Edges {
    let mut reaches: BTreeMap<Place, Reach> = BTreeMap::new();
    let known: BTreeMap<Place, Known> = state.forest.all().collect();
    for id in state.tasks.keys() {
        let (mut place, mut reach) = (Place::task(*id), Reach::Ordinary);
        loop {
            if matches!(known.get(&place), Some(Known::Task(node)) if node.background) {
                reach = Reach::Beyond;
            }
            let entered = reaches.entry(place).or_insert(reach);
            *entered = (*entered).min(reach);
            match known.get(&place).and_then(|known| known.parent(place)) {
                Some(parent) => place = parent,
                None => break,
            }
        }
    }
    for conversation in queues(state) {
        let mut next = Some(Place::conversation(conversation));
        while let Some(place) = next {
            reaches.entry(place).or_insert(Reach::Queued);
            next = known.get(&place).and_then(|known| known.parent(place));
        }
    }
    for task in state.tasks.values() {
        if let Some((on, JoinPolicy::FailFast)) = wait_of(&task.record) {
            for target in on.iter().filter(|id| state.forest.node(**id).is_none()) {
                let reach = reaches.entry(Place::task(*target)).or_insert(Reach::Beyond);
                *reach = (*reach).min(Reach::Beyond);
            }
        }
    }
    let mut edges = Edges::new();
    for (place, reach) in reaches {
        if place != Place::ROOTS {
            let parent = known.get(&place).and_then(|known| known.parent(place));
            edges.entry((parent, reach)).or_default().insert(place);
        }
    }
    edges
}

/// The same as the forest keeps it.
fn kept_edges(state: &State) -> Edges {
    let mut edges = Edges::new();
    for (place, known) in state.forest.all() {
        for reach in Reach::ALL {
            let children: BTreeSet<Place> = state.forest.children(place, reach).collect();
            let counted = state.forest.count(place, reach);
            if counted as usize != children.len() {
                // Shows as a difference: nothing is its own child.
                edges.entry((Some(place), reach)).or_default().insert(place);
            }
            if !children.is_empty() {
                edges.entry((Some(place), reach)).or_default().extend(children);
            }
        }
        if known == Known::Nothing {
            for reach in state.forest.missing_as(place) {
                edges.entry((None, reach)).or_default().insert(place);
            }
        }
    }
    edges
}

/// Idle by the words of the specification: no live task is reached, and none may be.
fn check_idle(state: &State) -> Result<(), String> {
    let known = state.forest.all().filter_map(|(place, _)| match place.named() {
        Named::Conversation(_) if place == Place::ROOTS => Some(Start::Roots),
        Named::Conversation(id) => Some(Start::Conversation(id)),
        Named::Task(_) => None,
    });
    for start in known {
        let mut tasks = state.tasks.keys();
        let reached = tasks.any(|id| reaches_task(state, *id, start, Boundaries::Background));
        // Of a chain that is not loaded nothing is known, and nothing is called idle.
        let unknown = state.forest.first_missing(Reach::Ordinary).is_some();
        if is_idle(state, start) == (reached || unknown) {
            return Err(format!(
                "{start:?} is idle, reached: {reached}, unknown: {unknown}"
            ));
        }
    }
    Ok(())
}
