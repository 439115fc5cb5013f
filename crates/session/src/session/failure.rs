//! Health of a session and how it fails (spec 10.1).

use super::{Inner, Session, SessionEnd};
use crate::error::{FailureCause, SessionError, SessionFailed};
use crate::panics::report;
use crate::storage::StorageError;
use std::rc::Rc;

#[derive(Default)]
pub(super) enum Health {
    #[default]
    Open,
    /// Sealed by a close, for good.
    Closing,
    Failed(SessionFailed),
}

impl Health {
    pub fn check(&self) -> Result<(), SessionError> {
        match self {
            Self::Open => Ok(()),
            Self::Closing => Err(SessionError::Closed),
            Self::Failed(failed) => Err(SessionError::Failed(failed.clone())),
        }
    }

    /// For work admitted before a close: it settles; only a failure stops it.
    pub fn check_admitted(&self) -> Result<(), SessionError> {
        match self {
            Self::Open | Self::Closing => Ok(()),
            Self::Failed(failed) => Err(SessionError::Failed(failed.clone())),
        }
    }
}

impl Inner {
    /// Ends the session with its first error. The call that met it reports the error itself, every other one
    /// [`SessionFailed`].
    pub(crate) fn fail(&self, error: StorageError) -> SessionError {
        if let Some(failed) = self.failed() {
            return SessionError::Failed(failed);
        }
        let cause = Rc::new(error);
        self.fail_with(FailureCause::Storage(Rc::clone(&cause)));
        SessionError::Storage(cause)
    }

    /// Ends the session because memory does not match storage any more. Nothing when it has failed, or has closed.
    pub(super) fn bookkeeping_failed(&self, reason: String) {
        let going = self.health.borrow().check_admitted().is_ok() && self.ended.get().is_none();
        if going {
            self.fail_with(FailureCause::Bookkeeping(reason.into()));
        }
    }

    pub(super) fn fail_with(&self, cause: FailureCause) -> SessionFailed {
        let failed = SessionFailed { cause };
        let before = self.health.replace(Health::Failed(failed.clone()));
        self.forget();
        // A close under way has told everyone, and closes the backend.
        if matches!(before, Health::Open) {
            self.tell_end(&SessionEnd::Failed(failed.clone()));
            self.close_by_itself();
        }
        self.report(failed.to_string());
        failed
    }

    /// How it failed, if it did.
    pub(super) fn failed(&self) -> Option<SessionFailed> {
        match &*self.health.borrow() {
            Health::Failed(failed) => Some(failed.clone()),
            Health::Open | Health::Closing => None,
        }
    }

    /// What only an open session needs in memory.
    pub(super) fn forget(&self) {
        self.known.take();
        self.contexts.take();
    }

    pub(crate) fn report(&self, text: String) {
        if let Some(handler) = &self.options.on_report {
            report(handler.as_ref(), text);
        }
    }
}

impl Session {
    /// Ends the session because of a component's own bookkeeping, as a storage failure does (spec 10.1).
    pub fn fail(&self, reason: String) {
        self.0.bookkeeping_failed(reason);
    }

    /// Whether calls are still admitted, else why not.
    pub fn health(&self) -> Result<(), SessionError> {
        self.0.health.borrow().check()
    }
}
