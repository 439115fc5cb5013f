//! A checked batch as the lines to append. Everything that can fail about a batch fails here or before, without I/O.

use super::line;
use super::names::Sidecar;
use crate::batch::{self, ContentWrite, DocumentPlan, Plan};
use crate::memory::Copies;
use serde::Serialize;
use tidehold_delta::{ConvertProblem, Json, MAX_DEPTH, Op, Text, encode_batch};
use tidehold_session::documents::{DocumentCreate, StoredHistory};
use tidehold_session::ids::{DocumentId, Seq};
use tidehold_session::records::TaskRecord;
use tidehold_session::storage::{DocumentContent, StorageError, StorageWrite};

/// What a marker says besides its writes.
pub(super) struct Head<'a> {
    pub(super) seq: Seq,
    /// Of the first commit: the incarnation, and up to which number ids are reserved.
    pub(super) first: Option<(&'a Text, u64)>,
}

/// One commit, ready to be appended.
pub(super) struct Prepared {
    /// The record of each affected sidecar, in write order.
    pub(super) sidecars: Vec<(Sidecar, String)>,
    pub(super) marker: String,
    /// What the commit makes unnecessary, once it is published.
    pub(super) obsolete: Vec<Obsolete>,
}

/// A sidecar of which only `kept` is still needed.
pub(super) struct Obsolete {
    pub(super) sidecar: Sidecar,
    pub(super) kept: Option<String>,
}

/// Encodes `writes`, which `plan` describes. `is_rewindable` answers for documents stored before.
///
/// # Errors
/// [`StorageError::Batch`]: nested too deep, or a number that JSON does not have.
pub(super) fn prepare(
    head: &Head<'_>,
    writes: &[StorageWrite],
    plan: &Plan<'_>,
    copies: &Copies,
    is_rewindable: impl Fn(DocumentId) -> bool,
) -> Result<Prepared, StorageError> {
    let mut lines = Lines {
        seq: head.seq,
        sidecars: Vec::new(),
        writes: Vec::with_capacity(writes.len()),
        ended: Vec::new(),
    };
    for write in writes {
        lines.add(write, copies)?;
    }
    let mut obsolete = lines.ended;
    for document in &plan.documents {
        obsolete.extend(obsolete_content(document, &lines.sidecars, &is_rewindable));
    }
    let mut members = vec![("seq", Json::from(head.seq))];
    if let Some((incarnation, ids)) = head.first {
        members.push(("incarnation", incarnation.into()));
        members.push(("ids", ids.into()));
    }
    members.push(("writes", Json::array(lines.writes)));
    Ok(Prepared {
        sidecars: lines.sidecars,
        marker: line::write("commit", members),
        obsolete,
    })
}

/// Content that only history would need, of a document without history.
fn obsolete_content(
    document: &DocumentPlan<'_>,
    sidecars: &[(Sidecar, String)],
    is_rewindable: impl Fn(DocumentId) -> bool,
) -> Option<Obsolete> {
    let keeps_history = match document.content.and_then(ContentWrite::created) {
        Some(created) => created.history == Some(StoredHistory::Rewindable),
        None => is_rewindable(document.id),
    };
    if keeps_history {
        return None;
    }
    let sidecar = Sidecar::Document(document.id.0);
    let new_base = matches!(
        document.content,
        Some(ContentWrite::Change(DocumentContent::Base { .. }))
    );
    match document.retire {
        true => Some(Obsolete { sidecar, kept: None }),
        false if new_base => {
            let written = sidecars.iter().find(|(written, _)| *written == sidecar);
            written.map(|(_, line)| Obsolete {
                sidecar,
                kept: Some(line.clone()),
            })
        }
        false => None,
    }
}

struct Lines {
    seq: Seq,
    sidecars: Vec<(Sidecar, String)>,
    writes: Vec<Json>,
    /// Sidecars of tasks that ended.
    ended: Vec<Obsolete>,
}

