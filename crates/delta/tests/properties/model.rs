//! The naive model: a tree of nodes with an identity, edited at once, nothing recorded.
//!
//! A handle is the node itself, so following it is no work, and a node that was cut off simply lives on.

use std::cell::RefCell;
use std::rc::Rc;

use tidehold_delta::{Draft, Json, Segment};

#[derive(Clone)]
pub struct Node(Rc<RefCell<Content>>);

pub enum Content {
    Scalar(Json),
    List(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Node {
    pub fn new(value: &Json) -> Node {
        Node(Rc::new(RefCell::new(match value {
            Json::Array(items) => Content::List(items.iter().map(Node::new).collect()),
            Json::Object(members) => Content::Members(
                members
                    .iter()
                    .map(|(key, value)| (key.to_string(), Node::new(value)))
                    .collect(),
            ),
            scalar => Content::Scalar(scalar.clone()),
        })))
    }

    pub fn value(&self) -> Json {
        match &*self.0.borrow() {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Json::array(items.iter().map(Node::value)),
            Content::Members(members) => {
                Json::object(members.iter().map(|(key, node)| (key.as_str(), node.value())))
            }
        }
    }

    /// Gives this node the content of another, which is lost.
    pub fn become_like(&self, other: &Node) {
        std::mem::swap(&mut *self.0.borrow_mut(), &mut *other.0.borrow_mut());
    }

    /// Changes the content of the node, which stays the node it is.
    pub fn edit<R>(&self, edit: impl FnOnce(&mut Content) -> R) -> R {
        edit(&mut self.0.borrow_mut())
    }

    pub fn is(&self, other: &Node) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// What is below, by the segment that leads there.
    pub fn children(&self) -> Vec<(Segment, Node)> {
        match &*self.0.borrow() {
            Content::Scalar(_) => Vec::new(),
            Content::List(items) => items
                .iter()
                .enumerate()
                .map(|(at, node)| (Segment::from(at), node.clone()))
                .collect(),
            Content::Members(members) => members
                .iter()
                .map(|(key, node)| (Segment::from(key), node.clone()))
                .collect(),
        }
    }

    /// Whether this is `node` or holds it.
    pub fn reaches(&self, node: &Node) -> bool {
        self.is(node) || self.children().iter().any(|(_, child)| child.reaches(node))
    }

    /// Puts another node in the place of a child.
    pub fn put(&self, segment: &Segment, node: Node) {
        self.edit(|content| match (content, segment) {
            (Content::List(items), Segment::Index(at)) if *at as usize == items.len() => items.push(node),
            (Content::List(items), Segment::Index(at)) => items[*at as usize] = node,
            (Content::Members(members), Segment::Key(key)) => {
                match members.iter_mut().find(|(known, _)| **known == **key) {
                    Some((_, slot)) => *slot = node,
                    None => members.push((key.to_string(), node)),
                }
            }
            _ => panic!("no such child"),
        });
    }
}

/// A place of both sides.
pub struct Place {
    pub node: Node,
    pub draft: Draft,
    pub above: Above,
}

/// What a place is reached from.
pub enum Above {
    /// Nothing: it is the root.
    Root,
    /// Nothing: it is the element of this handle.
    Handle(usize),
    /// The node around, by this segment.
    Node(Node, Segment),
}

impl Place {
    pub fn child(&self, segment: Segment, node: Node) -> Place {
        Place {
            draft: self.draft.at(segment.clone()),
            above: Above::Node(self.node.clone(), segment),
            node,
        }
    }
}
