//! The ownership forest (spec 5.5): who owns whom, for live tasks and for the ended ones above them.
//!
//! A place is *busy* when it is a live task or ordinary traversal from it meets one. Every place that something live or
//! queued keeps is an edge of its parent, so that what is below a place is enumerated at the cost of what is found, and
//! "is anything below" is a count. A change walks up only as far as an edge changes.
//!
//! Edges of work from before the open are loaded by need ([`Forest::missing`]), always upwards: the cost is the depth of
//! live chains, never the history. Places that nothing needs any more are forgotten in the order in which they fell idle.

mod place;
mod walk;

pub use place::{Known, Life, Named, Node, Place, Reach, node_of};
pub use walk::{Above, Overlay, View};

use crate::core::index::{IdMap, Index, ascending};
use crate::limits::EDGE_SLACK;
use place::Slot;
use std::collections::VecDeque;
use tidehold_session::ids::{ConversationId, TaskId};
use walk::Below;

/// An edge the forest needs and does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    Conversation(ConversationId),
    /// An ended task.
    Task(TaskId),
}

/// Known places, and the edges between those that are needed.
#[derive(Clone, Debug, Default)]
pub struct Forest {
    slots: IdMap<Place, Slot>,
    /// `(parent and reach, child)`.
    edges: Index,
    /// `(reach, place)` of needed places of which nothing is known.
    missing: Index,
    spare: VecDeque<Place>,
    changes: Changes,
}

/// What happened since they were last taken.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Places that became busy below, or idle.
    pub turned: Vec<Place>,
    /// Needed places that became known.
    pub found: Vec<Place>,
    /// Whether an unknown place ceased to be one that may be busy anywhere.
    pub unblocked: bool,
}

fn key(parent: Place, reach: Reach) -> u64 {
    parent.0 << 2 | reach as u64
}

impl Forest {
    /// What is known of a task.
    pub fn node(&self, id: TaskId) -> Option<&Node> {
        match &self.slots.get(&Place::task(id))?.known {
            Known::Task(node) => Some(node),
            Known::Nothing | Known::Conversation(_) => None,
        }
    }

    pub fn is_live(&self, id: TaskId) -> bool {
        self.node(id).is_some_and(|node| node.life == Life::Live)
    }

    pub fn is_background(&self, id: TaskId) -> bool {
        self.node(id).is_some_and(|node| node.background)
    }

    /// Enters a task, or what became of it.
    pub fn insert(&mut self, id: TaskId, node: Node) {
        self.enter(Place::task(id), Known::Task(node));
    }

    pub fn insert_conversation(&mut self, id: ConversationId, owner: Option<TaskId>) {
        self.enter(Place::conversation(id), Known::Conversation(owner));
    }

    fn enter(&mut self, place: Place, known: Known) {
        let slot = self.slots.entry(place).or_default();
        let was_missing = slot.known == Known::Nothing;
        slot.known = known;
        if was_missing && let Some(reach) = slot.edge.take() {
            self.move_missing(place, Some(reach), None);
            self.changes.found.push(place);
        }
        self.refresh(place);
    }

    /// Keeps a place for a reason outside of the tree.
    pub fn pin(&mut self, place: Place) {
        self.slots.entry(place).or_default().pins += 1;
        self.refresh(place);
    }

    /// Takes one such reason back.
    pub fn unpin(&mut self, place: Place) {
        if let Some(slot) = self.slots.get_mut(&place) {
            slot.pins = slot.pins.saturating_sub(1);
        }
        self.refresh(place);
    }

    pub fn is_pinned(&self, place: Place) -> bool {
        self.slots.get(&place).is_some_and(|slot| slot.pins > 0)
    }

    /// Brings edges in line with what changed at a place. Ends where an edge stays as it was; reasons only grow or only
    /// shrink on the way up, so this ends on corrupt, cyclic edges too.
    fn refresh(&mut self, place: Place) {
        let mut at = place;
        while let Some(slot) = self.slots.get_mut(&at) {
            let reach = slot.reach(at);
            let before = std::mem::replace(&mut slot.edge, reach);
            let (known, is_needed) = (slot.known, slot.is_needed());
            if !is_needed {
                self.spare(at);
            }
            if before == reach {
                return;
            }
            match known.parent(at) {
                Some(parent) => {
                    self.move_edge(parent, at, before, reach);
                    at = parent;
                }
                None if known == Known::Nothing => return self.move_missing(at, before, reach),
                // The roots.
                None => return,
            }
        }
    }

    /// Puts an unneeded place in line to be forgotten; one of which nothing is known goes at once.
    fn spare(&mut self, place: Place) {
        let Some(slot) = self.slots.get_mut(&place) else {
            return;
        };
        if slot.known == Known::Nothing {
            self.slots.remove(&place);
        } else if place != Place::ROOTS && !std::mem::replace(&mut slot.spare, true) {
            self.spare.push_back(place);
        }
    }

