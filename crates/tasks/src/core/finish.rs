//! An outcome meets the work below it: hold or end (spec 5.5, rule 1).

use crate::core::forest::{Forest, Life, node_of};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::State;
use std::borrow::Cow;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{ConversationRecord, TaskOutcome, TaskRecord, TaskState};

/// The forest as a commit would leave it: the mirror plus what its transaction staged. Usually that is nothing.
pub fn candidate<'s, 'a>(
    state: &'s State,
    tasks: impl IntoIterator<Item = &'a TaskRecord>,
    conversations: impl IntoIterator<Item = &'a ConversationRecord>,
) -> Cow<'s, Forest> {
    let (mut tasks, mut conversations) = (tasks.into_iter().peekable(), conversations.into_iter().peekable());
    if tasks.peek().is_none() && conversations.peek().is_none() {
        return Cow::Borrowed(&state.forest);
    }
    let mut forest = state.forest.clone();
    for conversation in conversations {
        forest.insert_conversation(conversation.id, conversation.owner.map(|owner| owner.task_id));
    }
    for task in tasks {
        forest.insert(task.id, node_of(task));
    }
    Cow::Owned(forest)
}

/// Live ordinary owned work of a task in a forest, in id order.
pub fn live_below(forest: &Forest, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
    forest
        .live()
        .filter(move |below| forest.ordinary_owners(*below).any(|owner| owner == id))
}

/// The state an outcome takes in the candidate forest.
pub fn ending(forest: &Forest, id: TaskId, outcome: TaskOutcome) -> TaskState {
    if broken(Sabotage::NoHold) {
        return TaskState::Terminal { outcome };
    }
    if live_below(forest, id).next().is_some() {
        TaskState::Completing { outcome }
    } else {
        TaskState::Terminal { outcome }
    }
}

impl Forest {
    /// Live tasks in id order.
    pub fn live(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.iter()
            .filter(|(_, node)| node.life == Life::Live)
            .map(|(id, _)| id)
    }
}
