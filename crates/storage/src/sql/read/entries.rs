//! Entries, through the ancestry of a conversation.

use super::conversations::lineage;
use super::{decode, decode_first, decode_page};
use crate::cursor::{PageRequest, Scan};
use crate::limits::MAX_NUMBER;
use crate::lineage::{is_visible, segments};
use crate::sql::rows::{Reader, bound, exact};
use crate::sql::statements as sql;
use tidehold_session::ids::{ConversationId, EntryId, Seq};
use tidehold_session::records::EntryRecord;
use tidehold_session::storage::{Cursor, EntryQuery, HeadMarker, Page, ScanOrder, StorageError, StoredEntry};

/// An entry with the conversation that holds it.
pub(in crate::sql) fn load(
    reader: &Reader<'_>,
    id: EntryId,
) -> Result<Option<(StoredEntry, ConversationId)>, StorageError> {
    let Some(mut row) = reader.first(&sql::ENTRY, &[exact(id.0)])? else {
        return Ok(None);
    };
    let (_, entry) = decode(reader, &mut row)?;
    let commit_seq = Seq(row.number()?);
    Ok(Some((
        StoredEntry { entry, commit_seq },
        ConversationId(row.number()?),
    )))
}

pub(in crate::sql) fn load_visible(
    reader: &Reader<'_>,
    conversation: ConversationId,
    id: EntryId,
) -> Result<Option<StoredEntry>, StorageError> {
    let Some((entry, holder)) = load(reader, id)? else {
        return Ok(None);
    };
    let line = lineage(reader, conversation)?;
    Ok(is_visible(&line, holder, id).then_some(entry))
}

pub(in crate::sql) fn head_marker(
    reader: &Reader<'_>,
    conversation: ConversationId,
    at_or_before: Option<EntryId>,
) -> Result<Option<HeadMarker>, StorageError> {
    let cutoff = at_or_before.map_or(MAX_NUMBER, |id| id.0);
    // The newest marker is in the nearest conversation that has one: ancestors are capped below their forks.
    for ancestor in lineage(reader, conversation)? {
        let params = [exact(ancestor.conversation.0), bound(cutoff.min(ancestor.cap))];
        let row = reader.first(&sql::NEWEST_HEAD, &params)?;
        if let Some(entry) = decode_first::<EntryRecord>(reader, row)? {
            let head = entry.head.ok_or_else(|| {
                StorageError::Corrupt(format!(
                    "entry {} is stored as a head marker without a head",
                    entry.id
                ))
            })?;
            return Ok(Some(HeadMarker { entry, head }));
        }
    }
    Ok(None)
}

pub(in crate::sql) fn scan(
    reader: &Reader<'_>,
    query: &EntryQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<EntryRecord>, StorageError> {
    let page = PageRequest::new(Scan::Entries, query.order, ScanOrder::Descending, limit, cursor)?;
    let line = lineage(reader, query.conversation_id)?;
    if line.is_empty() {
        return Err(StorageError::Request(format!(
            "unknown conversation {}",
            query.conversation_id
        )));
    }
    let statement = match page.order {
        ScanOrder::Ascending => &sql::ENTRIES_ASC,
        ScanOrder::Descending => &sql::ENTRIES_DESC,
    };
    let mut rows = Vec::new();
    for segment in segments(&line, query, &page) {
        let free = page.limit - rows.len();
        if free == 0 {
            break;
        }
        let params = [
            exact(segment.conversation.0),
            bound(segment.min),
            bound(segment.max),
            bound(free as u64),
        ];
        rows.append(&mut reader.rows(statement, &params)?);
    }
    decode_page(reader, &page, rows)
}
