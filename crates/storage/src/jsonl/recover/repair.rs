//! What an open puts right: tails that no marker confirms must go before anything is appended after them. Then it
//! reclaims, which may fail without harm.

use super::super::disk::Disk;
use super::super::fs::{FileSystem, FsError};
use super::super::names::{MAIN, Sidecar};
use super::super::reclaim::Deferred;
use super::sidecar::Checked;
use std::collections::HashMap;

/// What is wrong besides the sidecars.
pub(super) struct Leftovers<'a> {
    /// Where `main.jsonl` is torn.
    pub(super) main_torn_at: Option<u64>,
    /// Replacements that never took their file's place.
    pub(super) replacements: Vec<&'a str>,
}

pub(super) async fn repair<F: FileSystem>(
    disk: &Disk<F>,
    leftovers: &Leftovers<'_>,
    found: HashMap<Sidecar, Checked>,
) -> Result<Deferred, FsError> {
    if let Some(length) = leftovers.main_torn_at {
        disk.fs.truncate(MAIN, length).await?;
    }
    for replacement in &leftovers.replacements {
        disk.fs.remove(replacement).await?;
    }
    let mut found: Vec<(Sidecar, Checked)> = found.into_iter().collect();
    found.sort_by_key(|(sidecar, _)| *sidecar);
    for (sidecar, checked) in &found {
        match checked.cut() {
            Some(0) => disk.replace(*sidecar, None).await?,
            Some(length) => disk.fs.truncate(&sidecar.file(), length as u64).await?,
            None => {}
        }
    }
    disk.flush_all().await?;
    let deferred = Deferred::default();
    for (sidecar, checked) in &found {
        if let Some(needed) = checked.obsolete() {
            let needed = Some(needed).filter(|needed| !needed.is_empty());
            deferred.settle(*sidecar, disk.replace(*sidecar, needed).await);
        }
    }
    Ok(deferred)
}
