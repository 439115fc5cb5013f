//! Commits: `validate` may refuse and changes nothing, `apply` changes everything and cannot fail.

use super::documents;
use super::state::{Document, State};
use crate::batch::{self, ContentWrite, DocumentPlan, Plan, RecordType, TableWrite};
use std::collections::HashMap;
use tidehold_delta::Json;
use tidehold_session::documents::{DocumentCreate, Point};
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::storage::{DocumentContent, StorageError, StoredDocument};

/// Version and value of each copied document, by the id of the copy.
pub(crate) type Copies = HashMap<DocumentId, (u32, Json)>;

/// Checks a batch against what is stored and reads the sources of its copies.
pub(super) fn validate(state: &State, plan: &Plan<'_>) -> Result<Copies, StorageError> {
    for write in &plan.tables {
        check_table(state, *write)?;
    }
    let mut copies = Copies::new();
    for document in &plan.documents {
        if let Some(copied) = check_document(state, plan, document)? {
            copies.insert(document.id, (copied.version, copied.value));
        }
    }
    Ok(copies)
}

fn check_table(state: &State, write: TableWrite<'_>) -> Result<(), StorageError> {
    match write {
        TableWrite::Conversation(record) => check_new(state, record.id.0),
        TableWrite::Entry(record) => check_new(state, record.id.0),
        TableWrite::Task(record) => match state.tasks.get(&record.id.0) {
            Some(stored) => batch::check_task_stays(record, stored.conversation_id, &stored.kind),
            None => check_new(state, record.id.0),
        },
        TableWrite::Submission(record) => match state.submissions.get(&record.id.0) {
            Some(stored) => {
                batch::check_submission_stays(record, stored.conversation_id, stored.request_id.as_deref())
            }
            None => {
                check_new(state, record.id.0)?;
                match &record.request_id {
                    Some(request)
                        if state
                            .requests
                            .contains_key(&(record.conversation_id, request.clone())) =>
                    {
                        Err(batch::request_taken(request))
                    }
                    _ => Ok(()),
                }
            }
        },
    }
}

fn check_new(state: &State, id: u64) -> Result<(), StorageError> {
    match state.owners.get(&id) {
        Some(owner) => Err(batch::taken(id, *owner)),
        None => Ok(()),
    }
}

/// Returns the materialized source of a copy.
fn check_document(
    state: &State,
    plan: &Plan<'_>,
    document: &DocumentPlan<'_>,
) -> Result<Option<StoredDocument>, StorageError> {
    if let Some(record) = document.content.and_then(ContentWrite::created) {
        check_new(state, record.id.0)?;
        if !document.retire {
            check_address(state, plan, record)?;
        }
    }
    match document.content {
        Some(ContentWrite::Create { .. }) => Ok(None),
        Some(ContentWrite::Copy { record, source, at }) => copied(state, record, source, at).map(Some),
        Some(ContentWrite::Change(content)) => {
            let stored = stored(state, document.id)?;
            batch::check_change(&stored.record, stored.version, content)?;
            Ok(None)
        }
        None if stored(state, document.id)?.record.retired_at.is_some() => Err(batch::retired(document.id)),
        None => Ok(None),
    }
}

fn stored(state: &State, id: DocumentId) -> Result<&Document, StorageError> {
    state
        .documents
        .get(&id.0)
        .ok_or_else(|| batch::unknown_document(id))
}

fn copied(
    state: &State,
    child: &DocumentCreate,
    source: DocumentId,
    at: Point,
) -> Result<StoredDocument, StorageError> {
    batch::check_copy(&stored(state, source)?.record, at, child)?;
    documents::load(state, source, at)?.ok_or_else(|| batch::unknown_document(source))
}

/// No other incarnation may stay alive at the address.
fn check_address(state: &State, plan: &Plan<'_>, record: &DocumentCreate) -> Result<(), StorageError> {
    match documents::find(state, &record.address(), Point::Current) {
        Some(holder) if !plan.retires(holder.id) => Err(batch::address_taken(record.id, holder.id)),
        _ => Ok(()),
    }
}

/// Stores a validated batch as commit `seq`, which is above the newest.
pub(super) fn apply(state: &mut State, plan: &Plan<'_>, mut copies: Copies, seq: Seq) {
    for write in &plan.tables {
        apply_table(state, *write, seq);
    }
    for document in &plan.documents {
        let content = match document.content {
            Some(ContentWrite::Create { version, value, .. }) => Some(DocumentContent::Base {
                version,
                value: value.clone(),
            }),
            Some(ContentWrite::Copy { .. }) => copies
                .remove(&document.id)
                .map(|(version, value)| DocumentContent::Base { version, value }),
            Some(ContentWrite::Change(content)) => Some(content.clone()),
            None => None,
        };
        if let Some(record) = document.content.and_then(ContentWrite::created) {
            state.owners.insert(record.id.0, RecordType::Document);
            state
                .addresses
                .entry(record.address())
                .or_default()
                .push(record.id);
            let record = record.clone().stamped(seq);
            state.documents.insert(
                document.id.0,
                Document {
                    record,
                    version: 0,
                    revisions: Vec::new(),
                },
            );
        }
        if let Some(stored) = state.documents.get_mut(&document.id.0) {
            apply_document(stored, content, document.retire, seq);
        }
    }
    state.next_id = state.next_id.max(plan.highest + 1);
    state.head = Some(seq);
}

fn apply_table(state: &mut State, write: TableWrite<'_>, seq: Seq) {
    match write {
        TableWrite::Conversation(record) => {
            state.owners.insert(record.id.0, RecordType::Conversation);
            state.conversations.insert(record.id.0, record.clone());
        }
        TableWrite::Entry(record) => {
            state.owners.insert(record.id.0, RecordType::Entry);
            state.entries.insert(record.id.0, (record.clone(), seq));
            state
                .entries_of
                .entry(record.conversation_id)
                .or_default()
                .insert(record.id.0);
        }
        TableWrite::Task(record) => {
            state.owners.insert(record.id.0, RecordType::Task);
            state.tasks.insert(record.id.0, record.clone());
        }
        TableWrite::Submission(record) => {
            state.owners.insert(record.id.0, RecordType::Submission);
            if let Some(request) = &record.request_id {
                state
                    .requests
                    .insert((record.conversation_id, request.clone()), record.id.0);
            }
            state.submissions.insert(record.id.0, record.clone());
        }
    }
}

fn apply_document(stored: &mut Document, content: Option<DocumentContent>, retire: bool, seq: Seq) {
    let keeps_history = stored.record.is_rewindable();
    if let Some(content) = content {
        if let DocumentContent::Base { version, .. } = content {
            stored.version = version;
            if !keeps_history {
                stored.revisions.clear();
            }
        }
        stored.revisions.push((seq, content));
    }
    if retire {
        stored.record.retired_at = Some(seq);
        if !keeps_history {
            stored.revisions.clear();
        }
    }
}
