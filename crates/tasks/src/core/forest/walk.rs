//! Walks over the forest: upwards over owner edges, downwards over what is kept.

use super::place::{Known, Life, Named, Node, Place, Reach, Slot, node_of};
use super::{Forest, Missing};
use crate::core::index::IdMap;
use crate::core::sabotage::{Sabotage, broken};
use crate::limits::MAX_OWNER_DEPTH;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{ConversationRecord, TaskRecord};

/// What a walk meets above a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Above {
    Task(TaskId),
    /// The chain ends in this ownerless conversation.
    Root(ConversationId),
    Unknown(Missing),
}

/// Places that a transaction staged, over those of the mirror. Nothing is copied but them.
#[derive(Debug, Default)]
pub struct Overlay(IdMap<Place, Slot>);

impl Overlay {
    pub fn new<'a>(
        tasks: impl IntoIterator<Item = &'a TaskRecord>,
        conversations: impl IntoIterator<Item = &'a ConversationRecord>,
    ) -> Self {
        let mut slots = IdMap::default();
        let mut enter = |place, known| {
            let slot = Slot {
                known,
                ..Slot::default()
            };
            slots.insert(place, slot);
        };
        for conversation in conversations {
            let owner = conversation.owner.map(|owner| owner.task_id);
            enter(Place::conversation(conversation.id), Known::Conversation(owner));
        }
        for task in tasks {
            enter(Place::task(task.id), Known::Task(node_of(task)));
        }
        Self(slots)
    }

    /// Staged tasks, in no order.
    fn tasks(&self) -> impl Iterator<Item = (TaskId, &Node)> {
        self.0
            .iter()
            .filter_map(|(place, slot)| match (place.named(), &slot.known) {
                (Named::Task(id), Known::Task(node)) => Some((id, node)),
                _ => None,
            })
    }

    fn ends(&self, place: Place) -> bool {
        let staged = self.0.get(&place).map(|slot| &slot.known);
        matches!(staged, Some(Known::Task(node)) if node.life != Life::Live)
    }
}

/// A forest, or what a transaction would make of it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    forest: &'a Forest,
    staged: Option<&'a Overlay>,
}

impl<'a> View<'a> {
    pub(super) fn new(forest: &'a Forest, staged: Option<&'a Overlay>) -> Self {
        Self { forest, staged }
    }

    /// The forest as a commit would leave it.
    pub fn candidate(forest: &'a Forest, staged: &'a Overlay) -> Self {
        Self::new(forest, Some(staged))
    }

