//! `main.jsonl` as the list of its commits.

use super::super::error::{Damage, JsonlOpenError};
use super::super::line::{self, MainLine, MarkedWrite, Marker};
use super::super::names::MAIN;
use super::{at, lines, unreadable};
use crate::limits::MAX_NUMBER;
use tidehold_delta::Text;

pub(super) struct MainFile {
    pub(super) commits: Vec<Commit>,
    /// Ids up to this one may have been handed out.
    pub(super) reserved: u64,
    /// `None` without a commit.
    pub(super) incarnation: Option<Text>,
    /// Where a torn last line begins.
    pub(super) torn_at: Option<u64>,
}

pub(super) struct Commit {
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) seq: u64,
    pub(super) writes: Vec<MarkedWrite>,
}

pub(super) fn read(content: &[u8]) -> Result<MainFile, JsonlOpenError> {
    let (complete, end) = lines(content);
    let mut main = MainFile {
        commits: Vec::new(),
        reserved: 0,
        incarnation: None,
        torn_at: (end < content.len()).then_some(end as u64),
    };
    for (line, text) in (1..).zip(complete) {
        let read = line::read(text).map_err(|problem| unreadable(MAIN, line, problem))?;
        main.add(line, read).map_err(|damage| at(MAIN, line, damage))?;
    }
    Ok(main)
}

impl MainFile {
    fn add(&mut self, line: usize, read: MainLine) -> Result<(), Damage> {
        match read {
            MainLine::Ids { up_to } => self.reserve(up_to),
            MainLine::Commit(Marker {
                seq,
                incarnation,
                ids,
                writes,
            }) => {
                line::check_seq(self.commits.last().map(|commit| commit.seq), seq)?;
                check_ordinals(&writes)?;
                if self.commits.is_empty() != incarnation.is_some() {
                    let reason = "the first marker and no other names the incarnation";
                    return Err(Damage::Contradiction(reason.into()));
                }
                self.incarnation = self.incarnation.take().or(incarnation);
                self.reserve(ids.unwrap_or(0))?;
                self.commits.push(Commit { line, seq, writes });
                Ok(())
            }
        }
    }

    fn reserve(&mut self, up_to: u64) -> Result<(), Damage> {
        if up_to > MAX_NUMBER {
            return Err(Damage::Shape(format!("reserves ids up to {up_to}")));
        }
        self.reserved = self.reserved.max(up_to);
        Ok(())
    }
}

/// Ordinals count the sidecar records of a commit.
fn check_ordinals(writes: &[MarkedWrite]) -> Result<(), Damage> {
    let ordinals = writes.iter().filter_map(MarkedWrite::ordinal);
    for (wanted, found) in (0..).zip(ordinals) {
        if found != wanted {
            return Err(Damage::Contradiction(format!(
                "ordinal {found} instead of {wanted}"
            )));
        }
    }
    Ok(())
}
