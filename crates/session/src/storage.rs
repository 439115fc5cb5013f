//! The storage contract (spec 10): plain data in, plain data out.
//!
//! A backend trusts the session for semantics and enforces atomicity, id ownership, immutability of conversations and
//! entries, and document record consistency. Every error but [`StorageError::Request`] from a read ends the session.

use crate::documents::{DocumentAddress, DocumentCreate, DocumentRecord, Point, Scope};
use crate::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::{Json, Op, Text};

/// Why a storage call failed.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
pub enum StorageError {
    /// An invalid read without durable effect: the only error that fails just its call (spec 10.1).
    #[error("invalid storage request: {0}")]
    Request(String),
    /// What is stored contradicts itself.
    #[error("storage is corrupt: {0}")]
    Corrupt(String),
    /// A batch that breaks the contract: a reused id, a changed entry, an unknown document.
    #[error("invalid batch: {0}")]
    Batch(String),
    /// The stored schema was written by a newer release.
    #[error("stored schema {found} is newer than the supported {supported}")]
    SchemaTooNew { found: u32, supported: u32 },
    /// Ids are JSON numbers: none beyond 2^53 - 1.
    #[error("the id space is exhausted")]
    IdsExhausted,
    /// The backend itself failed.
    #[error("storage backend failed: {0}")]
    Backend(String),
    /// An earlier write failed with unknown effect, so that what is in memory may differ from what is stored. Reopen.
    #[error("storage cannot go on after a failed write: {0}")]
    Poisoned(String),
    /// The backend was closed.
    #[error("storage is closed")]
    Closed,
}

/// Result of a storage call, ready at first poll in synchronous backends.
pub type StorageFuture<'a, T> = LocalBoxFuture<'a, Result<T, StorageError>>;

/// Page of a scan; `next` is present when the scan may have more.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next: Option<Cursor>,
}

/// Backend-owned position. Callers only pass it back to the same scan on the same storage. It carries the order of
/// its scan; a scan asked for the other order rejects it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor(pub Json);

/// Id order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanOrder {
    Ascending,
    Descending,
}

/// Filters are conjunctive; default order ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationQuery {
    pub owner_conversation_id: Option<ConversationId>,
    pub owner_task_id: Option<TaskId>,
    pub order: Option<ScanOrder>,
}

/// Visible entries of one conversation, through its ancestry; default order descending; bounds inclusive.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryQuery {
    pub conversation_id: ConversationId,
    pub min_entry_id: Option<EntryId>,
    pub max_entry_id: Option<EntryId>,
    pub order: Option<ScanOrder>,
}

/// Stored status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Pending,
    Running,
    Waiting,
    Completing,
    Terminal,
}

/// Filters are conjunctive; default order ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskQuery {
    pub conversation_id: Option<ConversationId>,
    pub kind: Option<Text>,
    pub status: Option<TaskStatus>,
    /// Ours: every status but terminal, for recovery and inspection.
    pub live: bool,
    pub abort_requested: Option<bool>,
    pub background: Option<bool>,
    pub order: Option<ScanOrder>,
}

/// Stored status of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionStatus {
    Queued,
    Placed,
    Done,
    Unanswered,
}

/// Filters are conjunctive; default order ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SubmissionQuery {
    pub conversation_id: Option<ConversationId>,
    pub status: Option<SubmissionStatus>,
    /// Ours: queued or placed.
    pub live: bool,
    pub order: Option<ScanOrder>,
}

/// Incarnations alive in one exact scope; ascending incarnation ids.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentQuery {
    pub scope: Scope,
    pub at: Point,
    pub kind: Option<Text>,
}

/// An entry with the commit that appended it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEntry {
    pub entry: EntryRecord,
    pub commit_seq: Seq,
}

/// The newest visible head marker and its lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadMarker {
    pub entry: EntryRecord,
    pub head: EntryId,
}

/// One materialized incarnation.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument {
    pub record: DocumentRecord,
    pub version: u32,
    pub value: Json,
    /// Deltas replayed after the selected base.
    pub deltas_since_base: u32,
}