impl Lines {
    fn add(&mut self, write: &StorageWrite, copies: &Copies) -> Result<(), StorageError> {
        match write {
            StorageWrite::Conversation(record) => self.value("conversation", &**record),
            StorageWrite::Entry(record) => self.value("entry", &**record),
            StorageWrite::Submission(record) => self.value("submission", &**record),
            StorageWrite::Task(record) => self.task(record),
            StorageWrite::DocumentCreate {
                record,
                version,
                value,
            } => self.create(record, *version, value),
            StorageWrite::DocumentCopy { record, .. } => match copies.get(&record.id) {
                Some((version, value)) => self.create(record, *version, value),
                None => Err(batch::unknown_document(record.id)),
            },
            StorageWrite::DocumentChange { id, content } => {
                let (kind, version, payload) = match content {
                    DocumentContent::Base { version, value } => ("base", *version, base(*version, value)?),
                    DocumentContent::Delta { version, ops } => ("delta", *version, delta(*version, ops)?),
                };
                let ordinal = self.record(Sidecar::Document(id.0), payload);
                self.marked(
                    kind,
                    [
                        ("id", (*id).into()),
                        ("version", version.into()),
                        ("ordinal", ordinal),
                    ],
                );
                Ok(())
            }
            StorageWrite::DocumentRetire { id } => {
                self.marked("retire", [("id", (*id).into())]);
                Ok(())
            }
        }
    }

    fn value<T: Serialize>(&mut self, kind: &'static str, record: &T) -> Result<(), StorageError> {
        let value = to_json(record)?;
        self.marked(kind, [("value", value)]);
        Ok(())
    }

    fn task(&mut self, record: &TaskRecord) -> Result<(), StorageError> {
        let sidecar = Sidecar::Task(record.id.0);
        if !record.is_live() {
            self.ended.push(Obsolete { sidecar, kept: None });
            return self.value("task", record);
        }
        let payload = to_json(record)?;
        let ordinal = self.record(sidecar, payload);
        self.marked("liveTask", [("id", record.id.into()), ("ordinal", ordinal)]);
        Ok(())
    }

    fn create(&mut self, record: &DocumentCreate, version: u32, value: &Json) -> Result<(), StorageError> {
        let payload = base(version, value)?;
        let stamped = to_json(&record.clone().stamped(self.seq))?;
        let ordinal = self.record(Sidecar::Document(record.id.0), payload);
        self.marked(
            "document",
            [
                ("record", stamped),
                ("version", version.into()),
                ("ordinal", ordinal),
            ],
        );
        Ok(())
    }

    /// Adds a sidecar record and returns its ordinal.
    fn record(&mut self, sidecar: Sidecar, payload: Json) -> Json {
        let ordinal = Json::from(self.sidecars.len() as u64);
        let members = [
            ("seq", self.seq.into()),
            ("ordinal", ordinal.clone()),
            ("payload", payload),
        ];
        self.sidecars.push((sidecar, line::write("record", members)));
        ordinal
    }

    fn marked<const N: usize>(&mut self, kind: &'static str, members: [(&'static str, Json); N]) {
        let kind = [("type", Json::from(kind))];
        self.writes.push(Json::object(kind.into_iter().chain(members)));
    }
}

fn base(version: u32, value: &Json) -> Result<Json, StorageError> {
    check(value, MAX_DEPTH)?;
    Ok(Json::object([
        ("kind", "base".into()),
        ("version", version.into()),
        ("value", value.clone()),
    ]))
}

fn delta(version: u32, ops: &[Op]) -> Result<Json, StorageError> {
    let ops = encode_batch(ops);
    // The batch, a tuple and a splice's items around values.
    check(&ops, MAX_DEPTH + 3)?;
    Ok(Json::object([
        ("kind", "delta".into()),
        ("version", version.into()),
        ("ops", ops),
    ]))
}

fn check(value: &Json, depth: usize) -> Result<(), StorageError> {
    if value.deeper_than(depth) {
        Err(refused(&ConvertProblem::Depth))
    } else if !value.is_finite() {
        Err(refused(&ConvertProblem::NotFinite))
    } else {
        Ok(())
    }
}

fn to_json<T: Serialize>(record: &T) -> Result<Json, StorageError> {
    Json::from_serialize(record).map_err(|error| refused(&error))
}

fn refused(problem: &dyn std::fmt::Display) -> StorageError {
    StorageError::Batch(format!("a record cannot be stored: {problem}"))
}
