//! One sidecar against what the markers say of it.

use super::super::error::{Damage, JsonlOpenError};
use super::super::line::{self, ContentPayload, SidecarLine};
use super::super::names::Sidecar;
use super::ledger::{Content, Expected, ExpectedRecord};
use super::{at, lines, unreadable};
use std::collections::HashMap;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::records::TaskRecord;

/// The sequence number of a storage's first commit.
const FIRST_SEQ: u64 = 1;

/// What a sidecar holds.
pub(super) struct Checked {
    /// The needed records, by their commit.
    pub(super) payloads: HashMap<u64, Payload>,
    /// The commit of the last complete record, listed or not.
    last: Option<u64>,
    /// Of a file that exists.
    content: Option<Vec<u8>>,
    /// Bytes before are superseded.
    needed_from: usize,
    /// Bytes from here on are torn or unconfirmed.
    confirmed_to: usize,
}

pub(super) enum Payload {
    Task(Rc<TaskRecord>),
    Content(ContentPayload),
}

impl Checked {
    /// Without any marker only the first commit can have left a record: whatever is younger had `main.jsonl` confirmed before.
    pub(super) fn check_headless(&self, sidecar: Sidecar) -> Result<(), JsonlOpenError> {
        match self.last {
            Some(commit) if commit > FIRST_SEQ => Err(at(&sidecar.file(), 1, Damage::Headless { commit })),
            _ => Ok(()),
        }
    }

    /// Where a tail begins that no marker confirms; 0 when no record of a file is confirmed.
    pub(super) fn cut(&self) -> Option<usize> {
        let length = self.content.as_ref()?.len();
        (self.confirmed_to < length || length == 0).then_some(self.confirmed_to)
    }

    /// What is needed of a file that also holds what is not.
    pub(super) fn obsolete(&self) -> Option<&[u8]> {
        let needed = self.content.as_ref()?.get(self.needed_from..self.confirmed_to);
        needed.filter(|_| self.needed_from > 0)
    }
}

/// Compares; `expected` is `None` when no marker names the sidecar, `content` when there is no such file.
pub(super) fn check(
    sidecar: Sidecar,
    expected: Option<&Expected>,
    content: Option<Vec<u8>>,
) -> Result<Checked, JsonlOpenError> {
    let file = sidecar.file();
    let nothing = Expected::default();
    let mut comparison = Comparison {
        sidecar,
        expected: expected.unwrap_or(&nothing),
        next: 0,
        before: None,
        unconfirmed: None,
    };
    let mut payloads = HashMap::new();
    let (mut offset, mut confirmed_to, mut needed_from) = (0, 0, None);
    let (complete, _) = lines(content.as_deref().unwrap_or_default());
    let count = complete.len();
    for (line, text) in (1..).zip(complete) {
        let start = offset;
        offset += text.len() + 1;
        let record: SidecarLine = line::read(text).map_err(|problem| unreadable(&file, line, problem))?;
        let confirmed = comparison
            .add(line, record)
            .map_err(|(line, damage)| at(&file, line, damage))?;
        if let Some((seq, payload)) = confirmed {
            confirmed_to = offset;
            if comparison.expected.is_needed(seq) {
                needed_from.get_or_insert(start);
                payloads.insert(seq, payload);
            }
        }
    }
    let last = comparison.before;
    let line = comparison.unconfirmed.map_or(count + 1, |(line, _)| line);
    comparison
        .skip_to(u64::MAX)
        .map_err(|damage| at(&file, line, damage))?;
    Ok(Checked {
        payloads,
        last,
        content,
        needed_from: needed_from.unwrap_or(confirmed_to),
        confirmed_to,
    })
}

struct Comparison<'a> {
    sidecar: Sidecar,
    expected: &'a Expected,
    /// The first expected record that was not met yet.
    next: usize,
    /// The sequence number before.
    before: Option<u64>,
    /// Line and sequence number of the first unconfirmed record.
    unconfirmed: Option<(usize, u64)>,
}

impl Comparison<'_> {
    /// Returns a confirmed record. Damage comes with its line.
    fn add(&mut self, line: usize, record: SidecarLine) -> Result<Option<(u64, Payload)>, (usize, Damage)> {
        let SidecarLine::Record {
            seq,
            ordinal,
            payload,
        } = record;
        let here = |damage| (line, damage);
        line::check_seq(self.before, seq).map_err(here)?;
        self.before = Some(seq);
        self.skip_to(seq).map_err(here)?;
        let listed = self.expected.records.get(self.next);
        let Some(listed) = listed.filter(|listed| (listed.seq, listed.ordinal) == (seq, ordinal)) else {
            self.unconfirmed.get_or_insert((line, seq));
            return Ok(None);
        };
        self.next += 1;
        if let Some((line, unconfirmed)) = self.unconfirmed {
            let confirmed = seq;
            return Err((
                line,
                Damage::Unconfirmed {
                    unconfirmed,
                    confirmed,
                },
            ));
        }
        let payload = read_payload(self.sidecar, listed, &payload).map_err(here)?;
        Ok(Some((seq, payload)))
    }

    /// Passes over expected records before `seq`, which are not in the file.
    fn skip_to(&mut self, seq: u64) -> Result<(), Damage> {
        while let Some(listed) = self
            .expected
            .records
            .get(self.next)
            .filter(|listed| listed.seq < seq)
        {
            if self.next >= self.expected.needed_from {
                return Err(Damage::Missing { commit: listed.seq });
            }
            self.next += 1;
        }
        Ok(())
    }
}

fn read_payload(sidecar: Sidecar, listed: &ExpectedRecord, payload: &Json) -> Result<Payload, Damage> {
    let contradicts = || Damage::Contradiction("the record differs from its marker".into());
    match (sidecar, listed.content) {
        (Sidecar::Task(id), Content::Task) => {
            let record: Rc<TaskRecord> = line::typed(payload)?;
            match record.id.0 == id && record.is_live() {
                true => Ok(Payload::Task(record)),
                false => Err(contradicts()),
            }
        }
        (Sidecar::Document(_), listed) => {
            let content: ContentPayload = line::typed(payload)?;
            let found = match content {
                ContentPayload::Base { version, .. } => Content::Base { version },
                ContentPayload::Delta { version, .. } => Content::Delta { version },
            };
            match found == listed {
                true => Ok(Payload::Content(content)),
                false => Err(contradicts()),
            }
        }
        (Sidecar::Task(_), _) => Err(contradicts()),
    }
}
