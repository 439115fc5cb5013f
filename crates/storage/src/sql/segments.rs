//! The content of documents: one segment a line, so that a delta is appended without reading what is there.
//!
//! `b SEQ VERSION JSON` is a base, `d SEQ VERSION JSON` a delta (JSON text never holds a line break). In upper case the
//! last field is not the value but the number of chunks that hold it.

use super::chunks::{self, Place};
use super::codec::{decode_ops, decode_value};
use super::rows::Reader;
use super::writes::{Span, Writes};
use crate::replay::Replay;
use tidehold_delta::{Json, Op, push_integer, write_batch};
use tidehold_session::storage::StorageError;

/// What a stored segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentKind {
    Base,
    Delta,
}

/// A segment to write.
pub(super) struct NewSegment<'a> {
    pub(super) seq: u64,
    pub(super) version: u32,
    pub(super) content: NewContent<'a>,
}

/// What a new segment holds.
pub(super) enum NewContent<'a> {
    Base(&'a Json),
    Delta(&'a [Op]),
}

/// The line of a segment, and how many chunks at `place` hold its value: those are written here.
pub(super) fn write(writes: &mut Writes, place: Place, segment: &NewSegment<'_>) -> (Span, u64) {
    let (line, value) = writes.encode(|line| {
        segment.head(line, 'b', 'd');
        let start = line.len();
        match segment.content {
            NewContent::Base(value) => value.write(line),
            NewContent::Delta(ops) => write_batch(line, ops),
        }
        let end = line.len();
        line.push('\n');
        Span { start, end }
    });
    let count = chunks::needed(value);
    if count == 0 {
        return (line, 0);
    }
    chunks::put(writes, place, value);
    let (line, ()) = writes.encode(|line| {
        segment.head(line, 'B', 'D');
        push_integer(line, count);
        line.push('\n');
    });
    (line, count)
}

impl NewSegment<'_> {
    /// Everything before the last field.
    fn head(&self, line: &mut String, base: char, delta: char) {
        line.push(match self.content {
            NewContent::Base(_) => base,
            NewContent::Delta(_) => delta,
        });
        for number in [self.seq, u64::from(self.version)] {
            line.push(' ');
            push_integer(line, number);
        }
        line.push(' ');
    }
}

/// Which row a content comes from, which decides where the chunks of its bases are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    /// The `documents` row.
    Own,
    /// A `document_parts` row.
    Part,
}

/// Replays the segments of one row on top of those before it.
///
/// # Errors
/// [`StorageError::Corrupt`]: a malformed line, a delta without base, a change of version between bases.
pub(super) fn replay(
    reader: &Reader<'_>,
    document: u64,
    row: RowKind,
    content: &str,
    replay: &mut Option<Replay>,
) -> Result<(), StorageError> {
    for line in content.lines() {
        let segment = parse(line)
            .ok_or_else(|| StorageError::Corrupt(format!("document {document} has a malformed segment")))?;
        let slot = if row == RowKind::Own && segment.kind == SegmentKind::Base {
            0
        } else {
            segment.seq
        };
        let loaded;
        let text = match segment.value {
            Stored::Inline(text) => text,
            Stored::Chunks(count) => {
                loaded = chunks::load(
                    reader,
                    Place {
                        owner: document,
                        slot,
                    },
                    count,
                    String::new(),
                )?;
                &loaded
            }
        };
        match (segment.kind, &mut *replay) {
            (SegmentKind::Base, replay) => {
                *replay = Some(Replay::from_base(segment.version, decode_value(text)?));
            }
            (SegmentKind::Delta, Some(replay)) => replay.push(segment.version, decode_ops(text)?)?,
            (SegmentKind::Delta, None) => {
                return Err(StorageError::Corrupt(format!(
                    "document {document} is missing a required base"
                )));
            }
        }
    }
    Ok(())
}

struct StoredSegment<'a> {
    kind: SegmentKind,
    seq: u64,
    version: u32,
    value: Stored<'a>,
}

enum Stored<'a> {
    Inline(&'a str),
    Chunks(u64),
}

fn parse(line: &str) -> Option<StoredSegment<'_>> {
    let mut fields = line.splitn(4, ' ');
    let letter = fields.next()?;
    let seq = fields.next()?.parse().ok()?;
    let version = fields.next()?.parse().ok()?;
    let value = fields.next()?;
    let (kind, value) = match letter {
        "b" => (SegmentKind::Base, Stored::Inline(value)),
        "d" => (SegmentKind::Delta, Stored::Inline(value)),
        "B" => (SegmentKind::Base, Stored::Chunks(value.parse().ok()?)),
        "D" => (SegmentKind::Delta, Stored::Chunks(value.parse().ok()?)),
        _ => return None,
    };
    Some(StoredSegment {
        kind,
        seq,
        version,
        value,
    })
}
