//! Documents: records by address and scope, values by replaying the newest base and what follows.

use crate::cursor::{PageRequest, Scan};
use crate::limits::MAX_NUMBER;
use crate::replay::{missing_base, no_history};
use crate::sql::codec::{decode_name, encode_name};
use crate::sql::driver::Param;
use crate::sql::rows::{Columns, Reader, bound, exact, text_or_null};
use crate::sql::segments::{RowKind, replay};
use crate::sql::{scope, statements as sql};
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::storage::{Cursor, DocumentQuery, Page, ScanOrder, StorageError, StoredDocument};

pub(in crate::sql) fn find(
    reader: &Reader<'_>,
    address: &DocumentAddress,
    at: Point,
) -> Result<Option<DocumentRecord>, StorageError> {
    let (scope, owner) = scope::columns(address.scope);
    let kind = encode_name(&address.kind);
    let key = address.key.as_deref().map(encode_name);
    let params = [
        exact(scope),
        exact(owner),
        Param::Text(&kind),
        text_or_null(key.as_deref()),
    ];
    let row = match at {
        Point::Current => reader.first(&sql::DOCUMENT_AT_ADDRESS, &params),
        Point::At(seq) => {
            let [scope, owner, kind, key] = params;
            reader.first(
                &sql::DOCUMENT_AT_ADDRESS_AT,
                &[scope, owner, kind, key, bound(seq.0)],
            )
        }
    }?;
    row.map(|mut row| decode_record(&mut row)).transpose()
}

pub(in crate::sql) fn scan(
    reader: &Reader<'_>,
    query: &DocumentQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<DocumentRecord>, StorageError> {
    let page = PageRequest::new(Scan::Documents, None, ScanOrder::Ascending, limit, cursor)?;
    let (scope, owner) = scope::columns(query.scope);
    let kind = query.kind.as_deref().map(encode_name);
    let params = [
        exact(scope),
        exact(owner),
        bound(page.start()),
        bound(page.limit as u64),
        text_or_null(kind.as_deref()),
    ];
    let rows = match query.at {
        Point::Current => reader.rows(&sql::DOCUMENTS_IN_SCOPE, &params),
        Point::At(seq) => {
            let [scope, owner, start, limit, kind] = params;
            reader.rows(
                &sql::DOCUMENTS_IN_SCOPE_AT,
                &[scope, owner, start, limit, kind, bound(seq.0)],
            )
        }
    }?;
    let items: Vec<DocumentRecord> = rows
        .into_iter()
        .map(|mut row| decode_record(&mut row))
        .collect::<Result<_, _>>()?;
    let last = items.last().map(|record| record.id.0);
    Ok(page.page(items, last))
}

pub(in crate::sql) fn load(
    reader: &Reader<'_>,
    id: DocumentId,
    at: Point,
) -> Result<Option<StoredDocument>, StorageError> {
    let Some(mut row) = reader.first(&sql::DOCUMENT, &[exact(id.0)])? else {
        return Ok(None);
    };
    let record = decode_record(&mut row)?;
    let last = match at {
        Point::At(_) if !record.is_rewindable() => return Err(no_history(&record)),
        _ if !record.is_alive_at(at) => return Ok(None),
        Point::At(seq) => seq.0,
        Point::Current => MAX_NUMBER,
    };
    let base_part = if record.is_rewindable() {
        newest_base_part(reader, id, last)?
    } else {
        None
    };
    let mut replayed = None;
    if base_part.is_none() {
        replay(reader, id.0, RowKind::Own, &row.text()?, &mut replayed)?;
    }
    let params = [exact(id.0), bound(base_part.unwrap_or(0)), bound(last)];
    for mut part in reader.rows(&sql::DOCUMENT_PARTS, &params)? {
        replay(reader, id.0, RowKind::Part, &part.text()?, &mut replayed)?;
    }
    let value = replayed.ok_or_else(|| missing_base(&record))?.finish(record)?;
    Ok(Some(value))
}

fn newest_base_part(reader: &Reader<'_>, id: DocumentId, last: u64) -> Result<Option<u64>, StorageError> {
    let row = reader.first(&sql::NEWEST_BASE_PART, &[exact(id.0), bound(last)])?;
    row.map(|mut row| row.number()).transpose()
}

/// The record of any incarnation, alive or not.
pub(in crate::sql) fn record(
    reader: &Reader<'_>,
    id: DocumentId,
) -> Result<Option<DocumentRecord>, StorageError> {
    Ok(tail(reader, id)?.map(|tail| tail.record))
}

/// What a change of a document must know.
pub(in crate::sql) struct Tail {
    pub(in crate::sql) record: DocumentRecord,
    /// Version of the newest base.
    pub(in crate::sql) version: u32,
    /// Size of the content in the document's own row.
    pub(in crate::sql) bytes: u64,
    /// Sequence number and size of the last part.
    pub(in crate::sql) last_part: Option<(u64, u64)>,
}

pub(in crate::sql) fn tail(reader: &Reader<'_>, id: DocumentId) -> Result<Option<Tail>, StorageError> {
    let Some(mut row) = reader.first(&sql::DOCUMENT_TAIL, &[exact(id.0)])? else {
        return Ok(None);
    };
    let record = decode_record(&mut row)?;
    let version = u32::try_from(row.number()?).map_err(|_| damaged(id, "version"))?;
    let bytes = row.number()?;
    let last_part = row.optional_number()?.zip(row.optional_number()?);
    Ok(Some(Tail {
        record,
        version,
        bytes,
        last_part,
    }))
}

/// From the columns `id, scope, owner, kind, key, history, fork, created, retired`.
fn decode_record(row: &mut Columns) -> Result<DocumentRecord, StorageError> {
    let id = DocumentId(row.number()?);
    let (scope, owner) = (row.number()?, row.number()?);
    let scope = scope::from_columns(scope, owner).ok_or_else(|| damaged(id, "scope"))?;
    let kind = decode_name(&row.text()?)?;
    let key = row.optional_text()?.as_deref().map(decode_name).transpose()?;
    let history = match row.optional_number()? {
        Some(column) => Some(scope::history_from(column).ok_or_else(|| damaged(id, "history"))?),
        None => None,
    };
    let fork = match row.optional_number()? {
        Some(column) => Some(scope::fork_from(column).ok_or_else(|| damaged(id, "fork policy"))?),
        None => None,
    };
    let (created_at, retired_at) = (Seq(row.number()?), row.optional_number()?.map(Seq));
    Ok(DocumentRecord {
        id,
        kind,
        key,
        scope,
        history,
        fork,
        created_at,
        retired_at,
    })
}

fn damaged(id: DocumentId, what: &str) -> StorageError {
    StorageError::Corrupt(format!("document {id} has no valid {what}"))
}
