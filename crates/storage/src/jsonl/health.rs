//! Whether an open storage may go on (spec 11.3: any uncertain append failure poisons the open backend).

use super::fs::FsError;
use std::cell::RefCell;
use tidehold_session::storage::StorageError;

/// Shared by all calls of a storage. Never borrowed across an await.
#[derive(Debug, Default)]
pub(super) struct Health(RefCell<State>);

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    #[default]
    Sound,
    Poisoned(String),
    Closed,
}

impl Health {
    pub(super) fn check(&self) -> Result<(), StorageError> {
        match &*self.0.borrow() {
            State::Sound => Ok(()),
            State::Poisoned(reason) => Err(StorageError::Poisoned(reason.clone())),
            State::Closed => Err(StorageError::Closed),
        }
    }

    /// Closes, and tells whether everything written is certain.
    pub(super) fn close(&self) -> bool {
        self.0.replace(State::Closed) == State::Sound
    }

    /// Begins a write whose effect is unknown unless it ends well.
    pub(super) fn writing(&self) -> Writing<'_> {
        Writing {
            health: self,
            ended: false,
        }
    }

    fn poison(&self, reason: String) {
        let mut state = self.0.borrow_mut();
        if *state == State::Sound {
            *state = State::Poisoned(reason);
        }
    }
}

/// A write under way. Dropped with its future, so that nobody learns how it ended, it poisons.
pub(super) struct Writing<'a> {
    health: &'a Health,
    ended: bool,
}

impl Writing<'_> {
    /// # Errors
    /// [`StorageError::Backend`] with what the write met.
    pub(super) fn end(mut self, outcome: Result<(), FsError>) -> Result<(), StorageError> {
        self.ended = true;
        outcome.map_err(|error| {
            self.health.poison(error.to_string());
            StorageError::Backend(error.to_string())
        })
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.health.poison("a write was abandoned".into());
        }
    }
}
