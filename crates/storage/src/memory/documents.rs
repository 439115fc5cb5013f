//! Document reads.

use super::state::{Document, State};
use crate::cursor::{PageRequest, Scan};
use crate::replay::{Replay, missing_base, no_history};
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::storage::{
    Cursor, DocumentContent, DocumentQuery, Page, ScanOrder, StorageError, StoredDocument,
};

pub(super) fn find(state: &State, address: &DocumentAddress, at: Point) -> Option<DocumentRecord> {
    let incarnations = state.addresses.get(address)?;
    let records = incarnations.iter().filter_map(|id| state.documents.get(&id.0));
    records
        .map(|document| &document.record)
        .rfind(|record| record.is_alive_at(at))
        .cloned()
}

pub(super) fn scan(
    state: &State,
    query: &DocumentQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<DocumentRecord>, StorageError> {
    let page = PageRequest::new(Scan::Documents, None, ScanOrder::Ascending, limit, cursor)?;
    let wanted = |record: &&DocumentRecord| {
        record.scope == query.scope
            && record.is_alive_at(query.at)
            && query.kind.as_ref().is_none_or(|kind| *kind == record.kind)
    };
    let documents = state.documents.range(page.start() + 1..);
    let items: Vec<DocumentRecord> = documents
        .map(|(_, document)| &document.record)
        .filter(wanted)
        .take(page.limit)
        .cloned()
        .collect();
    let last = items.last().map(|record| record.id.0);
    Ok(page.page(items, last))
}

pub(super) fn load(state: &State, id: DocumentId, at: Point) -> Result<Option<StoredDocument>, StorageError> {
    let Some(document) = state.documents.get(&id.0) else {
        return Ok(None);
    };
    if at != Point::Current && !document.record.is_rewindable() {
        return Err(no_history(&document.record));
    }
    if !document.record.is_alive_at(at) {
        return Ok(None);
    }
    materialize(document, at).map(Some)
}

fn materialize(document: &Document, at: Point) -> Result<StoredDocument, StorageError> {
    let is_later = |seq: Seq| matches!(at, Point::At(last) if seq > last);
    let until = document.revisions.partition_point(|(seq, _)| !is_later(*seq));
    let revisions = document.revisions.get(..until).unwrap_or_default();
    let is_base = |(_, content): &(Seq, DocumentContent)| matches!(content, DocumentContent::Base { .. });
    // What a later base replaces is not replayed.
    let newest_base = revisions.iter().rposition(is_base).unwrap_or(0);
    let mut replay = None;
    for (_, content) in revisions.iter().skip(newest_base) {
        match (content, &mut replay) {
            (DocumentContent::Base { version, value }, replay) => {
                *replay = Some(Replay::from_base(*version, value.clone()));
            }
            (DocumentContent::Delta { version, ops }, Some(replay)) => {
                replay.push(*version, ops.iter().cloned())?;
            }
            (DocumentContent::Delta { .. }, None) => return Err(missing_base(&document.record)),
        }
    }
    replay
        .ok_or_else(|| missing_base(&document.record))?
        .finish(document.record.clone())
}
