//! A random program: each step is carried out on a draft and on the model.

use tidehold_delta::{Change, Draft, DraftError, Json};

use crate::model::{Above, Content, Node, Place};
use crate::random::Random;

pub struct Program {
    pub random: Random,
    root: Node,
    draft: Draft,
    handles: Vec<(Node, Draft)>,
}

impl Program {
    pub fn new(random: Random, base: &Json, change: &Change) -> Program {
        Program {
            random,
            root: Node::new(base),
            draft: change.draft(),
            handles: Vec::new(),
        }
    }

    pub fn value(&self) -> Json {
        self.root.value()
    }

    /// Both sides show the same everywhere, detached elements included.
    pub fn check(&self, what: &str) {
        let both = self.handles.iter().map(|(node, draft)| (node, draft));
        for (node, draft) in both.chain([(&self.root, &self.draft)]) {
            assert_eq!(draft.get().unwrap().unwrap(), node.value(), "{what}");
        }
    }

    /// Some existing place, from the root or a handle on.
    fn place(&mut self) -> Place {
        let begin = self.random.below(self.handles.len() * 2 + 3);
        let (above, (node, draft)) = match self.handles.get(begin) {
            Some(held) => (Above::Handle(begin), held.clone()),
            None => (Above::Root, (self.root.clone(), self.draft.clone())),
        };
        let mut place = Place { node, draft, above };
        while !self.random.one_in(4) {
            let children = place.node.children();
            if children.is_empty() {
                break;
            }
            let (segment, child) = self.random.pick(&children).clone();
            place = place.child(segment, child);
        }
        place
    }

    /// A value to place: a new one, or what is at some place now.
    fn value_to_place(&mut self, levels: usize) -> Json {
        if !self.random.one_in(6) {
            return self.random.value(levels);
        }
        let place = self.place();
        let value = place.draft.get().unwrap().unwrap();
        assert_eq!(value, place.node.value());
        // Programs that keep placing the whole inside itself would not end small.
        if value.to_string().len() > 2000 {
            Json::Null
        } else {
            value
        }
    }

    pub fn step(&mut self) {
        let place = self.place();
        match self.random.below(20) {
            0 => return self.hold(place),
            1 => return self.assign(place),
            2 => return self.refusals(&place),
            3 => {
                let value = self.value_to_place(2);
                return self.overwrite(place, value);
            }
            _ => {}
        }
        match place.node.value() {
            Json::Object(_) => self.members(place),
            Json::Array(items) => self.elements(place, items.len()),
            Json::String(text) => self.text(place, &text),
            _ => {
                let value = self.value_to_place(2);
                self.overwrite(place, value);
            }
        }
    }

    /// A write over an existing place, the root included.
    fn overwrite(&mut self, place: Place, value: Json) {
        place.draft.set(value.clone()).unwrap();
        let is_same_scalar = !value.is_container() && place.node.value() == value;
        if is_same_scalar {
            return;
        }
        let new = Node::new(&value);
        match &place.above {
            Above::Node(above, segment) => above.put(segment, new),
            Above::Root => self.root = new,
            Above::Handle(held) => {
                // It goes along; the others stay with what was there.
                for top in self.handles.iter().map(|(node, _)| node).chain([&self.root]) {
                    replace_below(top, &place.node, &new);
                }
                if self.root.is(&place.node) {
                    self.root = new.clone();
                }
                self.handles[*held].0 = new;
            }
        }
    }

    fn hold(&mut self, place: Place) {
        if self.handles.len() > 6 {
            let other = self.random.below(self.handles.len());
            self.handles.swap_remove(other);
        }
        self.handles.push((place.node, place.draft.hold().unwrap()));
    }

    fn members(&mut self, place: Place) {
        let key = self.random.key();
        if self.random.one_in(3) {
            place.draft.at(key.as_str()).remove().unwrap();
            place.node.edit(|content| {
                let Content::Members(members) = content else {
                    panic!("no object")
                };
                members.retain(|(known, _)| *known != key);
            });
        } else {
            let value = self.value_to_place(2);
            match place
                .node
                .children()
                .into_iter()
                .find(|(segment, _)| *segment == key.as_str().into())
            {
                Some((segment, node)) => self.overwrite(place.child(segment, node), value),
                None => {
                    place.draft.at(key.as_str()).set(value.clone()).unwrap();
                    place.node.put(&key.into(), Node::new(&value));
                }
            }
        }
    }

