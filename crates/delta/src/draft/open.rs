//! The state of an open change: the working value and what was touched in it.

use crate::draft::held::{Handle, Held, Target, Tree};
use crate::draft::overlay::Overlay;
use crate::draft::{DraftError, Prepared, emit};
use crate::json::joined;
use crate::op::is_bijection;
use crate::scratch::Scratch;
use crate::{ApplyError, Array, Json, Op, Path, Segment};

type Result<T> = std::result::Result<T, DraftError>;

pub(super) struct Open {
    base: Json,
    scratch: Scratch,
    overlay: Overlay,
    pub(super) held: Held,
}

/// A path in the form the overlay keeps, with the length of each array it passes.
pub(super) struct Place {
    /// Keys for members, indices for elements.
    pub(super) path: Path,
    /// For each segment, the length of the array it points into (0: an object).
    pub(super) lengths: Vec<usize>,
}

impl Open {
    pub(super) fn new(base: Json) -> Open {
        Open {
            scratch: Scratch::new(Some(base.clone())),
            base,
            overlay: Overlay::default(),
            held: Held::default(),
        }
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.overlay.is_dirty()
    }

    pub(super) fn read(&mut self, target: Target) -> Result<Option<Json>> {
        Ok(self.tree(target.tree)?.read(target.path).cloned())
    }

    /// A handle to the element that stands at `target` now.
    pub(super) fn hold(&mut self, target: Target) -> Result<Handle> {
        if self.tree(target.tree)?.read(target.path).is_none() {
            return Err(ApplyError::unresolvable(target.path).into());
        }
        let place = self.place(target);
        Ok(self.held.hold(target.tree, place.path))
    }

    fn tree(&mut self, tree: Tree) -> Result<&mut Scratch> {
        match tree {
            Tree::Value => Ok(&mut self.scratch),
            Tree::Detached(tree) => self.held.detached(tree).ok_or(DraftError::Revoked),
        }
    }

    fn outline(&self, tree: Tree) -> Option<&Json> {
        match tree {
            Tree::Value => self.scratch.outline(),
            Tree::Detached(tree) => self.held.detached_outline(tree),
        }
    }

    /// Elements of the array at `target`, `None` when there is no array.
    fn array_len(&self, target: Target) -> Option<usize> {
        let root = self.outline(target.tree)?;
        crate::path::find(root, target.path)?.as_array().map(Array::len)
    }

    fn place(&self, target: Target) -> Place {
        let mut place = Place {
            path: Path::new(),
            lengths: Vec::new(),
        };
        let mut node = self.outline(target.tree);
        for segment in target.path {
            let (segment, length) = match node {
                Some(Json::Object(_)) => (Segment::Key(segment.member()), 0),
                Some(Json::Array(array)) => (segment.clone(), array.len()),
                _ => (segment.clone(), 0),
            };
            node = node.and_then(|node| segment.child(node));
            place.path.push(segment);
            place.lengths.push(length);
        }
        place
    }

    /// One step in a tree. What `leaving` names stays behind with the handles that lead there.
    fn step(&mut self, target: Target, leaving: Vec<Path>, op: &Op) -> Result<()> {
        let tree = self.tree(target.tree)?;
        let kept = leaving
            .iter()
            .map(|path| tree.read(path).cloned())
            .collect::<Vec<_>>();
        tree.step(op)?;
        for (path, value) in leaving.iter().zip(kept) {
            if let Some(value) = value {
                self.held.detach(target.at(path), value);
            }
        }
        Ok(())
    }

    /// What the overlay is told of an edit of the value itself; nobody remembers those of a detached one.
    fn record(&mut self, target: Target, edit: impl FnOnce(&mut Overlay)) {
        if target.tree == Tree::Value {
            edit(&mut self.overlay);
        }
    }

    pub(super) fn set(&mut self, target: Target, value: Json) -> Result<()> {
        check_finite(&value)?;
        let leaving = self.held.leaving(target, None);
        let present = self.tree(target.tree)?.read(target.path);
        if let Some(present) = present.filter(|present| **present == value) {
            if value.is_container() && !leaving.is_empty() {
                // An equal element, but another one.
                let present = present.clone();
                self.held.detach(target, present);
            }
            return Ok(());
        }
        if target.path.is_empty() {
            self.step(target, leaving, &Op::Replace(value))?;
            self.record(target, Overlay::replace_all);
            return Ok(());
        }
        let place = self.place(target);
        self.step(target, leaving, &Op::Set(target.path.to_vec(), value))?;
        self.record(target, |overlay| match place.element() {
            Some((index, length)) if index == length => {
                overlay.splice(&place.parent(), length, length, 0, 1);
            }
            _ => overlay.write(&place),
        });
        Ok(())
    }

    pub(super) fn remove(&mut self, target: Target) -> Result<()> {
        let place = self.place(target);
        let root = self.outline(target.tree);
        let exists = root
            .and_then(|root| crate::path::find(root, target.path))
            .is_some();
        let above = Target {
            through: None,
            ..target
        };
        let leaving = self.held.leaving(above, None);
        self.step(above, leaving, &Op::Delete(target.path.to_vec()))?;
        match place.element() {
            Some((index, length)) => {
                let array = place.parent();
                self.held.renumber(target.at(&array.path), shifted(index, 1, 0));
                self.record(target, |overlay| overlay.splice(&array, length, index, 1, 0));
            }
            None if exists => self.record(target, |overlay| overlay.remove(&place)),
            None => {}
        }
        Ok(())
    }

