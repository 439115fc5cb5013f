//! What the markers say about each sidecar: which records it had, and from which on they are still needed.

use super::super::line::MarkedWrite;
use super::super::names::Sidecar;
use super::main_file::Commit;
use std::collections::HashMap;

/// The confirmed records of one sidecar.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) records: Vec<ExpectedRecord>,
    /// Those before are superseded: by a later base or state, by the retirement, by the end of the task. They may be there
    /// or not.
    pub(super) needed_from: usize,
    keeps_history: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ExpectedRecord {
    pub(super) seq: u64,
    pub(super) ordinal: u64,
    pub(super) content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Task,
    Base { version: u32 },
    Delta { version: u32 },
}

impl Expected {
    /// The first of the records that must be there.
    pub(super) fn is_needed(&self, seq: u64) -> bool {
        let needed = self.records.get(self.needed_from..).unwrap_or_default();
        needed.first().is_some_and(|first| first.seq <= seq)
    }

    fn push(&mut self, seq: u64, ordinal: u64, content: Content) {
        let supersedes = match content {
            Content::Task => true,
            Content::Base { .. } => !self.keeps_history,
            Content::Delta { .. } => false,
        };
        if supersedes {
            self.needed_from = self.records.len();
        }
        self.records.push(ExpectedRecord {
            seq,
            ordinal,
            content,
        });
    }

    fn end(&mut self) {
        if !self.keeps_history {
            self.needed_from = self.records.len();
        }
    }
}

pub(super) fn ledger(commits: &[Commit]) -> HashMap<Sidecar, Expected> {
    let mut ledger: HashMap<Sidecar, Expected> = HashMap::new();
    for Commit { seq, writes, .. } in commits {
        for write in writes {
            if let Some((sidecar, ordinal, content)) = record(write) {
                let expected = ledger.entry(sidecar).or_default();
                if let MarkedWrite::Document { record, .. } = write {
                    expected.keeps_history = record.is_rewindable();
                }
                expected.push(*seq, ordinal, content);
            }
        }
        // Content applies before retirement, wherever the batch had it.
        for ended in writes.iter().filter_map(ended) {
            if let Some(expected) = ledger.get_mut(&ended) {
                expected.end();
            }
        }
    }
    ledger
}

fn record(write: &MarkedWrite) -> Option<(Sidecar, u64, Content)> {
    Some(match write {
        MarkedWrite::LiveTask { id, ordinal } => (Sidecar::Task(*id), *ordinal, Content::Task),
        MarkedWrite::Document {
            record,
            version,
            ordinal,
        } => (
            Sidecar::Document(record.id.0),
            *ordinal,
            Content::Base { version: *version },
        ),
        MarkedWrite::Base { id, version, ordinal } => (
            Sidecar::Document(*id),
            *ordinal,
            Content::Base { version: *version },
        ),
        MarkedWrite::Delta { id, version, ordinal } => (
            Sidecar::Document(*id),
            *ordinal,
            Content::Delta { version: *version },
        ),
        _ => return None,
    })
}

fn ended(write: &MarkedWrite) -> Option<Sidecar> {
    match write {
        MarkedWrite::Task { value } => Some(Sidecar::Task(value.id.0)),
        MarkedWrite::Retire { id } => Some(Sidecar::Document(*id)),
        _ => None,
    }
}
