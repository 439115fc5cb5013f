//! Arrays: a plain vector while short, a persistent tree beyond.

use std::sync::Arc;

use imbl::Vector;
use imbl::shared_ptr::DefaultSharedPtr;

use super::Json;
use super::shape::{Shape, release};

/// The longest array kept as a plain vector.
///
/// A tree allocates leaves of 64 elements, so `[[0,0,0],…]` from a hostile body would take two hundred
/// times its text; and copying 64 elements is what a tree would do for one change anyway.
const FLAT_LIMIT: usize = 64;

/// How many elements a splice of a long array sets aside rather than split the tree.
const NEAR: usize = 1024;

/// The elements of a JSON array. Clones share all elements; a change copies at most 64 of them along
/// the path to the changed one, so appending to a long shared array is cheap.
#[derive(Clone)]
pub struct Array {
    items: Arc<Items>,
    shape: Shape,
}

#[derive(Clone)]
enum Items {
    Flat(Vec<Json>),
    Tree(Box<Vector<Json>>),
}

impl Array {
    /// `[]`.
    pub fn new() -> Array {
        Array::from(Vec::new())
    }

    pub fn len(&self) -> usize {
        match &*self.items {
            Items::Flat(items) => items.len(),
            Items::Tree(items) => items.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<&Json> {
        match &*self.items {
            Items::Flat(items) => items.get(index),
            Items::Tree(items) => items.get(index),
        }
    }

    pub fn first(&self) -> Option<&Json> {
        self.get(0)
    }

    pub fn last(&self) -> Option<&Json> {
        self.get(self.len().checked_sub(1)?)
    }

    pub fn iter(&self) -> ArrayIter<'_> {
        ArrayIter(match &*self.items {
            Items::Flat(items) => Walk::Flat(items.iter()),
            Items::Tree(items) => Walk::Tree(Box::new(items.iter())),
        })
    }

    /// The elements `from..to`, both clamped to the length. Long arrays share structure with the result.
    pub fn slice(&self, from: usize, to: usize) -> Array {
        let to = to.min(self.len());
        let from = from.min(to);
        match &*self.items {
            Items::Tree(items) if to - from > FLAT_LIMIT => {
                let mut part = items.clone();
                part.truncate(to);
                let part = part.split_off(from);
                Array {
                    items: Arc::new(Items::Tree(Box::new(part))),
                    shape: self.shape,
                }
            }
            Items::Tree(items) => items.focus().narrow(from..to).into_iter().cloned().collect(),
            Items::Flat(items) => items.get(from..to).unwrap_or_default().iter().cloned().collect(),
        }
    }

    /// Appends one element.
    pub fn push_back(&mut self, item: Json) {
        self.shape.include(&item);
        match self.items_mut(1) {
            Items::Flat(items) => items.push(item),
            Items::Tree(items) => items.push_back(item),
        }
    }

    /// Replaces the element `index` and returns the old one; gives `item` back when there is none.
    pub fn set(&mut self, index: usize, item: Json) -> Result<Json, Json> {
        if index >= self.len() {
            return Err(item);
        }
        self.shape.include(&item);
        match self.slot(index) {
            Some(slot) => Ok(std::mem::replace(slot, item)),
            None => Err(item),
        }
    }

    /// Removes `remove` elements from `index` and inserts `items` there; both clamp to the length.
    pub fn splice(&mut self, index: usize, remove: usize, items: Array) {
        let index = index.min(self.len());
        let end = index.saturating_add(remove).min(self.len());
        if items.is_empty() && end == index {
            return;
        }
        self.shape = self.shape.beside(items.shape);
        match self.items_mut(items.len()) {
            Items::Flat(own) => drop(own.splice(index..end, items.iter().cloned())),
            Items::Tree(own) => splice_tree(own, index, end, &items),
        }
    }

    /// Puts element `order[i]` at place `i` for every `i`. Places that name no element are left out.
    pub fn reordered(&self, order: &[u64]) -> Array {
        let pick = |place: &u64| self.get(usize::try_from(*place).ok()?).cloned();
        order.iter().filter_map(pick).collect()
    }

    /// The elements as a plain vector.
    pub fn to_vec(&self) -> Vec<Json> {
        self.iter().cloned().collect()
    }

    /// Whether both share the same storage.
    pub fn ptr_eq(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.items, &other.items)
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// The element `index` for a change in place, together with the right to change it: everything
    /// from here to the element is no longer shared afterwards.
    ///
    /// The caller changes only what keeps the facts of `below` true (see [`Array::announce`]).
    pub(crate) fn slot(&mut self, index: usize) -> Option<&mut Json> {
        match self.items_mut(0) {
            Items::Flat(items) => items.get_mut(index),
            Items::Tree(items) => items.get_mut(index),
        }
    }

    /// Announces that `value` will be put `levels` containers below this array.
    pub(crate) fn announce(&mut self, value: &Json, levels: usize) {
        self.shape.announce(value, levels);
    }

    /// The unshared elements, turned into a tree when `more` elements would make them long.
    fn items_mut(&mut self, more: usize) -> &mut Items {
        let items = Arc::make_mut(&mut self.items);
        if let Items::Flat(flat) = items
            && flat.len().saturating_add(more) > FLAT_LIMIT
        {
            *items = Items::Tree(Box::new(std::mem::take(flat).into()));
        }
        items
    }

    fn to_tree(&self) -> Vector<Json> {
        match &*self.items {
            Items::Flat(items) => items.iter().cloned().collect(),
            Items::Tree(items) => (**items).clone(),
        }
    }

    /// Moves the elements into `orphans` unless someone else holds them; empty afterwards.
    pub(super) fn give_up(&mut self, orphans: &mut Vec<Json>) {
        self.shape = Shape::EMPTY;
        match Arc::get_mut(&mut self.items) {
            Some(Items::Flat(items)) => orphans.append(items),
            Some(Items::Tree(items)) => orphans.extend(std::mem::take(&mut **items)),
            None => {}
        }
    }
}

/// Splices a long array. Near an end the few elements outside are set aside, which is some twenty times
/// quicker than what the tree does in its middle: splitting, and joining with rebalance.
fn splice_tree(own: &mut Vector<Json>, index: usize, end: usize, items: &Array) {
    let behind = own.len() - end;
    if index.min(behind) > NEAR || items.len() > NEAR {
        let mut tail = own.split_off(index);
        let tail = tail.split_off(end - index);
        own.append(items.to_tree());
        own.append(tail);
    } else if behind <= index {
        let aside: Vec<Json> = (0..behind).filter_map(|_| own.pop_back()).collect();
        own.truncate(index);
        own.extend(items.iter().cloned().chain(aside.into_iter().rev()));
    } else {
        let aside: Vec<Json> = (0..index).filter_map(|_| own.pop_front()).collect();
        *own = own.split_off(end - index);
        for item in aside.into_iter().chain(items.iter().cloned()).rev() {
            own.push_front(item);
        }
    }
}

impl Default for Array {
    fn default() -> Array {
        Array::new()
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.shape.is_tall() {
            let mut orphans = Vec::new();
            self.give_up(&mut orphans);
            release(orphans);
        }
    }
}

impl From<Vec<Json>> for Array {
    fn from(items: Vec<Json>) -> Array {
        let mut shape = Shape::EMPTY;
        for item in &items {
            shape.include(item);
        }
        let items = if items.len() > FLAT_LIMIT {
            Items::Tree(Box::new(items.into()))
        } else {
            Items::Flat(items)
        };
        Array {
            items: Arc::new(items),
            shape,
        }
    }
}

impl FromIterator<Json> for Array {
    fn from_iter<I: IntoIterator<Item = Json>>(items: I) -> Array {
        Array::from(items.into_iter().collect::<Vec<_>>())
    }
}

impl Extend<Json> for Array {
    fn extend<I: IntoIterator<Item = Json>>(&mut self, items: I) {
        for item in items {
            self.push_back(item);
        }
    }
}

/// Iterator over the elements of an [`Array`].
#[derive(Clone)]
pub struct ArrayIter<'a>(Walk<'a>);

#[derive(Clone)]
enum Walk<'a> {
    Flat(std::slice::Iter<'a, Json>),
    Tree(Box<imbl::vector::Iter<'a, Json, DefaultSharedPtr>>),
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = &'a Json;

    fn next(&mut self) -> Option<&'a Json> {
        match &mut self.0 {
            Walk::Flat(items) => items.next(),
            Walk::Tree(items) => items.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Flat(items) => items.size_hint(),
            Walk::Tree(items) => items.size_hint(),
        }
    }
}

impl DoubleEndedIterator for ArrayIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::Flat(items) => items.next_back(),
            Walk::Tree(items) => items.next_back(),
        }
    }
}

impl ExactSizeIterator for ArrayIter<'_> {}

impl<'a> IntoIterator for &'a Array {
    type Item = &'a Json;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

impl IntoIterator for Array {
    type Item = Json;
    type IntoIter = std::vec::IntoIter<Json>;

    fn into_iter(self) -> Self::IntoIter {
        self.to_vec().into_iter()
    }
}
