//! What a container remembers about its subtree, so that the usual check need not walk it.

use super::Json;

/// Heights up to this are dropped by plain recursion, anything higher by a loop.
const RECURSIVE_DROP: u16 = 64;

/// Conservative facts about a container: both may overstate, never understate.
///
/// Removing an element does not lower them, so a check that fails on a `Shape` is repeated exactly on
/// the value; one that succeeds is final and took constant time.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Upper bound of the depth; `u16::MAX` means unknown.
    height: u16,
    /// Whether a number that is not finite may be somewhere below.
    suspect: bool,
}

impl Shape {
    pub(super) const EMPTY: Shape = Shape {
        height: 1,
        suspect: false,
    };

    /// Takes one more child into account.
    pub(super) fn include(&mut self, child: &Json) {
        match child {
            Json::Number(number) => self.suspect |= !number.is_finite(),
            Json::Array(array) => self.surround(array.shape()),
            Json::Object(object) => self.surround(object.shape()),
            Json::Null | Json::Bool(_) | Json::String(_) => {}
        }
    }

    pub(super) fn surround(&mut self, child: Shape) {
        self.height = self.height.max(child.height.saturating_add(1));
        self.suspect |= child.suspect;
    }

    /// Takes the children of another container into account, as when they move into this one.
    pub(super) fn beside(self, other: Shape) -> Shape {
        Shape {
            height: self.height.max(other.height),
            suspect: self.suspect || other.suspect,
        }
    }

    /// Takes into account that `value` will be put `levels` containers further down (0: a child).
    pub(super) fn announce(&mut self, value: &Json, levels: usize) {
        let height = value
            .height()
            .and_then(|height| u16::try_from(height + levels + 1).ok());
        self.height = self.height.max(height.unwrap_or(u16::MAX));
        self.suspect |= match value {
            Json::Number(number) => !number.is_finite(),
            other => other.shape().is_some_and(|shape| shape.suspect),
        };
    }

    /// Whether dropping by recursion could go too deep.
    pub(super) fn is_tall(self) -> bool {
        self.height > RECURSIVE_DROP
    }
}

impl Json {
    fn shape(&self) -> Option<Shape> {
        match self {
            Json::Array(array) => Some(array.shape()),
            Json::Object(object) => Some(object.shape()),
            _ => None,
        }
    }

    /// Upper bound of the depth, `None` when unknown.
    fn height(&self) -> Option<usize> {
        match self.shape() {
            None => Some(0),
            Some(Shape { height: u16::MAX, .. }) => None,
            Some(shape) => Some(usize::from(shape.height)),
        }
    }

    /// Containers around the deepest scalar: 0 for a scalar, 1 more than the deepest child for a
    /// container, so 1 for an empty one. Linear in the number of containers and their elements.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open = vec![(self, 0)];
        while let Some((node, above)) = open.pop() {
            // A subtree that cannot raise the result is not walked.
            if !node.is_container() || node.height().is_some_and(|height| above + height <= deepest) {
                continue;
            }
            deepest = deepest.max(above + 1);
            match node {
                Json::Array(array) => {
                    open.extend(array.iter().filter(|c| c.is_container()).map(|c| (c, above + 1)));
                }
                Json::Object(object) => {
                    open.extend(
                        object
                            .values()
                            .filter(|c| c.is_container())
                            .map(|c| (c, above + 1)),
                    );
                }
                _ => {}
            }
        }
        deepest
    }

    /// Whether the depth is above `limit`. Constant time for values built without deep parts.
    pub fn deeper_than(&self, limit: usize) -> bool {
        match self.height() {
            Some(height) if height <= limit => false,
            _ => self.depth() > limit,
        }
    }

    /// Whether every number in here is finite. Constant time for values that never held another.
    pub fn is_finite(&self) -> bool {
        let mut open = Vec::new();
        let mut next = Some(self);
        while let Some(node) = next {
            match node {
                Json::Number(number) if !number.is_finite() => return false,
                Json::Array(array) if array.shape().suspect => open.extend(array.iter()),
                Json::Object(object) if object.shape().suspect => open.extend(object.values()),
                _ => {}
            }
            next = open.pop();
        }
        true
    }
}

/// Drops `orphans` and everything only they own, with a list instead of recursion.
pub(super) fn release(mut orphans: Vec<Json>) {
    while let Some(mut node) = orphans.pop() {
        match &mut node {
            Json::Array(array) if array.shape().is_tall() => array.give_up(&mut orphans),
            Json::Object(object) if object.shape().is_tall() => object.give_up(&mut orphans),
            _ => {}
        }
    }
}
