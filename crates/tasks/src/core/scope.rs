//! Ordinary traversal from a conversation (spec 5.4): what idle counts and a conversation abort selects.

use crate::core::forest::{Above, Named, Place, Reach};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use crate::limits::MAX_OWNER_DEPTH;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::TaskState;

/// Where a traversal starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Start {
    /// Every ownerless conversation.
    Roots,
    Conversation(ConversationId),
}

/// Whether background tasks end a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundaries {
    Background,
    Ignored,
}

impl Start {
    fn place(self) -> Place {
        match self {
            Self::Roots => Place::ROOTS,
            Self::Conversation(id) => Place::conversation(id),
        }
    }
}

/// Live tasks that the traversal reaches, in id order. Chains that are not loaded are not followed.
pub fn live_tasks(state: &State, start: Start, boundaries: Boundaries) -> Vec<TaskId> {
    let forest = &state.forest;
    match boundaries {
        Boundaries::Background => forest.live_among(forest.busy_below(start.place())),
        Boundaries::Ignored => forest.live_among(forest.kept_below(start.place())),
    }
}

/// Live tasks of a conversation, background ones included, in id order.
pub fn tasks_in(state: &State, id: ConversationId) -> Vec<TaskId> {
    let mut below = state.forest.kept_below(Place::conversation(id));
    let mut tasks = Vec::new();
    while let Some(place) = below.next() {
        match place.named() {
            Named::Task(task) => tasks.push(task),
            Named::Conversation(_) => below.pass_by(),
        }
    }
    tasks.retain(|task| state.is_live(*task));
    tasks.sort_unstable();
    tasks
}

/// Live tasks that a task owns directly, in id order.
pub fn owned_tasks(state: &State, id: TaskId) -> Vec<TaskId> {
    let forest = &state.forest;
    let children = Reach::ALL
        .iter()
        .flat_map(|reach| forest.children(Place::task(id), *reach));
    forest.live_among(children)
}

/// Conversations with queued inputs that the traversal reaches below its start, in id order.
pub fn queued_conversations(state: &State, start: Start, boundaries: Boundaries) -> Vec<ConversationId> {
    let mut below = state.forest.kept_below(start.place());
    let mut queued = Vec::new();
    while let Some(place) = below.next() {
        match place.named() {
            Named::Conversation(id) if state.forest.is_pinned(place) => queued.push(id),
            Named::Task(id) if boundaries == Boundaries::Background && state.forest.is_background(id) => {
                below.pass_by();
            }
            Named::Task(_) | Named::Conversation(_) => {}
        }
    }
    queued.sort_unstable();
    queued
}

/// Whether the traversal contains no live task. One whose chain is not loaded may be anywhere, so that idle is never
/// reported early.
pub fn is_idle(state: &State, start: Start) -> bool {
    let counts = |id: &TaskId| {
        let record = state.record(*id);
        !record.is_some_and(|record| matches!(record.state, TaskState::Waiting { .. }))
    };
    if broken(Sabotage::EarlyIdle) {
        return !live_tasks(state, start, Boundaries::Background)
            .iter()
            .any(counts);
    }
    !state.forest.is_busy_below(start.place()) && state.forest.first_missing(Reach::Ordinary).is_none()
}

/// Whether the traversal reaches the conversation. A chain that is not loaded counts as reached.
fn reaches_conversation(state: &State, id: ConversationId, start: Start, boundaries: Boundaries) -> bool {
    let mut conversation = id;
    for _ in 0..MAX_OWNER_DEPTH {
        if start == Start::Conversation(conversation) {
            return true;
        }
        match state.forest.view().above_conversation(conversation) {
            Above::Root(_) => return start == Start::Roots,
            Above::Unknown(_) => return true,
            Above::Task(owner) => match top_of(state, owner, boundaries) {
                Some(top) => conversation = top,
                None => return false,
            },
        }
    }
    false
}

/// Whether the traversal reaches the task.
pub fn reaches_task(state: &State, id: TaskId, start: Start, boundaries: Boundaries) -> bool {
    top_of(state, id, boundaries)
        .is_some_and(|conversation| reaches_conversation(state, conversation, start, boundaries))
}

/// The conversation of a task, unless the task or a task that owns it there is a boundary.
fn top_of(state: &State, id: TaskId, boundaries: Boundaries) -> Option<ConversationId> {
    let mut task = id;
    for _ in 0..MAX_OWNER_DEPTH {
        let node = state.forest.node(task)?;
        if node.background && boundaries == Boundaries::Background {
            return None;
        }
        match node.owner {
            // Owners live in the same conversation; one that is not loaded cannot be background.
            Some(owner) if state.forest.node(owner).is_some() => task = owner,
            _ => return Some(node.conversation),
        }
    }
    None
}
