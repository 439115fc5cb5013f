//! What a session call can fail with (spec 10.1).

use crate::ids::{ConversationId, EntryId, TaskId};
use crate::storage::StorageError;
use std::rc::Rc;
use tidehold_delta::{DraftError, Text};

/// Why a session failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FailureCause {
    #[error(transparent)]
    Storage(#[from] Rc<StorageError>),
    /// A component above could not keep its own records; storage is as it was.
    #[error("{0}")]
    Bookkeeping(Text),
}

/// The session failed earlier; `cause` is the first error. Reopen to go on from what was committed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the session failed: {cause}")]
pub struct SessionFailed {
    pub cause: FailureCause,
}

/// Error of a session call. Only [`SessionError::Storage`] and [`SessionError::Failed`] mean that the session is over.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SessionError {
    /// This call met the storage error that ended the session.
    #[error(transparent)]
    Storage(Rc<StorageError>),
    /// The session had failed, or failed while this call waited.
    #[error(transparent)]
    Failed(#[from] SessionFailed),
    /// The session was closed.
    #[error("the session is closed")]
    Closed,
    /// An invalid read; the session goes on.
    #[error("{0}")]
    Request(String),
    /// A table read after the transaction's first table write (spec 4).
    #[error("{0} is a table read after the transaction's first table write")]
    ReadAfterWrite(&'static str),
    /// The transaction has settled; its handles are dead.
    #[error("the transaction has settled")]
    Revoked,
    /// The callback returned while a document acquisition was still pending (spec 3.4).
    #[error("the transaction settled with a pending document acquisition")]
    PendingAcquisition,
    /// A draft edit that was refused before it changed anything.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The batch breaks a rule of the session; nothing was stored.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Code of the caller panicked inside its commit callback; the commit was rolled back.
    #[error("a commit callback panicked: {0}")]
    CallbackPanicked(String),
    /// A document's `initial`, `migrate` or `checkpoint_when` panicked; the call or commit that ran it has no effect.
    #[error("the definition of document {kind} panicked: {text}")]
    DefinitionPanicked { kind: Text, text: String },
}

impl SessionError {
    /// Whether the session must be reopened.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Storage(_) | Self::Failed(_))
    }
}

/// Why a batch was refused before storage admission.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum Rejection {
    #[error("conversation {0} does not exist")]
    MissingConversation(ConversationId),
    #[error("conversation {0} exists already")]
    ConversationExists(ConversationId),
    #[error("entry {entry} is not visible from conversation {conversation}")]
    EntryNotVisible {
        entry: EntryId,
        conversation: ConversationId,
    },
    #[error("task {0} does not exist")]
    MissingTask(TaskId),
    #[error("task {0} is finished, finishing or abort-marked and cannot own new work")]
    OwnerNotLive(TaskId),
    #[error("a child task lives in its owner's conversation")]
    ForeignConversation,
    #[error("a task owned by a task cannot be background")]
    BackgroundChild,
    #[error("a task needs a conversation: none was given and none is bound")]
    NoConversation,
    #[error("a submission that is not queued cannot be placed")]
    NotQueued,
    #[error("only a placed input can be answered")]
    NotPlaced,
    #[error("submission does not exist")]
    MissingSubmission,
    #[error("request id {request_id} is taken in conversation {conversation}")]
    RequestIdTaken {
        conversation: ConversationId,
        request_id: Text,
    },
    #[error("{0} is nested too deep or holds a number that is not finite")]
    NotStrictJson(&'static str),
    #[error("{what} is {number}, above 2^53 - 1")]
    NumberTooLarge { what: &'static str, number: u64 },
    #[error("document {kind} is stored at version {stored}, newer than version {defined} of its definition")]
    DocumentTooNew { kind: Text, stored: u32, defined: u32 },
    #[error("document {kind} requires migration from version {stored} and its definition has none")]
    MigrationMissing { kind: Text, stored: u32 },
    #[error("document {kind} cannot be migrated from version {stored}: {reason}")]
    MigrationFailed { kind: Text, stored: u32, reason: String },
    /// What `initial` or `migrate` answered, or an edit left.
    #[error(
        "document {kind} is no strict JSON object of at most {} levels",
        tidehold_delta::MAX_DEPTH
    )]
    DocumentRoot { kind: Text },
    #[error("document {kind} was stored with other semantics: another scope, history or fork policy")]
    DocumentSemantics { kind: Text },
    #[error("document {kind} is not rewindable")]
    NotRewindable { kind: Text },
    #[error("document {kind} is the source of a fork in this transaction and cannot be written in it")]
    ForkSourceWritten { kind: Text },
    #[error("documents of task {0} are gone: the task is finished")]
    TaskFinished(TaskId),
    #[error("the batch has {bytes} encoded bytes, the limit is {limit}")]
    BatchTooLarge { bytes: usize, limit: usize },
    #[error("the task's record has {bytes} encoded bytes, the limit is {limit}")]
    TaskTooLarge { bytes: usize, limit: usize },
    #[error("{0}")]
    Other(String),
}
