//! Objects: insertion-ordered members, a plain list while few, an index map beyond.

use std::sync::Arc;

use indexmap::IndexMap;

use super::shape::{Shape, release};
use super::{Json, Text};

/// The most members kept as a plain list. Comparing eight short keys is quicker than hashing one, and
/// most objects of a session are this small.
const LIST_LIMIT: usize = 8;

/// The members of a JSON object in insertion order. Clones share everything; the first change of a
/// shared object copies its member list once (keys and values stay shared).
#[derive(Clone)]
pub struct Object {
    members: Arc<Members>,
    shape: Shape,
}

#[derive(Clone)]
enum Members {
    List(Vec<(Text, Json)>),
    Map(Box<IndexMap<Text, Json>>),
}

impl Object {
    /// `{}`.
    pub fn new() -> Object {
        Object {
            members: Arc::new(Members::List(Vec::new())),
            shape: Shape::EMPTY,
        }
    }

    pub fn len(&self) -> usize {
        match &*self.members {
            Members::List(members) => members.len(),
            Members::Map(members) => members.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        match &*self.members {
            Members::List(members) => members.iter().find(|(k, _)| &**k == key).map(|(_, value)| value),
            Members::Map(members) => members.get(key),
        }
    }

    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn iter(&self) -> ObjectIter<'_> {
        ObjectIter(match &*self.members {
            Members::List(members) => Walk::List(members.iter()),
            Members::Map(members) => Walk::Map(members.iter()),
        })
    }

    pub fn keys(&self) -> impl Iterator<Item = &Text> {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl Iterator<Item = &Json> {
        self.iter().map(|(_, value)| value)
    }

    /// Sets a member and returns its old value. An existing key keeps its position.
    pub fn insert(&mut self, key: impl Into<Text>, value: Json) -> Option<Json> {
        let key = key.into();
        self.shape.include(&value);
        if let Some(slot) = self.slot(&key) {
            return Some(std::mem::replace(slot, value));
        }
        let members = Arc::make_mut(&mut self.members);
        if let Members::List(list) = members
            && list.len() >= LIST_LIMIT
        {
            *members = Members::Map(Box::new(std::mem::take(list).into_iter().collect()));
        }
        match members {
            Members::List(list) => list.push((key, value)),
            Members::Map(map) => drop(map.insert(key, value)),
        }
        None
    }

    /// Removes a member and returns its value; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        if !self.contains_key(key) {
            return None;
        }
        match Arc::make_mut(&mut self.members) {
            Members::List(list) => {
                let place = list.iter().position(|(k, _)| &**k == key)?;
                Some(list.remove(place).1)
            }
            Members::Map(map) => map.shift_remove(key),
        }
    }

    /// Whether both share the same storage.
    pub fn ptr_eq(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.members, &other.members)
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// The member `key` for a change in place; the member list is no longer shared afterwards.
    ///
    /// The caller announces what it puts below with [`Object::announce`].
    pub(crate) fn slot(&mut self, key: &str) -> Option<&mut Json> {
        if !self.contains_key(key) {
            return None;
        }
        match Arc::make_mut(&mut self.members) {
            Members::List(list) => list.iter_mut().find(|(k, _)| &**k == key).map(|(_, value)| value),
            Members::Map(map) => map.get_mut(key),
        }
    }

    /// Announces that `value` will be put `levels` containers below this object.
    pub(crate) fn announce(&mut self, value: &Json, levels: usize) {
        self.shape.announce(value, levels);
    }

    /// Moves the values into `orphans` unless someone else holds them; empty afterwards.
    pub(super) fn give_up(&mut self, orphans: &mut Vec<Json>) {
        self.shape = Shape::EMPTY;
        match Arc::get_mut(&mut self.members) {
            Some(Members::List(list)) => orphans.extend(list.drain(..).map(|(_, value)| value)),
            Some(Members::Map(map)) => orphans.extend(map.drain(..).map(|(_, value)| value)),
            None => {}
        }
    }
}

impl Default for Object {
    fn default() -> Object {
        Object::new()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.shape.is_tall() {
            let mut orphans = Vec::new();
            self.give_up(&mut orphans);
            release(orphans);
        }
    }
}

impl<K: Into<Text>> FromIterator<(K, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Object {
        let mut object = Object::new();
        object.extend(members);
        object
    }
}

impl<K: Into<Text>> Extend<(K, Json)> for Object {
    fn extend<I: IntoIterator<Item = (K, Json)>>(&mut self, members: I) {
        for (key, value) in members {
            self.insert(key, value);
        }
    }
}

/// Iterator over the members of an [`Object`] in insertion order.
#[derive(Clone)]
pub struct ObjectIter<'a>(Walk<'a>);

#[derive(Clone)]
enum Walk<'a> {
    List(std::slice::Iter<'a, (Text, Json)>),
    Map(indexmap::map::Iter<'a, Text, Json>),
}

impl<'a> Iterator for ObjectIter<'a> {
    type Item = (&'a Text, &'a Json);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::List(members) => members.next().map(|(key, value)| (key, value)),
            Walk::Map(members) => members.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::List(members) => members.size_hint(),
            Walk::Map(members) => members.size_hint(),
        }
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a Text, &'a Json);
    type IntoIter = ObjectIter<'a>;

    fn into_iter(self) -> ObjectIter<'a> {
        self.iter()
    }
}
