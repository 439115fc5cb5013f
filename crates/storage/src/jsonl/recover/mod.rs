//! Opening: what the files say, whether they agree, and only then what has to be put right (spec 11.3, recovery).
//!
//! `main_file` reads the markers, `ledger` derives from them what each sidecar must hold, `sidecar` compares, `replay`
//! builds the index, `repair` cuts what no marker confirms. Everything is read and judged before the first change, so that
//! damage, or a file of a newer release, is left as it was found.

mod ledger;
mod main_file;
mod repair;
mod replay;
mod sidecar;

use super::disk::{Disk, Files};
use super::error::{Corruption, Damage, JsonlOpenError};
use super::fs::FileSystem;
use super::line::{FORMAT, Unreadable};
use super::names::{self, MAIN, Sidecar};
use super::reclaim::Deferred;
use super::store::Fsync;
use crate::memory::MemoryStorage;
use std::collections::{HashMap, HashSet};
use tidehold_delta::Text;

/// An opened directory.
pub(super) struct Recovered<F> {
    pub(super) disk: Disk<F>,
    pub(super) index: MemoryStorage,
    /// `None` before the first commit.
    pub(super) incarnation: Option<Text>,
    pub(super) deferred: Deferred,
}

pub(super) async fn recover<F: FileSystem>(
    fs: F,
    fsync: Fsync,
    candidate: &Text,
) -> Result<Recovered<F>, JsonlOpenError> {
    let names = fs.list().await?;
    let content = fs.read(MAIN).await?;
    let main = main_file::read(content.as_deref().unwrap_or_default())?;
    let ledger = ledger::ledger(&main.commits);
    let existing: HashSet<Sidecar> = names.iter().filter_map(|name| Sidecar::of_file(name)).collect();
    let mut found = HashMap::new();
    for sidecar in every(&existing, ledger.keys().copied()) {
        let content = match existing.contains(&sidecar) {
            true => fs.read(&sidecar.file()).await?,
            false => None,
        };
        let checked = sidecar::check(sidecar, ledger.get(&sidecar), content)?;
        if main.commits.is_empty() {
            checked.check_headless(sidecar)?;
        }
        found.insert(sidecar, checked);
    }
    let incarnation = main.incarnation.clone();
    let index = MemoryStorage::new(incarnation.clone().unwrap_or_else(|| candidate.clone()));
    replay::replay(&index, &main, &mut found)?;

    let files = Files {
        main: content.is_some(),
        sidecars: existing,
    };
    let disk = Disk::new(fs, fsync, files);
    let replacements = names.iter().filter(|name| names::is_replacement(name));
    let leftovers = repair::Leftovers {
        main_torn_at: main.torn_at,
        replacements: replacements.map(String::as_str).collect(),
    };
    let deferred = repair::repair(&disk, &leftovers, found).await?;
    Ok(Recovered {
        disk,
        index,
        incarnation,
        deferred,
    })
}

/// In order of their names, so that an open does the same each time.
fn every(existing: &HashSet<Sidecar>, expected: impl Iterator<Item = Sidecar>) -> Vec<Sidecar> {
    let all: HashSet<Sidecar> = existing.iter().copied().chain(expected).collect();
    let mut all: Vec<Sidecar> = all.into_iter().collect();
    all.sort();
    all
}

/// The complete lines of a file without their breaks, and where they end: what follows is torn.
fn lines(content: &[u8]) -> (Vec<&[u8]>, usize) {
    let end = content
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let complete = content.get(..end).unwrap_or_default();
    let lines = complete.split_inclusive(|byte| *byte == b'\n');
    (
        lines
            .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
            .collect(),
        end,
    )
}

/// The damage of a line, with its place.
fn at(file: &str, line: usize, damage: Damage) -> JsonlOpenError {
    let file = file.to_owned();
    let line = line as u64;
    JsonlOpenError::Corrupt(Corruption { file, line, damage })
}

fn unreadable(file: &str, line: usize, problem: Unreadable) -> JsonlOpenError {
    match problem {
        Unreadable::Damaged(damage) => at(file, line, damage),
        Unreadable::TooNew(found) => JsonlOpenError::TooNew {
            file: file.to_owned(),
            line: line as u64,
            found,
            supported: FORMAT,
        },
    }
}