/// What a change stores: a complete value or an operation batch.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentContent {
    Base { version: u32, value: Json },
    Delta { version: u32, ops: Rc<[Op]> },
}

/// One write of a batch (spec 10). A batch holds at most one content command per incarnation; content applies before
/// retirement whatever the order.
#[derive(Clone, Debug, PartialEq)]
pub enum StorageWrite {
    Conversation(Rc<ConversationRecord>),
    Entry(Rc<EntryRecord>),
    Task(Rc<TaskRecord>),
    Submission(Rc<SubmissionRecord>),
    DocumentCreate {
        record: DocumentCreate,
        version: u32,
        value: Json,
    },
    /// Server-side copy of committed, pre-batch source state.
    DocumentCopy {
        record: DocumentCreate,
        source: DocumentId,
        at: Point,
    },
    DocumentChange {
        id: DocumentId,
        content: DocumentContent,
    },
    DocumentRetire {
        id: DocumentId,
    },
}

/// A session's storage. Once `commit` resolves, later reads observe it. `limit` is the maximum page size.
pub trait Storage {
    /// Makes the batch durable as one, or fails with unknown effect.
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq>;
    /// A number above every id minted or stored before, also across reopen. The first is 2.
    fn mint_id(&self) -> StorageFuture<'_, u64>;
    /// Random name of this storage's lifetime; `None` before the first commit. A deleted and recreated session has
    /// another one.
    fn incarnation(&self) -> StorageFuture<'_, Option<Text>>;
    /// The newest committed sequence number; `None` before the first commit. After a reopen it may answer a number
    /// above the newest commit and below the next one.
    fn head(&self) -> StorageFuture<'_, Option<Seq>>;

    fn conversation(&self, id: ConversationId) -> StorageFuture<'_, Option<ConversationRecord>>;
    fn scan_conversations<'a>(
        &'a self,
        query: &'a ConversationQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<ConversationRecord>>;

    /// Exact global lookup.
    fn entry(&self, id: EntryId) -> StorageFuture<'_, Option<StoredEntry>>;
    /// Only when visible through the conversation's ancestry.
    fn visible_entry(
        &self,
        conversation: ConversationId,
        id: EntryId,
    ) -> StorageFuture<'_, Option<StoredEntry>>;
    /// The newest visible entry carrying `head`, at or below the inclusive cutoff.
    fn find_latest_head_marker(
        &self,
        conversation: ConversationId,
        at_or_before: Option<EntryId>,
    ) -> StorageFuture<'_, Option<HeadMarker>>;
    /// Unknown conversation: [`StorageError::Request`].
    fn scan_entries<'a>(
        &'a self,
        query: &'a EntryQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<EntryRecord>>;

    fn task(&self, id: TaskId) -> StorageFuture<'_, Option<TaskRecord>>;
    fn scan_tasks<'a>(
        &'a self,
        query: &'a TaskQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<TaskRecord>>;

    fn submission(&self, id: SubmissionId) -> StorageFuture<'_, Option<SubmissionRecord>>;
    fn scan_submissions<'a>(
        &'a self,
        query: &'a SubmissionQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<SubmissionRecord>>;
    fn submission_by_request<'a>(
        &'a self,
        conversation: ConversationId,
        request_id: &'a str,
    ) -> StorageFuture<'a, Option<SubmissionRecord>>;

    fn find_document<'a>(
        &'a self,
        address: &'a DocumentAddress,
        at: Point,
    ) -> StorageFuture<'a, Option<DocumentRecord>>;
    /// One incarnation; never follows a replacement at the same address. A current-only incarnation at a numeric
    /// point is [`StorageError::Request`].
    fn document(&self, id: DocumentId, at: Point) -> StorageFuture<'_, Option<StoredDocument>>;
    fn scan_documents<'a>(
        &'a self,
        query: &'a DocumentQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<DocumentRecord>>;

    /// Releases the backend; later calls fail with [`StorageError::Closed`].
    fn close(&self) -> StorageFuture<'_, ()>;
}
