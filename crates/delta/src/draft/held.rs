//! Handles that follow an element: where each one leads after every edit (Chord's draft handles).
//!
//! Nothing in here costs anything while no handle is held.

use std::ops::Range;
use std::rc::{Rc, Weak};

use crate::path::is_at_or_below;
use crate::scratch::Scratch;
use crate::{Json, Path, Segment};

/// What a held draft and its clones share. It says nothing but who it is: where it leads is the open change's to know.
#[derive(Clone)]
pub(super) struct Handle(Rc<()>);

/// A value that edits may go to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tree {
    /// The value under change.
    Value,
    /// One that was removed from it, or overwritten in it, while a handle led into it.
    Detached(usize),
}

/// Where an edit goes.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub(super) tree: Tree,
    pub(super) path: &'a [Segment],
    /// The handle it goes through. A write over its very element takes it along instead of detaching it.
    pub(super) through: Option<&'a Handle>,
}

impl<'a> Target<'a> {
    /// The same, at another place.
    pub(super) fn at(self, path: &'a [Segment]) -> Target<'a> {
        Target { path, ..self }
    }
}

/// The handles held on one change.
#[derive(Default)]
pub(super) struct Held {
    anchors: Vec<Anchor>,
    /// The trees of [`Tree::Detached`]. They live as long as the change.
    detached: Vec<Scratch>,
}

struct Anchor {
    handle: Weak<()>,
    tree: Tree,
    path: Path,
}

impl Held {
    /// A new handle to the element at `path`, whose segments fit the containers they pass.
    pub(super) fn hold(&mut self, tree: Tree, path: Path) -> Handle {
        self.anchors.retain(|anchor| anchor.handle.strong_count() > 0);
        let handle = Rc::new(());
        self.anchors.push(Anchor {
            handle: Rc::downgrade(&handle),
            tree,
            path,
        });
        Handle(handle)
    }

    /// Where a handle leads; `None` for one of another change.
    pub(super) fn find(&self, handle: &Handle) -> Option<(Tree, &Path)> {
        let anchor = self.anchors.iter().find(|anchor| anchor.is(Some(handle)))?;
        Some((anchor.tree, &anchor.path))
    }

    pub(super) fn detached(&mut self, tree: usize) -> Option<&mut Scratch> {
        self.detached.get_mut(tree)
    }

    pub(super) fn detached_outline(&self, tree: usize) -> Option<&Json> {
        self.detached.get(tree)?.outline()
    }

    /// The places that lose their value when `target` is overwritten, or the elements `range` of the array there
    /// removed, as far as handles lead to them or into them.
    pub(super) fn leaving(&self, target: Target, range: Option<Range<usize>>) -> Vec<Path> {
        let mut leaving: Vec<Path> = Vec::new();
        let live = self
            .anchors
            .iter()
            .filter(|anchor| anchor.handle.strong_count() > 0);
        for anchor in live.filter(|anchor| anchor.is_at_or_below(target)) {
            let top = match &range {
                None if anchor.stays_at(target) => continue,
                None => target.path.to_vec(),
                Some(range) => match anchor.path.get(..=target.path.len()) {
                    Some(element) if element.last().is_some_and(|index| lies_in(index, range)) => {
                        element.to_vec()
                    }
                    _ => continue,
                },
            };
            if !leaving.contains(&top) {
                leaving.push(top);
            }
        }
        leaving
    }

    /// Moves the handles at or below `target` to a value of their own, `value`, which is what stood there.
    pub(super) fn detach(&mut self, target: Target, value: Json) {
        let tree = Tree::Detached(self.detached.len());
        self.detached.push(Scratch::new(Some(value)));
        for anchor in &mut self.anchors {
            if anchor.is_at_or_below(target) && !anchor.stays_at(target) {
                anchor.tree = tree;
                anchor.path.drain(..target.path.len());
            }
        }
    }

    /// The elements of the array at `target` stand elsewhere now; those that left it are detached already.
    pub(super) fn renumber(&mut self, target: Target, place: impl Fn(usize) -> usize) {
        for anchor in &mut self.anchors {
            if anchor.is_at_or_below(target)
                && let Some(Segment::Index(index)) = anchor.path.get_mut(target.path.len())
            {
                *index = place(*index as usize) as u64;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.anchors.is_empty()
    }
}

impl Anchor {
    fn is(&self, handle: Option<&Handle>) -> bool {
        handle.is_some_and(|handle| std::ptr::eq(self.handle.as_ptr(), Rc::as_ptr(&handle.0)))
    }

    fn is_at_or_below(&self, target: Target) -> bool {
        self.tree == target.tree && is_at_or_below(&self.path, target.path)
    }

    /// Whether a write over `target` is one through this very handle, to its very element.
    fn stays_at(&self, target: Target) -> bool {
        self.path.len() == target.path.len() && self.is(target.through)
    }
}

fn lies_in(segment: &Segment, range: &Range<usize>) -> bool {
    segment.position().is_some_and(|index| range.contains(&index))
}
