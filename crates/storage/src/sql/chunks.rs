//! Values longer than a row may be, cut by bytes. A border may fall inside a character, hence blobs.

use super::driver::{Param, SqlDriver};
use super::rows::{Reader, exact, write};
use super::statements as sql;
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
pub(super) fn needed(text: &str) -> u64 {
    if text.len() <= CHUNK_BYTES {
        0
    } else {
        text.len().div_ceil(CHUNK_BYTES) as u64
    }
}

/// Stores the chunks of a text that [`needed`] some, over those already there.
pub(super) fn put(driver: &dyn SqlDriver, place: Place, text: &str) -> Result<(), StorageError> {
    for (part, data) in text.as_bytes().chunks(CHUNK_BYTES).enumerate() {
        let params = [
            exact(place.owner),
            exact(place.slot),
            exact(part as u64),
            Param::Blob(data),
        ];
        write(driver, &sql::PUT_CHUNK, &params)?;
    }
    Ok(())
}

/// Drops the chunks of a place from `kept` on.
pub(super) fn trim(driver: &dyn SqlDriver, place: Place, kept: u64) -> Result<(), StorageError> {
    let params = [exact(place.owner), exact(place.slot), exact(kept)];
    write(driver, &sql::DELETE_CHUNKS_FROM, &params)
}

/// Drops the chunks of all segments of a document but the base in its own row.
pub(super) fn drop_segments(driver: &dyn SqlDriver, document: u64) -> Result<(), StorageError> {
    write(
        driver,
        &sql::DELETE_CHUNKS_AFTER_SLOT,
        &[exact(document), exact(0)],
    )
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
