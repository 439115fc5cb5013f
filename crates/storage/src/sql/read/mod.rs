//! Reads, one file per kind of record.

pub(super) mod conversations;
pub(super) mod documents;
pub(super) mod entries;
pub(super) mod submissions;
pub(super) mod tasks;

use super::chunks::{self, Place};
use super::codec::decode_record;
use super::rows::{Columns, Reader};
use crate::cursor::PageRequest;
use tidehold_delta::FromJson;
use tidehold_session::storage::{Page, StorageError};

/// A record from the columns `id, chunks, record`.
fn decode<T: FromJson>(reader: &Reader<'_>, row: &mut Columns) -> Result<(u64, T), StorageError> {
    let (id, count, inline) = (row.number()?, row.number()?, row.text()?);
    let text = chunks::load(reader, Place::record(id), count, inline)?;
    Ok((id, decode_record(&text)?))
}

fn decode_first<T: FromJson>(reader: &Reader<'_>, row: Option<Columns>) -> Result<Option<T>, StorageError> {
    row.map(|mut row| decode(reader, &mut row).map(|(_, record)| record))
        .transpose()
}

/// A page from rows in its order.
fn decode_page<T: FromJson>(
    reader: &Reader<'_>,
    page: &PageRequest,
    rows: Vec<Columns>,
) -> Result<Page<T>, StorageError> {
    let mut items = Vec::with_capacity(rows.len());
    let mut last = None;
    for mut row in rows {
        let (id, record) = decode(reader, &mut row)?;
        items.push(record);
        last = Some(id);
    }
    Ok(page.page(items, last))
}
