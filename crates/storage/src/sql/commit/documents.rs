//! Document writes: content first, then retirement, whatever the order of the batch.
//!
//! A current-only document is one row of base and deltas until those pass [`PACK_BYTES`]; then packs follow as parts,
//! and the next base reclaims them. A rewindable one is its creation base and one part per revision, forever.

use super::Target;
use super::copies;
use crate::batch::{self, ContentWrite, DocumentPlan, Plan};
use crate::limits::PACK_BYTES;
use crate::sql::chunks::{self, Place};
use crate::sql::read::documents::{Tail, find, tail};
use crate::sql::rows::{bound, exact, exact_or_null, flag};
use crate::sql::segments::{self, NewContent, NewSegment};
use crate::sql::writes::{Cell, Span};
use crate::sql::{scope, statements as sql};
use tidehold_delta::{Json, Op, write_string};
use tidehold_session::documents::{DocumentCreate, Point};
use tidehold_session::ids::DocumentId;
use tidehold_session::storage::{DocumentContent, StorageError};

pub(super) fn write(target: &mut Target<'_>, plan: &Plan<'_>) -> Result<(), StorageError> {
    // Addresses first: a creation may take the place of an incarnation that this batch retires later.
    for document in plan.documents.iter().filter(|document| !document.retire) {
        if let Some(record) = document.content.and_then(ContentWrite::created) {
            check_address(target, plan, record)?;
        }
    }
    for document in &plan.documents {
        match document.content {
            Some(ContentWrite::Create {
                record,
                version,
                value,
            }) => {
                create(target, record, version, value, document.retire)?;
            }
            Some(ContentWrite::Copy { record, source, at }) => {
                let copied = copies::load(target, record, source, at)?;
                create(target, record, copied.version, &copied.value, document.retire)?;
            }
            Some(ContentWrite::Change(content)) => change(target, document, Some(content))?,
            None => change(target, document, None)?,
        }
    }
    Ok(())
}

fn check_address(target: &Target<'_>, plan: &Plan<'_>, record: &DocumentCreate) -> Result<(), StorageError> {
    match find(&target.reader(), &record.address(), Point::Current)? {
        Some(holder) if !plan.retires(holder.id) => Err(batch::address_taken(record.id, holder.id)),
        _ => Ok(()),
    }
}

fn create(
    target: &mut Target<'_>,
    record: &DocumentCreate,
    version: u32,
    value: &Json,
    retired: bool,
) -> Result<(), StorageError> {
    target.check_new(record.id.0)?;
    // No point lies inside an empty lifetime, so its content is not kept.
    let content = if retired {
        Span::default()
    } else {
        line(target, own_place(record.id), version, NewContent::Base(value)).0
    };
    let (scope, owner) = scope::columns(record.scope);
    let mut name = |name: &str| Cell::Text(target.writes.encode(|text| write_string(text, name)).0);
    let kind = name(&record.kind);
    let key = record.key.as_deref().map(name).unwrap_or_default();
    let cells = [
        exact(record.id.0),
        exact(scope),
        exact(owner),
        kind,
        key,
        exact_or_null(record.history.map(scope::history_column)),
        exact_or_null(record.fork.map(scope::fork_column)),
        exact(target.seq.0),
        if retired { exact(target.seq.0) } else { Cell::Null },
        exact(u64::from(version)),
        exact(content.size() as u64),
        Cell::Text(content),
    ];
    target.writes.push(&sql::INSERT_DOCUMENT, &cells);
    if !retired {
        let tail = Tail {
            record: record.clone().stamped(target.seq),
            version,
            bytes: content.size() as u64,
            last_part: None,
        };
        target.recall.documents.put(record.id.0, tail);
    }
    Ok(())
}

fn change(
    target: &mut Target<'_>,
    document: &DocumentPlan<'_>,
    content: Option<&DocumentContent>,
) -> Result<(), StorageError> {
    let id = document.id;
    let recalled = target.recall.documents.take(id.0);
    let mut tail = match recalled {
        Some(tail) => tail,
        None => tail(&target.reader(), id)?.ok_or_else(|| batch::unknown_document(id))?,
    };
    match content {
        Some(content) => batch::check_change(&tail.record, tail.version, content)?,
        None if tail.record.retired_at.is_some() => return Err(batch::retired(id)),
        None => {}
    }
    if document.retire {
        // What is written at the retiring commit is at no addressable point.
        retire(target, id, &tail);
        return Ok(());
    }
    match content {
        None => {}
        Some(DocumentContent::Base { version, value }) if tail.record.is_rewindable() => {
            add_base_revision(target, id, &mut tail, *version, value);
        }
        Some(DocumentContent::Base { version, value }) => {
            replace_base(target, id, &mut tail, *version, value);
        }
        Some(DocumentContent::Delta { version, ops }) if tail.record.is_rewindable() => {
            let (line, _) = line(target, part_place(target, id), *version, NewContent::Delta(ops));
            insert_part(target, id, &mut tail, false, line);
        }
        Some(DocumentContent::Delta { version, ops }) => append(target, id, &mut tail, *version, ops),
    }
    target.recall.documents.put(id.0, tail);
    Ok(())
}

