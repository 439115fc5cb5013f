//! The suite every backend passes (spec 10), as plain async functions.
//!
//! Beside the cases: [`crash`] strikes a backend at every call, on random scenarios ([`random`]) compared by [`dump`].
//!
//! A [`Case`] runs on an empty storage from a [`StorageFactory`] and reports instead of panicking, without threads,
//! clocks or files, so that the same suite runs in native tests and inside a Durable Object.

pub mod build;
#[macro_use]
mod check;
mod bench;
pub mod crash;
pub mod dump;
pub mod random;

mod batches;
mod content;
mod copies;
mod cursors;
mod documents;
mod entries;
mod forks;
mod ids;
mod lifecycle;
mod marks;
mod rewind;
mod sizes;
mod submissions;
mod tasks;
mod text;

pub use bench::{Bench, StorageFactory};
pub use check::{CaseResult, Failure};

use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_session::storage::StorageError;

/// One named scenario.
pub struct Case {
    /// `group::name`, unique.
    pub name: &'static str,
    run: for<'a> fn(&'a Bench) -> LocalBoxFuture<'a, CaseResult>,
}

impl Case {
    /// Runs the case on an empty storage.
    pub async fn run(&self, factory: Rc<dyn StorageFactory>) -> CaseResult {
        let bench = Bench::new(factory).await?;
        (self.run)(&bench).await
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let groups = [
        ids::cases(),
        batches::cases(),
        lifecycle::cases(),
        marks::cases(),
        cursors::cases(),
        entries::cases(),
        forks::cases(),
        tasks::cases(),
        submissions::cases(),
        documents::cases(),
        content::cases(),
        rewind::cases(),
        copies::cases(),
        sizes::cases(),
        text::cases(),
    ];
    groups.into_iter().flatten().collect()
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        Self(format!("unexpected error: {error}"))
    }
}
