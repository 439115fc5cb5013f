//! The index, built by committing again what the markers list.

use super::super::error::{Damage, JsonlOpenError};
use super::super::line::{ContentPayload, MarkedWrite};
use super::super::names::{MAIN, Sidecar};
use super::at;
use super::main_file::{Commit, MainFile};
use super::sidecar::{Checked, Payload};
use crate::batch;
use crate::memory::MemoryStorage;
use std::collections::HashMap;
use tidehold_delta::Json;
use tidehold_session::documents::{DocumentCreate, DocumentRecord};
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::storage::{DocumentContent, StorageError, StorageWrite};

pub(super) fn replay(
    index: &MemoryStorage,
    main: &MainFile,
    found: &mut HashMap<Sidecar, Checked>,
) -> Result<(), JsonlOpenError> {
    for commit in &main.commits {
        replay_one(index, commit, found).map_err(|damage| at(MAIN, commit.line, damage))?;
    }
    index.spend_ids_to(main.reserved);
    Ok(())
}

fn replay_one(
    index: &MemoryStorage,
    commit: &Commit,
    found: &mut HashMap<Sidecar, Checked>,
) -> Result<(), Damage> {
    let mut writes = Vec::with_capacity(commit.writes.len());
    for marked in &commit.writes {
        writes.extend(write(commit.seq, marked, found)?);
    }
    // What could be committed can be committed again; anything else is damage.
    let impossible = |error: StorageError| Damage::Contradiction(error.to_string());
    let plan = batch::plan(&writes).map_err(impossible)?;
    let copies = index.prepare(&plan).map_err(impossible)?;
    index.publish(&plan, copies, Seq(commit.seq));
    Ok(())
}

/// The write that a marker lists; `None` for a state of a task that a later one superseded.
///
/// Superseded content stands in as empty: the write that supersedes it removes it from the index.
fn write(
    seq: u64,
    marked: &MarkedWrite,
    found: &mut HashMap<Sidecar, Checked>,
) -> Result<Option<StorageWrite>, Damage> {
    let mut payload = |sidecar| found.get_mut(&sidecar)?.payloads.remove(&seq);
    Ok(Some(match marked {
        MarkedWrite::Conversation { value } => StorageWrite::Conversation(value.clone()),
        MarkedWrite::Entry { value } => StorageWrite::Entry(value.clone()),
        MarkedWrite::Submission { value } => StorageWrite::Submission(value.clone()),
        MarkedWrite::Task { value } if value.is_live() => {
            return Err(Damage::Contradiction(format!(
                "task {} is not terminal",
                value.id
            )));
        }
        MarkedWrite::Task { value } => StorageWrite::Task(value.clone()),
        MarkedWrite::LiveTask { id, .. } => match payload(Sidecar::Task(*id)) {
            Some(Payload::Task(record)) => StorageWrite::Task(record),
            _ => return Ok(None),
        },
        MarkedWrite::Document { record, version, .. } => {
            let value = match payload(Sidecar::Document(record.id.0)) {
                Some(Payload::Content(ContentPayload::Base { value, .. })) => value,
                _ => Json::Null,
            };
            StorageWrite::DocumentCreate {
                record: created(record, seq)?,
                version: *version,
                value,
            }
        }
        MarkedWrite::Base { id, version, .. } => {
            let value = match payload(Sidecar::Document(*id)) {
                Some(Payload::Content(ContentPayload::Base { value, .. })) => value,
                _ => Json::Null,
            };
            let version = *version;
            changed(*id, DocumentContent::Base { version, value })
        }
        MarkedWrite::Delta { id, version, .. } => {
            let ops = match payload(Sidecar::Document(*id)) {
                Some(Payload::Content(ContentPayload::Delta { ops, .. })) => ops,
                _ => Vec::new(),
            };
            let (version, ops) = (*version, ops.into());
            changed(*id, DocumentContent::Delta { version, ops })
        }
        MarkedWrite::Retire { id } => StorageWrite::DocumentRetire { id: DocumentId(*id) },
    }))
}

fn changed(id: u64, content: DocumentContent) -> StorageWrite {
    StorageWrite::DocumentChange {
        id: DocumentId(id),
        content,
    }
}

fn created(record: &DocumentRecord, seq: u64) -> Result<DocumentCreate, Damage> {
    let record = record.clone();
    if (record.created_at, record.retired_at) != (Seq(seq), None) {
        let reason = format!("document {} was not created by this commit", record.id);
        return Err(Damage::Contradiction(reason));
    }
    Ok(DocumentCreate {
        id: record.id,
        kind: record.kind,
        key: record.key,
        scope: record.scope,
        history: record.history,
        fork: record.fork,
    })
}
