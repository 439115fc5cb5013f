//! Values longer than a row may be, cut by bytes. A border may fall inside a character, hence blobs.

use super::rows::{Reader, exact};
use super::statements as sql;
use super::writes::{Cell, Span, Writes};
use crate::limits::CHUNK_BYTES;
use tidehold_session::storage::StorageError;

/// What a chunked value belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) owner: u64,
    /// 0 for a record and for the base in a `documents` row, otherwise the sequence number of the segment.
    pub(super) slot: u64,
}

impl Place {
    pub(super) fn record(id: u64) -> Self {
        Self { owner: id, slot: 0 }
    }
}

/// How many chunks a text needs: 0 when it fits its row.
pub(super) fn needed(text: Span) -> u64 {
    if text.size() <= CHUNK_BYTES {
        0
    } else {
        text.size().div_ceil(CHUNK_BYTES) as u64
    }
}

/// Stores the chunks of a text that [`needed`] some, over those already there.
pub(super) fn put(writes: &mut Writes, place: Place, text: Span) {
    for (part, start) in (text.start..text.end).step_by(CHUNK_BYTES).enumerate() {
        let end = text.end.min(start + CHUNK_BYTES);
        let cells = [
            exact(place.owner),
            exact(place.slot),
            exact(part as u64),
            Cell::Blob(Span { start, end }),
        ];
        writes.push(&sql::PUT_CHUNK, &cells);
    }
}

/// Drops the chunks of a place from `kept` on.
pub(super) fn trim(writes: &mut Writes, place: Place, kept: u64) {
    let cells = [exact(place.owner), exact(place.slot), exact(kept)];
    writes.push(&sql::DELETE_CHUNKS_FROM, &cells);
}

/// Drops the chunks of all segments of a document but the base in its own row.
pub(super) fn drop_segments(writes: &mut Writes, document: u64) {
    writes.push(&sql::DELETE_CHUNKS_AFTER_SLOT, &[exact(document), exact(0)]);
}

/// The text of a value: `inline`, or its `count` chunks.
///
/// # Errors
/// [`StorageError::Corrupt`] when a chunk is missing or the bytes are no text.
pub(super) fn load(
    reader: &Reader<'_>,
    place: Place,
    count: u64,
    inline: String,
) -> Result<String, StorageError> {
    if count == 0 {
        return Ok(inline);
    }
    let mut bytes = Vec::new();
    let mut found = 0;
    for mut row in reader.rows(&sql::CHUNKS, &[exact(place.owner), exact(place.slot)])? {
        bytes.append(&mut row.blob()?);
        found += 1;
    }
    if found != count {
        let reason = format!("the value of {} has {found} of {count} chunks", place.owner);
        return Err(StorageError::Corrupt(reason));
    }
    String::from_utf8(bytes)
        .map_err(|_| StorageError::Corrupt(format!("the value of {} is no text", place.owner)))
}
