//! Ordinary traversal from a conversation (spec 5.4): what idle counts and a conversation abort selects.

use crate::core::forest::Above;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use crate::limits::MAX_OWNER_DEPTH;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::TaskState;

/// Where a traversal starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Live tasks that the traversal reaches, in id order. A task whose chain is not loaded counts as reached, so that idle is
/// never reported early.
pub fn live_tasks(state: &State, start: Start, boundaries: Boundaries) -> impl Iterator<Item = TaskId> + '_ {
    state
        .tasks
        .keys()
        .copied()
        .filter(move |id| reaches_task(state, *id, start, boundaries))
}

/// Whether the traversal contains no live task.
pub fn is_idle(state: &State, start: Start) -> bool {
    live_tasks(state, start, Boundaries::Background)
        .find(|id| !(broken(Sabotage::EarlyIdle) && waits(state, *id)))
        .is_none()
}

fn waits(state: &State, id: TaskId) -> bool {
    let record = state.record(id);
    record.is_some_and(|record| matches!(record.state, TaskState::Waiting { .. }))
}

/// Whether the traversal reaches the conversation.
pub fn reaches_conversation(state: &State, id: ConversationId, start: Start, boundaries: Boundaries) -> bool {
    let mut conversation = id;
    for _ in 0..MAX_OWNER_DEPTH {
        if start == Start::Conversation(conversation) {
            return true;
        }
        match state.forest.above_conversation(conversation) {
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