    fn elements(&mut self, place: Place, length: usize) {
        let list = |edit: &mut dyn FnMut(&mut Vec<Node>)| {
            place.node.edit(|content| {
                let Content::List(items) = content else {
                    panic!("no array")
                };
                edit(items);
            });
        };
        let index = self.random.below(length + 1);
        match self.random.below(12) {
            0 | 1 if index < length => {
                place.draft.at(index).remove().unwrap();
                list(&mut |items| drop(items.remove(index)));
            }
            2 => {
                let value = self.value_to_place(2);
                place.draft.push(value.clone()).unwrap();
                list(&mut |items| items.push(Node::new(&value)));
            }
            3 if index == length => {
                let value = self.value_to_place(2);
                place.draft.at(index).set(value.clone()).unwrap();
                list(&mut |items| items.push(Node::new(&value)));
            }
            4 => {
                let length = self.random.below(length + 3);
                place.draft.set_len(length).unwrap();
                list(&mut |items| items.resize_with(length, || Node::new(&Json::Null)));
            }
            5 => {
                place.draft.reverse().unwrap();
                list(&mut |items| items.reverse());
            }
            6 => {
                let order = |one: &Json, other: &Json| sort_key(one).cmp(&sort_key(other));
                place.draft.sort_by(order).unwrap();
                list(&mut |items| items.sort_by_key(|item| sort_key(&item.value())));
            }
            7 | 8 => {
                let order = self.random.order(length);
                place.draft.reorder(&order).unwrap();
                list(&mut |items| *items = order.iter().map(|from| items[*from].clone()).collect());
            }
            _ => {
                let remove = self.random.below(4);
                let added: Vec<Json> = (0..self.random.below(4))
                    .map(|_| self.value_to_place(1))
                    .collect();
                place.draft.splice(index, remove, added.clone()).unwrap();
                let end = (index + remove).min(length);
                list(&mut |items| drop(items.splice(index..end, added.iter().map(Node::new))));
            }
        }
    }

    fn text(&mut self, place: Place, text: &str) {
        let more = self.random.text();
        if self.random.one_in(2) {
            // The one edit that leaves a string the element it is.
            place.draft.append(&more).unwrap();
            place
                .node
                .edit(|content| *content = Content::Scalar(Json::from([text, &more].concat())));
        } else {
            let from = text
                .char_indices()
                .nth(self.random.below(4))
                .map_or(text.len(), |(at, _)| at);
            self.overwrite(place, Json::from([&text[from..], &more].concat()));
        }
    }

    /// An assignment of a variation of what is there. Which elements it keeps is its own business, so handles below end.
    fn assign(&mut self, place: Place) {
        let mut value = place.node.value();
        for _ in 0..self.random.below(4) {
            value = vary(&mut self.random, value);
        }
        place.draft.assign(value.clone()).unwrap();
        let mut number = 0;
        self.handles.retain(|(held, _)| {
            let is_used = matches!(place.above, Above::Handle(used) if used == number);
            number += 1;
            is_used || !place.node.reaches(held)
        });
        let new = Node::new(&value);
        match &place.above {
            Above::Node(above, segment) => above.put(segment, new),
            _ => place.node.become_like(&new),
        }
    }

    /// What must be refused and change nothing.
    fn refusals(&mut self, place: &Place) {
        let nan = || Json::array([Json::Number(f64::NAN)]);
        assert_eq!(place.draft.set(nan()), Err(DraftError::NotFinite));
        if let Json::Array(items) = place.node.value() {
            let beyond = items.len() + 1;
            assert!(place.draft.at(beyond).set(1).is_err());
            assert!(place.draft.at(beyond - 1).remove().is_err());
            assert!(place.draft.splice(beyond, 0, vec![Json::Null]).is_err());
            assert!(place.draft.reorder(&vec![0; beyond]).is_err());
            assert!(place.draft.splice(0, beyond, vec![Json::Null, nan()]).is_err());
            assert!(place.draft.at("length").set(0).is_err());
        }
        let nested = (0..513).fold(Json::Null, |inner, _| Json::array([inner]));
        assert_eq!(place.draft.set(nested), Err(DraftError::Depth));
    }
}

/// The same for equal values: the order of members is left to the draft.
fn sort_key(value: &Json) -> String {
    match value {
        Json::Array(items) => items.iter().map(|item| sort_key(item) + ",").collect(),
        Json::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(key, value)| format!("{key}:{}", sort_key(value)))
                .collect();
            members.sort();
            members.concat()
        }
        scalar => scalar.to_string(),
    }
}

fn replace_below(top: &Node, old: &Node, new: &Node) {
    for (segment, child) in top.children() {
        if child.is(old) {
            top.put(&segment, new.clone());
        } else {
            replace_below(&child, old, new);
        }
    }
}

fn vary(random: &mut Random, value: Json) -> Json {
    match value {
        Json::Object(mut members) => {
            let known: Vec<String> = members.keys().map(ToString::to_string).collect();
            match random.below(4) {
                0 => drop(members.insert(random.key(), random.value(1))),
                1 if !known.is_empty() => drop(members.remove(random.pick(&known).as_str())),
                _ if !known.is_empty() => {
                    let key = random.pick(&known);
                    let inner = members.get(key).cloned().unwrap();
                    members.insert(key.clone(), vary(random, inner));
                }
                _ => {}
            }
            Json::Object(members)
        }
        Json::Array(items) if !items.is_empty() => {
            let mut items = items.to_vec();
            let index = random.below(items.len());
            match random.below(6) {
                0 => drop(items.remove(index)),
                1 => items.insert(index, random.value(1)),
                2 | 3 => {
                    items = random
                        .order(items.len())
                        .iter()
                        .map(|from| items[*from].clone())
                        .collect()
                }
                _ => items[index] = vary(random, items[index].clone()),
            }
            Json::array(items)
        }
        Json::String(text) => Json::from([&text, "+"].concat()),
        _ => random.value(1),
    }
}
