//! Crashes at every call: a backend that fails, or whose process is killed, at the n-th call it makes to what is below it,
//! opens again with exactly the commits that were acknowledged, and the one under way wholly or not at all.
//!
//! A case is one (seed, crash point): the seed makes a scenario ([`scenario`]), the point says at which call it is struck.
//! [`run::run`] plays a case on a [`CrashSite`] and compares everything it can read with the same commits in memory.

pub mod run;
pub mod scenario;

use std::rc::Rc;
use tidehold_session::storage::{Storage, StorageError};

/// What a struck call still did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Nothing,
    /// Some of it, where that is possible: so many bytes of an append.
    Part(usize),
    Everything,
}

/// What comes after a struck call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// An error, and later calls work.
    Fails,
    /// The process is gone: later calls fail.
    Dies,
}

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blow {
    /// How many calls succeed before, counted from when it is set.
    pub after: u64,
    pub done: Done,
    pub then: Then,
}

/// The place where a backend keeps one session, which can be made to fail.
pub trait CrashSite {
    /// Deletes everything, disarms, and starts counting at 0. `seed` decides whatever the site leaves to chance.
    fn wipe(&self, seed: u64);

    /// Opens what is stored.
    fn open(&self) -> Result<Rc<dyn Storage>, StorageError>;

    /// Sets a failure, or none.
    fn arm(&self, blow: Option<Blow>);

    /// Calls made since [`wipe`](Self::wipe), for the number of crash points.
    fn calls(&self) -> u64;

    /// Whether the failure that was set last has struck.
    fn has_struck(&self) -> bool;

    /// Whether what comes is a commit, for a site whose commits look like its other writes.
    fn under_way(&self, _pending: Pending) {}

    /// The process ended, and with it every storage opened here: only what outlives it is left. Disarms. Returns how many
    /// commits are stored, as far as can be seen without the backend's own reading.
    fn restart(&self) -> usize;

    /// How many of the acknowledged commits must outlive a restart.
    fn guaranteed(&self, acknowledged: usize) -> usize {
        acknowledged
    }
}

/// Whether a commit was under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    None,
    Commit,
}

impl Pending {
    /// How many commits it may have added.
    pub fn most(self) -> usize {
        usize::from(self == Self::Commit)
    }
}
