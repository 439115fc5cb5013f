//! What one commit published: the only source of views, waits, mirrors, events and sockets (invariant 3).

use crate::documents::DocumentRecord;
use crate::ids::Seq;
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use std::rc::Rc;
use tidehold_delta::{Json, Op};

/// Immutable record of a settled commit, in batch order. Listeners receive it synchronously, after adoption.
#[derive(Debug)]
pub struct Publication {
    pub seq: Seq,
    pub conversations: Vec<Rc<ConversationRecord>>,
    pub entries: Vec<Rc<EntryRecord>>,
    pub submissions: Vec<Rc<SubmissionRecord>>,
    pub tasks: Vec<TaskChange>,
    pub documents: Vec<DocumentChange>,
}

/// A task before and after the commit.
#[derive(Clone, Debug)]
pub struct TaskChange {
    /// `None`: created by this commit.
    pub before: Option<Rc<TaskRecord>>,
    pub after: Rc<TaskRecord>,
}

/// A document incarnation after the commit.
#[derive(Clone, Debug)]
pub struct DocumentChange {
    pub record: Rc<DocumentRecord>,
    pub kind: DocumentChangeKind,
}

/// What happened to the incarnation. A document changed and retired in one commit appears twice, in that order.
#[derive(Clone, Debug)]
pub enum DocumentChangeKind {
    Created {
        value: Json,
    },
    Changed {
        before: Json,
        value: Json,
        ops: Rc<[Op]>,
    },
    /// A definition-free copy; its value is in storage.
    Copied,
    Retired,
}
