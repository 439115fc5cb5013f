//! The ownership forest (spec 5.5): who owns whom, for live tasks and for the ended ones above them.
//!
//! Owner edges are immutable, so what is known stays true. Edges of work from before the open are loaded by need
//! ([`Forest::missing`]), always upwards: the cost is the depth of live chains, never the history.

use crate::core::sabotage::{Sabotage, broken};
use crate::core::set::Set;
use crate::limits::MAX_OWNER_DEPTH;
use litemap::LiteMap;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskOutcome, TaskRecord, TaskState};

/// A task's place in the forest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub conversation: ConversationId,
    /// Owning task, if a task owns it directly.
    pub owner: Option<TaskId>,
    pub background: bool,
    pub life: Life,
}

/// Whether a task is live, and else how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Live,
    Completed,
    /// Ended in any other way.
    Unsuccessful,
}

/// An edge the forest needs and does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    Conversation(ConversationId),
    /// An ended task.
    Task(TaskId),
}

/// What a walk meets above a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    Task(TaskId),
    /// The chain ends in this ownerless conversation.
    Root(ConversationId),
    Unknown(Missing),
}

/// Known nodes and conversation owners.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    nodes: LiteMap<TaskId, Node>,
    conversations: LiteMap<ConversationId, Option<TaskId>>,
}

/// The place of a record.
pub fn node_of(record: &TaskRecord) -> Node {
    let life = match &record.state {
        TaskState::Terminal {
            outcome: TaskOutcome::Completed { .. },
        } => Life::Completed,
        TaskState::Terminal { .. } => Life::Unsuccessful,
        _ => Life::Live,
    };
    Node {
        conversation: record.conversation_id,
        owner: record.owner,
        background: record.background,
        life,
    }
}

impl Forest {
    pub fn node(&self, id: TaskId) -> Option<&Node> {
        self.nodes.get(&id)
    }

    pub fn insert(&mut self, id: TaskId, node: Node) {
        self.nodes.insert(id, node);
    }

    pub fn insert_conversation(&mut self, id: ConversationId, owner: Option<TaskId>) {
        self.conversations.insert(id, owner);
    }

    pub fn is_live(&self, id: TaskId) -> bool {
        self.nodes.get(&id).is_some_and(|node| node.life == Life::Live)
    }

    /// Known tasks in id order.
    pub fn iter(&self) -> impl Iterator<Item = (TaskId, &Node)> {
        self.nodes.iter().map(|(id, node)| (*id, node))
    }

    /// How many edges are kept.
    pub fn len(&self) -> usize {
        self.nodes.len() + self.conversations.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What owns a task: its owner task, or the owner of its conversation.
    pub fn above(&self, id: TaskId) -> Above {
        match self.nodes.get(&id) {
            None => Above::Unknown(Missing::Task(id)),
            Some(Node {
                owner: Some(owner), ..
            }) => self.known(*owner),
            Some(Node {
                owner: None,
                conversation,
                ..
            }) => self.above_conversation(*conversation),
        }
    }

    /// What owns a conversation.
    pub fn above_conversation(&self, id: ConversationId) -> Above {
        match self.conversations.get(&id) {
            None => Above::Unknown(Missing::Conversation(id)),
            Some(None) => Above::Root(id),
            Some(Some(owner)) => self.known(*owner),
        }
    }

    fn known(&self, id: TaskId) -> Above {
        if self.nodes.contains_key(&id) {
            Above::Task(id)
        } else {
            Above::Unknown(Missing::Task(id))
        }
    }

    /// The tasks whose ordinary owned work contains `id`, nearest first: none for a background task; the walk ends at the
    /// first background owner, which is included.
    pub fn ordinary_owners(&self, id: TaskId) -> impl Iterator<Item = TaskId> + '_ {
        let boundary = self.nodes.get(&id).is_none_or(|node| node.background)
            && !broken(Sabotage::CascadeAcrossBackground);
        let start = if boundary { None } else { Some(self.above(id)) };
        self.chain(start)
    }

    /// The tasks whose ordinary traversal reaches the conversation, nearest first.
    pub fn ordinary_owners_of_conversation(&self, id: ConversationId) -> impl Iterator<Item = TaskId> + '_ {
        self.chain(Some(self.above_conversation(id)))
    }

    fn chain(&self, start: Option<Above>) -> impl Iterator<Item = TaskId> + '_ {
        let mut next = start;
        std::iter::from_fn(move || {
            let Some(Above::Task(owner)) = next else {
                return None;
            };
            let stop = self.nodes.get(&owner).is_none_or(|node| node.background);
            next = if stop { None } else { Some(self.above(owner)) };
            Some(owner)
        })
        .take(MAX_OWNER_DEPTH)
    }

    /// The first unknown edge above a task, whatever lies in between.
    pub fn missing(&self, id: TaskId) -> Option<Missing> {
        self.missing_from(self.above(id))
    }

    /// The first unknown edge above a conversation.
    pub fn missing_above_conversation(&self, id: ConversationId) -> Option<Missing> {
        self.missing_from(self.above_conversation(id))
    }

    fn missing_from(&self, start: Above) -> Option<Missing> {
        let mut above = start;
        for _ in 0..MAX_OWNER_DEPTH {
            match above {
                Above::Task(owner) => above = self.above(owner),
                Above::Root(_) => return None,
                Above::Unknown(missing) => return Some(missing),
            }
        }
        None
    }

    /// Owners with ordinary owned work among `blockers`.
    pub fn holding(&self, blockers: impl Iterator<Item = TaskId>) -> Set<TaskId> {
        let mut holding = Set::new();
        for blocker in blockers {
            self.hold_above(blocker, &mut holding);
        }
        holding
    }

    /// Enters the owners that one task holds.
    pub fn hold_above(&self, blocker: TaskId, holding: &mut Set<TaskId>) {
        for owner in self.ordinary_owners(blocker) {
            // Whoever is above a known holder was entered with it.
            if !holding.insert(owner) {
                break;
            }
        }
    }

    /// Forgets everything that is not above one of `tasks` or `conversations`, nor named by `also`.
    pub fn retain(&mut self, tasks: &Set<TaskId>, conversations: &Set<ConversationId>, also: &Set<TaskId>) {
        let mut kept_tasks = tasks.clone();
        kept_tasks.extend(also.iter().copied());
        let mut kept_conversations = conversations.clone();
        let starts = tasks.iter().map(|id| self.above(*id));
        let starts = starts.chain(conversations.iter().map(|id| self.above_conversation(*id)));
        for start in starts.collect::<Vec<_>>() {
            let mut above = start;
            for _ in 0..MAX_OWNER_DEPTH {
                let Above::Task(owner) = above else { break };
                kept_tasks.insert(owner);
                above = self.above(owner);
            }
        }
        kept_conversations.extend(
            kept_tasks
                .iter()
                .filter_map(|id| self.nodes.get(id))
                .map(|n| n.conversation),
        );
        self.nodes.retain(|id, _| kept_tasks.contains(id));
        self.conversations.retain(|id, _| kept_conversations.contains(id));
    }
}
