//! What a valid batch is, decided before anything is written and shared by all backends (spec 10).
//!
//! A batch writes each table record at most once, has at most one content command and one retirement per document
//! incarnation, and gives no id to two records. Whether an id was taken by an earlier commit is the backend's to check.

use crate::limits::MAX_NUMBER;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tidehold_delta::{Json, Text};
use tidehold_session::documents::{
    DocumentAddress, DocumentCreate, DocumentRecord, ForkPolicy, Point, Scope, StoredHistory,
};
use tidehold_session::ids::{ConversationId, DocumentId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::{DocumentContent, StorageError, StorageWrite};

/// A checked batch. Order is that of the first mention; content precedes retirement whatever the batch's order.
#[derive(Debug)]
pub struct Plan<'a> {
    pub tables: Vec<TableWrite<'a>>,
    pub documents: Vec<DocumentPlan<'a>>,
    /// The largest id written, 0 for none: the next minted id is above it.
    pub highest: u64,
}

impl Plan<'_> {
    /// Whether the batch retires this incarnation.
    pub fn retires(&self, id: DocumentId) -> bool {
        self.documents
            .iter()
            .any(|document| document.id == id && document.retire)
    }
}

/// A write of one of the four tables.
#[derive(Clone, Copy, Debug)]
pub enum TableWrite<'a> {
    Conversation(&'a Rc<ConversationRecord>),
    Entry(&'a Rc<EntryRecord>),
    Task(&'a Rc<TaskRecord>),
    Submission(&'a Rc<SubmissionRecord>),
}

/// Everything a batch does to one incarnation: `content`, then `retire`.
#[derive(Debug)]
pub struct DocumentPlan<'a> {
    pub id: DocumentId,
    pub content: Option<ContentWrite<'a>>,
    pub retire: bool,
}

/// The content command of an incarnation.
#[derive(Clone, Copy, Debug)]
pub enum ContentWrite<'a> {
    Create {
        record: &'a DocumentCreate,
        version: u32,
        value: &'a Json,
    },
    Copy {
        record: &'a DocumentCreate,
        source: DocumentId,
        at: Point,
    },
    Change(&'a DocumentContent),
}

impl<'a> ContentWrite<'a> {
    /// The record of a new incarnation.
    pub fn created(self) -> Option<&'a DocumentCreate> {
        match self {
            Self::Create { record, .. } | Self::Copy { record, .. } => Some(record),
            Self::Change(_) => None,
        }
    }
}

/// The kind of record an id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    Conversation,
    Entry,
    Task,
    Submission,
    Document,
}

/// Checks `writes` against each other.
///
/// # Errors
/// [`StorageError::Batch`] naming the first rule broken.
pub fn plan(writes: &[StorageWrite]) -> Result<Plan<'_>, StorageError> {
    let mut plan = Plan {
        tables: Vec::new(),
        documents: Vec::new(),
        highest: 0,
    };
    let mut owners = Owners::default();
    for write in writes {
        let (id, record_type) = identity(write);
        if id == 0 || id > MAX_NUMBER {
            return Err(batch(format!("id {id} is outside 1..=2^53-1")));
        }
        let position = match owners.claim(id, record_type, plan.documents.len()) {
            Claim::New => None,
            Claim::Taken(RecordType::Document, position) if record_type == RecordType::Document => {
                Some(position)
            }
            Claim::Taken(earlier, _) if earlier == record_type => {
                return Err(batch(format!("{record_type:?} {id} is written more than once")));
            }
            Claim::Taken(earlier, _) => {
                return Err(batch(format!(
                    "id {id} is written as {earlier:?} and {record_type:?}"
                )));
            }
        };
        plan.highest = plan.highest.max(id);
        match write {
            StorageWrite::Conversation(record) => plan.tables.push(TableWrite::Conversation(record)),
            StorageWrite::Entry(record) => plan.tables.push(TableWrite::Entry(record)),
            StorageWrite::Task(record) => plan.tables.push(TableWrite::Task(record)),
            StorageWrite::Submission(record) => plan.tables.push(TableWrite::Submission(record)),
            document => add_document(&mut plan.documents, position, DocumentId(id), document)?,
        }
    }
    check_requests(&plan.tables)?;
    check_copies(&plan.documents, &owners)?;
    check_addresses(&plan.documents)?;
    Ok(plan)
}

