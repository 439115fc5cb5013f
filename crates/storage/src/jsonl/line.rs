//! The lines: one JSON object each, with `format` and `type`.
//!
//! ```text
//! main.jsonl      {"format":1,"type":"commit","seq":S,"incarnation":…,"ids":N,"writes":[…]}
//!                 {"format":1,"type":"ids","upTo":N}
//! doc-I, task-I   {"format":1,"type":"record","seq":S,"ordinal":O,"payload":…}
//! ```
//!
//! The first marker carries the incarnation. `ids` and `upTo` reserve: every id up to there may have been handed out. A write that
//! has its content in a sidecar names it by `ordinal`, counted from 0 over the sidecar records of one commit.
//!
//! Every line carries the format, so that a file which a newer release went on with is refused before anything is
//! misread. A format is never changed once released: another shape is another number.

use super::error::Damage;
use crate::limits::{MAX_NUMBER, TEXT_DEPTH};
use std::rc::Rc;
use tidehold_delta::{ConvertError, FromJson, Json, Op, Text, decode_batch};
use tidehold_session::documents::DocumentRecord;
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};

/// The format this release writes.
pub const FORMAT: u32 = 1;

/// A line of `main.jsonl`.
#[derive(Clone, Debug, PartialEq, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum MainLine {
    Commit(Marker),
    #[serde(rename_all = "camelCase")]
    Ids {
        up_to: u64,
    },
}

/// Confirms one commit.
#[derive(Clone, Debug, PartialEq, FromJson)]
#[serde(rename_all = "camelCase")]
pub(super) struct Marker {
    pub(super) seq: u64,
    #[serde(default)]
    pub(super) incarnation: Option<Text>,
    #[serde(default)]
    pub(super) ids: Option<u64>,
    pub(super) writes: Vec<MarkedWrite>,
}

/// One write of a commit: a record, or the place of its content in a sidecar. Versions are repeated here, so that
/// deltas can be judged although what they follow was reclaimed.
#[derive(Clone, Debug, PartialEq, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum MarkedWrite {
    Conversation {
        value: Rc<ConversationRecord>,
    },
    Entry {
        value: Rc<EntryRecord>,
    },
    /// A terminal record.
    Task {
        value: Rc<TaskRecord>,
    },
    Submission {
        value: Rc<SubmissionRecord>,
    },
    LiveTask {
        id: u64,
        ordinal: u64,
    },
    /// A new incarnation with its initial base.
    Document {
        record: DocumentRecord,
        version: u32,
        ordinal: u64,
    },
    Base {
        id: u64,
        version: u32,
        ordinal: u64,
    },
    Delta {
        id: u64,
        version: u32,
        ordinal: u64,
    },
    Retire {
        id: u64,
    },
}

impl MarkedWrite {
    /// Of the sidecar record that holds its content.
    pub(super) fn ordinal(&self) -> Option<u64> {
        match self {
            Self::LiveTask { ordinal, .. }
            | Self::Document { ordinal, .. }
            | Self::Base { ordinal, .. }
            | Self::Delta { ordinal, .. } => Some(*ordinal),
            Self::Conversation { .. }
            | Self::Entry { .. }
            | Self::Task { .. }
            | Self::Submission { .. }
            | Self::Retire { .. } => None,
        }
    }
}

/// A line of a sidecar.
#[derive(Clone, Debug, PartialEq, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum SidecarLine {
    Record { seq: u64, ordinal: u64, payload: Json },
}

/// Payload of a document's sidecar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ContentPayload {
    Base { version: u32, value: Json },
    Delta { version: u32, ops: Vec<Op> },
}

impl FromJson for ContentPayload {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        #[derive(FromJson)]
        #[serde(tag = "kind", rename_all = "camelCase")]
        enum Stored {
            Base { version: u32, value: Json },
            Delta { version: u32, ops: Json },
        }
        Ok(match Stored::from_json(json)? {
            Stored::Base { version, value } => Self::Base { version, value },
            Stored::Delta { version, ops } => Self::Delta {
                version,
                ops: decode_batch(&ops).map_err(|error| ConvertError::mismatch(&error.to_string()))?,
            },
        })
    }
}

/// Why a line cannot be read.
pub(super) enum Unreadable {
    Damaged(Damage),
    TooNew(u32),
}

impl From<Damage> for Unreadable {
    fn from(damage: Damage) -> Self {
        Self::Damaged(damage)
    }
}

/// Reads a complete line, given without its line break.
pub(super) fn read<T: FromJson>(line: &[u8]) -> Result<T, Unreadable> {
    let text = std::str::from_utf8(line).map_err(|_| Damage::NotText)?;
    let json = Json::parse(text, TEXT_DEPTH).map_err(Damage::NotJson)?;
    match json.get("format").and_then(Json::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) if format > u64::from(FORMAT) => {
            return Err(Unreadable::TooNew(u32::try_from(format).unwrap_or(u32::MAX)));
        }
        _ => return Err(Damage::Shape("has no known format".into()).into()),
    }
    Ok(typed(&json)?)
}

/// Depth is bounded by the parser: a record may be as deep as any value, and a line is a few levels more.
pub(super) fn typed<T: FromJson>(json: &Json) -> Result<T, Damage> {
    T::from_json(json).map_err(|error| Damage::Shape(error.to_string()))
}

/// A sequence number that a commit can have.
pub(super) fn check_seq(before: Option<u64>, found: u64) -> Result<(), Damage> {
    let before = before.unwrap_or(0);
    if found > before && found <= MAX_NUMBER {
        Ok(())
    } else {
        Err(Damage::Order { before, found })
    }
}

/// The line, line break included, of these members.
pub(super) fn write(kind: &'static str, members: impl IntoIterator<Item = (&'static str, Json)>) -> String {
    let head = [("format", Json::from(u64::from(FORMAT))), ("type", kind.into())];
    let mut line = String::new();
    Json::object(head.into_iter().chain(members)).write(&mut line);
    line.push('\n');
    line
}

/// A line that reserves the ids up to this one.
pub(super) fn reservation(up_to: u64) -> String {
    write("ids", [("upTo", up_to.into())])
}
