//! What a change touched: a tree beside the value, holding places but no values.
//!
//! The overlay mirrors only containers that still are the base's own. A place that was written is
//! `Placed`: whatever happens inside it later is part of its payload and is not recorded.

use indexmap::IndexMap;

use crate::draft::array_edits::ArrayEdits;
use crate::draft::open::Place;
use crate::{Segment, Text};

#[derive(Default)]
pub(super) struct Overlay {
    pub(super) root: Option<Node>,
}

pub(super) enum Node {
    /// Holds a value of this change.
    Placed,
    /// A base object with edits in it, in the order of their first write.
    Object(IndexMap<Text, Member>),
    /// A base array with edits in it.
    Array(ArrayEdits),
}

pub(super) enum Member {
    /// Gone; the base may never have had it.
    Removed,
    /// Written after a removal, so it stands behind the members that were there before.
    Readded,
    /// Written, or edited inside; `None` while nothing was recorded yet.
    Edited(Option<Node>),
}

impl Overlay {
    pub(super) fn is_dirty(&self) -> bool {
        self.root.is_some()
    }

    /// The whole value was replaced.
    pub(super) fn replace_all(&mut self) {
        self.root = Some(Node::Placed);
    }

    /// The member or existing element at `place` was written.
    pub(super) fn write(&mut self, place: &Place) {
        let Some(((last, &length), above)) = split_last(place) else {
            return self.replace_all();
        };
        let Some(slot) = self.slot(above) else { return };
        match (slot.get_or_insert_with(|| Node::around(last, length)), last) {
            (Node::Object(members), Segment::Key(key)) => match members.get_mut(key) {
                Some(Member::Readded) => {}
                Some(Member::Edited(inner)) => *inner = Some(Node::Placed),
                Some(removed @ Member::Removed) => {
                    *removed = Member::Readded;
                    if let Some(place) = members.get_index_of(key) {
                        members.move_index(place, members.len() - 1);
                    }
                }
                None => drop(members.insert(key.clone(), Member::Edited(Some(Node::Placed)))),
            },
            (Node::Array(edits), _) => {
                if let Some(slot) = last.position().and_then(|index| edits.slot(index)) {
                    *slot = Some(Node::Placed);
                }
            }
            _ => {}
        }
    }

    /// The existing member at `place` was removed.
    pub(super) fn remove(&mut self, place: &Place) {
        let Some(((last, &length), above)) = split_last(place) else {
            return;
        };
        let Some(slot) = self.slot(above) else { return };
        if let (Node::Object(members), Segment::Key(key)) =
            (slot.get_or_insert_with(|| Node::around(last, length)), last)
        {
            members.insert(key.clone(), Member::Removed);
        }
    }

    /// In the array at `place`, which had `length` elements, `removed` from `index` on made way for
    /// `added` new ones. The range lies within the array.
    pub(super) fn splice(
        &mut self,
        place: &Place,
        length: usize,
        index: usize,
        removed: usize,
        added: usize,
    ) {
        let Some(slot) = self.slot(place.path.iter().zip(&place.lengths)) else {
            return;
        };
        if let Node::Array(edits) = slot.get_or_insert_with(|| Node::Array(ArrayEdits::new(length))) {
            edits.splice(index, removed, added);
            // So many operations end as a replacement anyway; recording on would only cost time.
            if edits.is_hopeless() {
                self.replace_all();
            }
        }
    }

    /// The elements of the array at `place` stand in this order now.
    pub(super) fn reorder(&mut self, place: &Place, order: &[u64]) {
        let Some(slot) = self.slot(place.path.iter().zip(&place.lengths)) else {
            return;
        };
        if let Node::Array(edits) = slot.get_or_insert_with(|| Node::Array(ArrayEdits::new(order.len()))) {
            edits.reorder(order);
        }
    }

    /// The record of the place these steps lead to; `None` inside a value of this change.
    fn slot<'p>(
        &mut self,
        steps: impl Iterator<Item = (&'p Segment, &'p usize)>,
    ) -> Option<&mut Option<Node>> {
        let mut slot = &mut self.root;
        for (segment, length) in steps {
            slot = match (
                slot.get_or_insert_with(|| Node::around(segment, *length)),
                segment,
            ) {
                (Node::Object(members), Segment::Key(key)) => {
                    match members.entry(key.clone()).or_insert(Member::Edited(None)) {
                        Member::Edited(inner) => inner,
                        Member::Removed | Member::Readded => return None,
                    }
                }
                (Node::Array(edits), _) => edits.slot(segment.position()?)?,
                _ => return None,
            };
        }
        Some(slot)
    }
}

impl Node {
    /// A record for the container that `segment` points into.
    fn around(segment: &Segment, length: usize) -> Node {
        match segment {
            Segment::Key(_) => Node::Object(IndexMap::new()),
            Segment::Index(_) => Node::Array(ArrayEdits::new(length)),
        }
    }
}

type Step<'p> = (&'p Segment, &'p usize);

/// The last step of a place, and those before it; `None` for the root.
fn split_last(place: &Place) -> Option<(Step<'_>, impl Iterator<Item = Step<'_>>)> {
    let (last, above) = place.path.split_last()?;
    let length = place.lengths.last()?;
    Some(((last, length), above.iter().zip(&place.lengths)))
}