/// The ids of a batch in their order, each with its type and, for a document, its position in the plan. Ids mostly come
/// in ascending order, so that a claim appends.
#[derive(Default)]
struct Owners(Vec<(u64, RecordType, usize)>);

enum Claim {
    New,
    Taken(RecordType, usize),
}

impl Owners {
    fn claim(&mut self, id: u64, record_type: RecordType, position: usize) -> Claim {
        match self.find(id) {
            Ok(at) => match self.0.get(at) {
                Some((_, owner, position)) => Claim::Taken(*owner, *position),
                None => Claim::New,
            },
            Err(at) => {
                self.0.insert(at, (id, record_type, position));
                Claim::New
            }
        }
    }

    fn is_document(&self, id: DocumentId) -> bool {
        let found = self.find(id.0).ok().and_then(|at| self.0.get(at));
        found.is_some_and(|(_, owner, _)| *owner == RecordType::Document)
    }

    fn find(&self, id: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(owned, _, _)| *owned)
    }
}

fn identity(write: &StorageWrite) -> (u64, RecordType) {
    match write {
        StorageWrite::Conversation(record) => (record.id.0, RecordType::Conversation),
        StorageWrite::Entry(record) => (record.id.0, RecordType::Entry),
        StorageWrite::Task(record) => (record.id.0, RecordType::Task),
        StorageWrite::Submission(record) => (record.id.0, RecordType::Submission),
        StorageWrite::DocumentCreate { record, .. } | StorageWrite::DocumentCopy { record, .. } => {
            (record.id.0, RecordType::Document)
        }
        StorageWrite::DocumentChange { id, .. } | StorageWrite::DocumentRetire { id } => {
            (id.0, RecordType::Document)
        }
    }
}

fn add_document<'a>(
    documents: &mut Vec<DocumentPlan<'a>>,
    position: Option<usize>,
    id: DocumentId,
    write: &'a StorageWrite,
) -> Result<(), StorageError> {
    let position = position.unwrap_or_else(|| {
        documents.push(DocumentPlan {
            id,
            content: None,
            retire: false,
        });
        documents.len() - 1
    });
    let Some(document) = documents.get_mut(position) else {
        return Ok(());
    };
    let content = match write {
        StorageWrite::DocumentCreate {
            record,
            version,
            value,
        } => {
            check_create(record)?;
            ContentWrite::Create {
                record,
                version: *version,
                value,
            }
        }
        StorageWrite::DocumentCopy { record, source, at } => {
            check_create(record)?;
            ContentWrite::Copy {
                record,
                source: *source,
                at: *at,
            }
        }
        StorageWrite::DocumentChange { content, .. } => ContentWrite::Change(content),
        _ if document.retire => return Err(batch(format!("document {id} is retired twice"))),
        _ => {
            document.retire = true;
            return Ok(());
        }
    };
    if document.content.is_some() {
        return Err(batch(format!("document {id} has more than one content command")));
    }
    document.content = Some(content);
    Ok(())
}

