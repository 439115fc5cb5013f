//! What is decided about a task before it runs.

use serde::Serialize;
use tidehold_delta::FromJson;

/// A task's input.
#[derive(Clone, Debug, Serialize, FromJson)]
pub struct Fate {
    pub seed: u64,
    /// Levels of work it may still create.
    pub depth: u64,
    /// Has an effect and completes: for work that somebody awaits in memory, where no rule finds a cycle.
    pub plain: bool,
}

/// What a definition of a version makes of an older task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migrates {
    Yes,
    Unsupported,
    Fails,
    Panics,
}

/// Version 2 fails with some data, version 3 takes none that is older, the latest takes everything.
pub fn migration_of(fate: &Fate, version: u32) -> Migrates {
    match version {
        2 => {}
        3 => return Migrates::Unsupported,
        _ => return Migrates::Yes,
    }
    match fate.seed % 8 {
        0 | 1 => Migrates::Fails,
        2 => Migrates::Panics,
        _ => Migrates::Yes,
    }
}