fn append(target: &mut Target<'_>, id: DocumentId, tail: &mut Tail, version: u32, ops: &[Op]) {
    let (line, _) = line(target, part_place(target, id), version, NewContent::Delta(ops));
    let added = line.size() as u64;
    let bytes = tail.last_part.map_or(tail.bytes, |(_, bytes)| bytes);
    if bytes + added > PACK_BYTES as u64 {
        return insert_part(target, id, tail, false, line);
    }
    match &mut tail.last_part {
        None => {
            tail.bytes += added;
            let cells = [exact(id.0), Cell::Text(line), exact(added)];
            target.writes.push(&sql::APPEND_TO_DOCUMENT, &cells);
        }
        Some((seq, bytes)) => {
            *bytes += added;
            let cells = [exact(id.0), exact(*seq), Cell::Text(line), exact(added)];
            target.writes.push(&sql::APPEND_TO_PART, &cells);
        }
    }
}

fn replace_base(target: &mut Target<'_>, id: DocumentId, tail: &mut Tail, version: u32, value: &Json) {
    reclaim_parts(target, id, tail);
    let (line, count) = line(target, own_place(id), version, NewContent::Base(value));
    chunks::trim(&mut target.writes, own_place(id), count);
    tail.version = version;
    tail.bytes = line.size() as u64;
    tail.last_part = None;
    let cells = [
        exact(id.0),
        exact(u64::from(version)),
        exact(tail.bytes),
        Cell::Text(line),
    ];
    target.writes.push(&sql::REBASE_DOCUMENT, &cells);
}

fn add_base_revision(target: &mut Target<'_>, id: DocumentId, tail: &mut Tail, version: u32, value: &Json) {
    let (line, _) = line(target, part_place(target, id), version, NewContent::Base(value));
    insert_part(target, id, tail, true, line);
    if version != tail.version {
        tail.version = version;
        let cells = [exact(id.0), exact(u64::from(version))];
        target.writes.push(&sql::SET_DOCUMENT_VERSION, &cells);
    }
}

fn retire(target: &mut Target<'_>, id: DocumentId, tail: &Tail) {
    let cells = [exact(id.0), bound(target.seq.0)];
    if tail.record.is_rewindable() {
        return target.writes.push(&sql::RETIRE_DOCUMENT, &cells);
    }
    reclaim_parts(target, id, tail);
    chunks::trim(&mut target.writes, own_place(id), 0);
    target.writes.push(&sql::RETIRE_AND_CLEAR_DOCUMENT, &cells);
}

/// Drops everything after the base of a current-only document.
fn reclaim_parts(target: &mut Target<'_>, id: DocumentId, tail: &Tail) {
    if tail.last_part.is_some() {
        target.writes.push(&sql::DELETE_PARTS, &[exact(id.0)]);
    }
    chunks::drop_segments(&mut target.writes, id.0);
}

fn insert_part(target: &mut Target<'_>, id: DocumentId, tail: &mut Tail, is_base: bool, line: Span) {
    let bytes = line.size() as u64;
    tail.last_part = Some((target.seq.0, bytes));
    let cells = [
        exact(id.0),
        exact(target.seq.0),
        flag(is_base),
        exact(bytes),
        Cell::Text(line),
    ];
    target.writes.push(&sql::INSERT_PART, &cells);
}

fn own_place(id: DocumentId) -> Place {
    Place { owner: id.0, slot: 0 }
}

fn part_place(target: &Target<'_>, id: DocumentId) -> Place {
    Place {
        owner: id.0,
        slot: target.seq.0,
    }
}

/// The line of a new segment, and the number of its chunks.
fn line(target: &mut Target<'_>, place: Place, version: u32, content: NewContent<'_>) -> (Span, u64) {
    let seq = target.seq.0;
    let segment = NewSegment {
        seq,
        version,
        content,
    };
    segments::write(&mut target.writes, place, &segment)
}