/// Replacements keep their request, so two submissions of one batch with one request cannot both be valid.
fn check_requests(tables: &[TableWrite<'_>]) -> Result<(), StorageError> {
    let mut requests = HashSet::new();
    for write in tables {
        if let TableWrite::Submission(record) = write
            && let Some(request) = &record.request_id
            && !requests.insert((record.conversation_id, request))
        {
            return Err(request_taken(request));
        }
    }
    Ok(())
}

/// History and fork belong to conversation documents, both or none, and `asOf` needs history (spec 3.1).
fn check_create(record: &DocumentCreate) -> Result<(), StorageError> {
    let valid = match record.scope {
        Scope::Session | Scope::Task { .. } => record.history.is_none() && record.fork.is_none(),
        Scope::Conversation { .. } => match (record.history, record.fork) {
            (Some(StoredHistory::Rewindable), Some(_)) => true,
            (Some(StoredHistory::Latest), Some(fork)) => fork != ForkPolicy::AsOf,
            _ => false,
        },
    };
    if valid {
        Ok(())
    } else {
        Err(batch(format!(
            "document {}: history and fork do not fit its scope",
            record.id
        )))
    }
}

/// Copies read pre-batch state, so a source the batch touches would be ambiguous.
fn check_copies(documents: &[DocumentPlan<'_>], owners: &Owners) -> Result<(), StorageError> {
    for document in documents {
        if let Some(ContentWrite::Copy { source, .. }) = document.content
            && owners.is_document(source)
        {
            return Err(batch(format!(
                "document {source} is copied and written in one batch"
            )));
        }
    }
    Ok(())
}

/// Two incarnations created alive at one address would leave no current one.
fn check_addresses(documents: &[DocumentPlan<'_>]) -> Result<(), StorageError> {
    let mut created: HashMap<DocumentAddress, DocumentId> = HashMap::new();
    for document in documents.iter().filter(|document| !document.retire) {
        let Some(record) = document.content.and_then(ContentWrite::created) else {
            continue;
        };
        if let Some(other) = created.insert(record.address(), record.id) {
            return Err(batch(format!(
                "documents {other} and {} share an address",
                record.id
            )));
        }
    }
    Ok(())
}

/// Whether `source`, as committed before the batch, may be copied into `child`.
///
/// # Errors
/// [`StorageError::Batch`]: the source is no alive conversation document at that point, keeps no content for it, or
/// differs in kind, key, history or fork.
pub fn check_copy(source: &DocumentRecord, at: Point, child: &DocumentCreate) -> Result<(), StorageError> {
    let conversational = |scope| matches!(scope, Scope::Conversation { .. });
    let reason = if !conversational(source.scope) || !conversational(child.scope) {
        "is no conversation document"
    } else if !source.is_alive_at(at) {
        "is not alive at the copied point"
    } else if at != Point::Current && !source.is_rewindable() {
        "does not retain historical content"
    } else if (&source.kind, &source.key) != (&child.kind, &child.key)
        || (source.history, source.fork) != (child.history, child.fork)
    {
        "differs from its copy in kind, key, history or fork"
    } else {
        return Ok(());
    };
    Err(batch(format!("copied document {} {reason}", source.id)))
}

/// A replaced task keeps what it is found by.
///
/// # Errors
/// [`StorageError::Batch`] when `record` moves to another conversation or kind.
pub fn check_task_stays(
    record: &TaskRecord,
    conversation: ConversationId,
    kind: &str,
) -> Result<(), StorageError> {
    let stays = record.conversation_id == conversation && &*record.kind == kind;
    if stays {
        Ok(())
    } else {
        Err(batch(format!(
            "task {} changes its conversation or kind",
            record.id
        )))
    }
}

/// A replaced submission keeps what it is found by.
///
/// # Errors
/// [`StorageError::Batch`] when `record` moves to another conversation or request.
pub fn check_submission_stays(
    record: &SubmissionRecord,
    conversation: ConversationId,
    request: Option<&str>,
) -> Result<(), StorageError> {
    let stays = record.conversation_id == conversation && record.request_id.as_deref() == request;
    if stays {
        Ok(())
    } else {
        Err(batch(format!(
            "submission {} changes its conversation or request",
            record.id
        )))
    }
}

/// The two rules every change obeys: the incarnation is alive, and deltas do not cross a version (spec 3.5).
///
/// # Errors
/// [`StorageError::Batch`].
pub fn check_change(
    record: &DocumentRecord,
    stored_version: u32,
    content: &DocumentContent,
) -> Result<(), StorageError> {
    match content {
        _ if record.retired_at.is_some() => Err(retired(record.id)),
        DocumentContent::Delta { version, .. } if *version != stored_version => Err(batch(format!(
            "document {}: a delta of version {version} on version {stored_version}",
            record.id
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn taken(id: u64, owner: RecordType) -> StorageError {
    batch(format!("id {id} already belongs to {owner:?}"))
}

pub(crate) fn unknown_document(id: DocumentId) -> StorageError {
    batch(format!("document {id} does not exist"))
}

pub(crate) fn retired(id: DocumentId) -> StorageError {
    batch(format!("document {id} is retired"))
}

pub(crate) fn address_taken(id: DocumentId, holder: DocumentId) -> StorageError {
    batch(format!(
        "document {id} is created where document {holder} is alive"
    ))
}

pub(crate) fn request_taken(request: &Text) -> StorageError {
    batch(format!(
        "request {request:?} already identifies another submission"
    ))
}

pub(crate) fn batch(reason: String) -> StorageError {
    StorageError::Batch(reason)
}
