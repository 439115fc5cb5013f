//! What one commit published: the only source of views, waits, mirrors, events and sockets (invariant 3).

use crate::documents::{DocumentRecord, Point};
use crate::ids::{DocumentId, Seq};
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
        /// Empty for a new version of the stored value that was not edited.
        ops: Rc<[Op]>,
        /// Version of `value`; `before` is that of the same version, migrated where an older one was stored.
        version: u32,
    },
    /// The initial state is a copy that no definition read: storage has the value (spec 3.7).
    Copied {
        source: DocumentId,
        at: Point,
    },
    Retired,
}
