//! Giving back what no read can need any more (spec 11.3, reclamation).
//!
//! Nothing here can fail a commit: the marker that authorizes it is written, and what is not given back now is found
//! unnecessary by the next open, which tries again.

use super::disk::Disk;
use super::encode::Obsolete;
use super::fs::{FileSystem, FsError};
use super::names::Sidecar;
use std::cell::RefCell;
use std::collections::HashMap;

/// Sidecars that keep more than is needed, and why.
#[derive(Default)]
pub(super) struct Deferred(RefCell<HashMap<Sidecar, FsError>>);

impl Deferred {
    pub(super) fn list(&self) -> Vec<(String, FsError)> {
        let deferred = self.0.borrow();
        let mut list: Vec<_> = deferred
            .iter()
            .map(|(sidecar, error)| (sidecar.file(), error.clone()))
            .collect();
        list.sort_by(|(one, _), (other, _)| one.cmp(other));
        list
    }

    pub(super) fn settle(&self, sidecar: Sidecar, outcome: Result<(), FsError>) {
        let mut deferred = self.0.borrow_mut();
        match outcome {
            Ok(()) => deferred.remove(&sidecar),
            Err(error) => deferred.insert(sidecar, error),
        };
    }
}

/// Reclaims after the authorizing commit was published.
pub(super) async fn reclaim<F: FileSystem>(disk: &Disk<F>, deferred: &Deferred, obsolete: Vec<Obsolete>) {
    let existing: Vec<Obsolete> = obsolete
        .into_iter()
        .filter(|obsolete| disk.has(obsolete.sidecar))
        .collect();
    if existing.is_empty() {
        return;
    }
    // The marker must not be lost while what it authorizes is kept.
    let authorized = disk.flush_main().await;
    for Obsolete { sidecar, kept } in existing {
        let outcome = match &authorized {
            Ok(()) => disk.replace(sidecar, kept.as_deref().map(str::as_bytes)).await,
            Err(error) => Err(error.clone()),
        };
        deferred.settle(sidecar, outcome);
    }
}