    /// Splices the array at `target`, at its end when `index` is `None`.
    pub(super) fn splice(
        &mut self,
        target: Target,
        index: Option<usize>,
        remove: usize,
        items: Array,
    ) -> Result<()> {
        if !items.iter().all(Json::is_finite) {
            return Err(DraftError::NotFinite);
        }
        let length = self.array_len(target);
        let index = index.or(length).unwrap_or(0);
        if length.is_some_and(|length| index > length) {
            return Err(ApplyError::unsafe_segment(&Segment::from(index)).into());
        }
        let length = length.unwrap_or(0);
        let removed = remove.min(length.saturating_sub(index));
        let place = self.place(target);
        let added = items.len();
        let op = Op::Splice {
            path: target.path.to_vec(),
            index: index as u64,
            remove: remove as u64,
            items,
        };
        let leaving = self.held.leaving(target, Some(index..index + removed));
        self.step(target, leaving, &op)?;
        if removed + added > 0 {
            self.held.renumber(target, shifted(index, removed, added));
            self.record(target, |overlay| {
                overlay.splice(&place, length, index, removed, added);
            });
        }
        Ok(())
    }

    /// Puts element `order[i]` of the array at `target` at place `i`, for every `i`.
    pub(super) fn reorder(&mut self, target: Target, order: Vec<u64>) -> Result<()> {
        if !is_bijection(&order) {
            return Err(ApplyError::Type("m permutation is not a bijection".into()).into());
        }
        // A handle would notice which of two equal scalars it is.
        let same_length = self.array_len(target) == Some(order.len());
        if same_length && self.held.is_empty() && self.is_unmoved(target, &order)? {
            return Ok(());
        }
        let place = self.place(target);
        let op = Op::Move(target.path.to_vec(), order);
        self.step(target, Vec::new(), &op)?;
        let Op::Move(_, order) = op else { return Ok(()) };
        if !self.held.is_empty() {
            let mut places = vec![0; order.len()];
            for (place, from) in order.iter().enumerate() {
                places
                    .get_mut(*from as usize)
                    .into_iter()
                    .for_each(|to| *to = place);
            }
            self.held
                .renumber(target, |index| places.get(index).copied().unwrap_or(index));
        }
        self.record(target, |overlay| overlay.reorder(&place, &order));
        Ok(())
    }

    /// Whether only equal scalars would change places.
    fn is_unmoved(&mut self, target: Target, order: &[u64]) -> Result<bool> {
        let array = self.tree(target.tree)?.read(target.path).and_then(Json::as_array);
        let unmoved = |array: &Array| {
            array
                .iter()
                .zip(order)
                .enumerate()
                .all(|(place, (present, from))| {
                    *from == place as u64
                        || (!present.is_container() && array.get(*from as usize) == Some(present))
                })
        };
        Ok(array.is_some_and(unmoved))
    }

    pub(super) fn append(&mut self, target: Target, text: &str) -> Result<()> {
        if target.path.is_empty()
            && let Some(Json::String(present)) = self.read(target)?
        {
            if !text.is_empty() {
                // Longer, but still the element that handles lead to.
                let longer = Json::String(joined(&present, text));
                self.step(target, Vec::new(), &Op::Replace(longer))?;
                self.record(target, Overlay::replace_all);
            }
            return Ok(());
        }
        let place = self.place(target);
        self.tree(target.tree)?.append(target.path, text)?;
        if !text.is_empty() {
            self.record(target, |overlay| overlay.write(&place));
        }
        Ok(())
    }

    pub(super) fn prepare(self) -> Prepared {
        let Open {
            base,
            scratch,
            overlay,
            ..
        } = self;
        if !overlay.is_dirty() {
            return Prepared {
                value: base.clone(),
                base,
                ops: Vec::new(),
            };
        }
        let value = scratch.finish();
        let ops = emit::emit(&overlay, &base, &value);
        let value = if ops.is_empty() { base.clone() } else { value };
        Prepared { base, value, ops }
    }
}

/// Where an element stands after a splice that it survived.
fn shifted(index: usize, removed: usize, added: usize) -> impl Fn(usize) -> usize {
    move |place| {
        if place < index {
            place
        } else {
            place.saturating_sub(removed) + added
        }
    }
}

impl Place {
    /// The index this names and the length of the array around it; `None` for a member or the root.
    fn element(&self) -> Option<(usize, usize)> {
        Some((self.path.last()?.position()?, *self.lengths.last()?))
    }

    fn parent(mut self) -> Place {
        self.path.pop();
        self.lengths.pop();
        self
    }
}

pub(super) fn check_finite(value: &Json) -> Result<()> {
    if value.is_finite() {
        Ok(())
    } else {
        Err(DraftError::NotFinite)
    }
}