    fn move_missing(&mut self, place: Place, before: Option<Reach>, reach: Option<Reach>) {
        if let Some(before) = before {
            self.missing.remove(before as u64, place.0);
            self.changes.unblocked |= before == Reach::Ordinary;
        }
        if let Some(reach) = reach {
            self.missing.insert(reach as u64, place.0);
        }
    }

    fn move_edge(&mut self, parent: Place, child: Place, before: Option<Reach>, reach: Option<Reach>) {
        let above = self.slots.entry(parent).or_default();
        if parent == Place::ROOTS {
            above.known = Known::Conversation(None);
        }
        let was_busy = above.ordinary > 0;
        if let Some(before) = before {
            let count = above.count(before);
            *count = count.saturating_sub(1);
            self.edges.remove(key(parent, before), child.0);
        }
        if let Some(reach) = reach {
            *above.count(reach) += 1;
            self.edges.insert(key(parent, reach), child.0);
        }
        if was_busy != (above.ordinary > 0) {
            self.changes.turned.push(parent);
        }
    }

    /// What happened since the last call.
    pub fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// Forgets the longest idle places beyond the slack. Not while a transaction still needs what was loaded for it.
    pub fn trim(&mut self) {
        while self.spare.len() > EDGE_SLACK
            && let Some(place) = self.spare.pop_front()
        {
            if let Some(slot) = self.slots.get_mut(&place) {
                slot.spare = false;
                if !slot.is_needed() {
                    self.slots.remove(&place);
                }
            }
        }
    }

    /// How many places are kept.
    #[cfg(test)]
    pub(in crate::core) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Everything that is known, in no order.
    #[cfg(any(test, debug_assertions))]
    pub fn all(&self) -> impl Iterator<Item = (Place, Known)> + '_ {
        self.slots.iter().map(|(place, slot)| (*place, slot.known))
    }

    /// How many children of a reach a place counts.
    #[cfg(any(test, debug_assertions))]
    pub fn count(&self, place: Place, reach: Reach) -> u32 {
        let mut slot = self.slots.get(&place).cloned().unwrap_or_default();
        *slot.count(reach)
    }

    /// By which reaches a place is entered as missing; correct is at most one.
    #[cfg(any(test, debug_assertions))]
    pub fn missing_as(&self, place: Place) -> impl Iterator<Item = Reach> + '_ {
        let entered = move |reach: &Reach| self.missing.contains(*reach as u64, place.0);
        Reach::ALL.into_iter().filter(entered)
    }

    /// Whether ordinary traversal from a place meets live work: what holds an owner, what keeps a conversation from idle.
    pub fn is_busy_below(&self, place: Place) -> bool {
        self.busy_children(place) > 0
    }

    /// How many children of a place are busy and ordinary.
    pub fn busy_children(&self, place: Place) -> u32 {
        self.slots.get(&place).map_or(0, |slot| slot.ordinary)
    }

    /// Where the ordinary traversal that meets this place comes from.
    pub fn busy_parent(&self, place: Place) -> Option<Place> {
        let slot = self.slots.get(&place)?;
        if slot.edge == Some(Reach::Ordinary) {
            slot.known.parent(place)
        } else {
            None
        }
    }

    /// Children of a place in id order, of one reach.
    pub fn children(&self, place: Place, reach: Reach) -> impl Iterator<Item = Place> + '_ {
        self.edges.under(key(place, reach)).map(Place)
    }

    /// All ordinary work below a place, ended owners on the way included, in no order.
    pub fn busy_below(&self, place: Place) -> Below<'_> {
        Below::new(self, place, &[Reach::Ordinary])
    }

    /// All that is kept below a place, in no order. The caller says where not to go on ([`Below::pass_by`]).
    pub fn kept_below(&self, place: Place) -> Below<'_> {
        Below::new(self, place, &Reach::ALL)
    }

    /// Live ordinary owned work of a task, in id order.
    pub fn live_below(&self, id: TaskId) -> Vec<TaskId> {
        self.live_among(self.busy_below(Place::task(id)))
    }

    /// The live tasks among places, in id order.
    pub fn live_among(&self, places: impl Iterator<Item = Place>) -> Vec<TaskId> {
        let live = places.filter_map(|place| match place.named() {
            Named::Task(id) if self.is_live(id) => Some(id.0),
            Named::Task(_) | Named::Conversation(_) => None,
        });
        ascending(live).into_iter().map(TaskId).collect()
    }

    /// One needed place of which nothing is known, of the strongest reach up to `weakest`.
    pub fn first_missing(&self, weakest: Reach) -> Option<Missing> {
        let (_, place) = self.missing.up_to(weakest as u64).next()?;
        Some(match Place(place).named() {
            Named::Task(id) => Missing::Task(id),
            Named::Conversation(id) => Missing::Conversation(id),
        })
    }

    /// The forest as it stands, for walks upwards.
    pub fn view(&self) -> View<'_> {
        View::new(self, None)
    }
}