    fn known(self, place: Place) -> &'a Known {
        let staged = self.staged.and_then(|staged| staged.0.get(&place));
        let slot = staged.or_else(|| self.forest.slots.get(&place));
        slot.map_or(&Known::Nothing, |slot| &slot.known)
    }

    pub fn node(self, id: TaskId) -> Option<&'a Node> {
        match self.known(Place::task(id)) {
            Known::Task(node) => Some(node),
            Known::Nothing | Known::Conversation(_) => None,
        }
    }

    pub fn is_live(self, id: TaskId) -> bool {
        self.node(id).is_some_and(|node| node.life == Life::Live)
    }

    /// What owns a task: its owner task, or the owner of its conversation.
    pub fn above(self, id: TaskId) -> Above {
        match self.node(id) {
            None => Above::Unknown(Missing::Task(id)),
            Some(Node {
                owner: Some(owner), ..
            }) => self.task_or_unknown(*owner),
            Some(node) => self.above_conversation(node.conversation),
        }
    }

    /// What owns a conversation.
    pub fn above_conversation(self, id: ConversationId) -> Above {
        let place = Place::conversation(id);
        match self.known(place) {
            Known::Conversation(Some(owner)) => self.task_or_unknown(*owner),
            Known::Conversation(None) => Above::Root(id),
            _ if place == Place::ROOTS => Above::Root(id),
            Known::Nothing | Known::Task(_) => Above::Unknown(Missing::Conversation(id)),
        }
    }

    fn task_or_unknown(self, id: TaskId) -> Above {
        match self.node(id) {
            Some(_) => Above::Task(id),
            None => Above::Unknown(Missing::Task(id)),
        }
    }

    /// The tasks whose ordinary owned work contains `id`, nearest first: none for a background task; the walk ends at the
    /// first background owner, which is included.
    pub fn ordinary_owners(self, id: TaskId) -> impl Iterator<Item = TaskId> + 'a {
        self.owners_across(id, |_| false)
    }

    /// The same, but the walk goes on above the background owners that `crosses` names.
    pub fn owners_across(
        self,
        id: TaskId,
        crosses: impl Fn(TaskId) -> bool + 'a,
    ) -> impl Iterator<Item = TaskId> + 'a {
        let boundary =
            self.node(id).is_none_or(|node| node.background) && !broken(Sabotage::CascadeAcrossBackground);
        let start = if boundary { None } else { Some(self.above(id)) };
        self.chain(start, crosses)
    }

    /// The tasks whose ordinary traversal reaches the conversation, nearest first.
    pub fn ordinary_owners_of_conversation(self, id: ConversationId) -> impl Iterator<Item = TaskId> + 'a {
        self.chain(Some(self.above_conversation(id)), |_| false)
    }

    fn chain(
        self,
        start: Option<Above>,
        crosses: impl Fn(TaskId) -> bool + 'a,
    ) -> impl Iterator<Item = TaskId> + 'a {
        let mut next = start;
        std::iter::from_fn(move || {
            let Some(Above::Task(owner)) = next else {
                return None;
            };
            let stop = self
                .node(owner)
                .is_none_or(|node| node.background && !crosses(owner));
            next = if stop { None } else { Some(self.above(owner)) };
            Some(owner)
        })
        .take(MAX_OWNER_DEPTH)
    }

    /// The first unknown edge above a task, whatever lies in between.
    pub fn missing(self, id: TaskId) -> Option<Missing> {
        self.missing_from(self.above(id))
    }

    /// The first unknown edge above a place that is known.
    pub fn missing_above(self, place: Place) -> Option<Missing> {
        self.missing_from(match place.named() {
            Named::Task(id) => self.above(id),
            Named::Conversation(id) => self.above_conversation(id),
        })
    }

    fn missing_from(self, start: Above) -> Option<Missing> {
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

    /// Whether ordinary owned work of the task is live. Costs what the transaction staged, not what the mirror holds.
    pub fn holds(self, id: TaskId) -> bool {
        let Some(staged) = self.staged else {
            return self.forest.is_busy_below(Place::task(id));
        };
        let mut work = self.forest.busy_below(Place::task(id));
        let stays = |place: Place| match place.named() {
            Named::Task(task) => self.forest.is_live(task) && !staged.ends(place),
            Named::Conversation(_) => false,
        };
        let holds = |(task, node): (TaskId, &Node)| {
            node.life == Life::Live && self.ordinary_owners(task).any(|owner| owner == id)
        };
        work.any(stays) || staged.tasks().any(holds)
    }
}

/// Walks down the edges of some reaches, depth first. A place has one parent, so only a start that is below itself, by corrupt
/// edges, could be met twice.
pub struct Below<'a> {
    forest: &'a Forest,
    reaches: &'static [Reach],
    start: Place,
    open: Vec<Place>,
    /// The place given last; what is below it follows unless it is passed by.
    last: Option<Place>,
}

impl<'a> Below<'a> {
    pub(super) fn new(forest: &'a Forest, start: Place, reaches: &'static [Reach]) -> Self {
        Self {
            forest,
            reaches,
            start,
            open: Vec::new(),
            last: Some(start),
        }
    }

    /// Does not go on below the place given last.
    pub fn pass_by(&mut self) {
        self.last = None;
    }
}

impl Iterator for Below<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        if let Some(parent) = self.last.take() {
            for reach in self.reaches {
                let children = self.forest.children(parent, *reach);
                self.open.extend(children.filter(|child| *child != self.start));
            }
        }
        self.last = self.open.pop();
        self.last
    }
}
