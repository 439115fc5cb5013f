//! Health of a session: open, closing, closed or failed (spec 10.1).

use super::{CloseListener, Inner, Session};
use crate::error::{FailureCause, SessionError, SessionFailed};
use crate::panics::report;
use crate::storage::StorageError;
use futures::future::LocalBoxFuture;
use std::rc::Rc;

/// How a session ended.
#[derive(Clone, Debug)]
pub enum SessionEnd {
    Closed,
    Failed(SessionFailed),
}

#[derive(Default)]
pub(crate) enum Health {
    #[default]
    Open,
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
}

impl Health {
    /// For work admitted before a close: it settles; only a failure stops it.
    pub fn check_admitted(&self) -> Result<(), SessionError> {
        match self {
            Self::Open | Self::Closing => Ok(()),
            Self::Failed(failed) => Err(SessionError::Failed(failed.clone())),
        }
    }
}

impl Inner {
    /// The error a call reports for a storage failure. Invalid reads fail their call; anything else ends the session:
    /// the call that met it reports the error itself, every other one [`SessionFailed`].
    pub(crate) fn read_error(&self, error: StorageError) -> SessionError {
        match error {
            StorageError::Request(message) => SessionError::Request(message),
            fatal => self.fail(fatal),
        }
    }

    /// Ends the session with its first error.
    pub(crate) fn fail(&self, error: StorageError) -> SessionError {
        if let Health::Failed(failed) = &*self.health.borrow() {
            return SessionError::Failed(failed.clone());
        }
        let cause = Rc::new(error);
        self.fail_with(FailureCause::Storage(Rc::clone(&cause)));
        SessionError::Storage(cause)
    }

    fn fail_with(&self, cause: FailureCause) {
        let failed = SessionFailed { cause };
        *self.health.borrow_mut() = Health::Failed(failed.clone());
        self.known.take();
        self.contexts.take();
        self.end(&SessionEnd::Failed(failed.clone()));
        if let Some(handler) = &self.options.on_report {
            report(handler.as_ref(), failed.to_string());
        }
    }

    fn end(&self, end: &SessionEnd) {
        let listeners: Vec<CloseListener> = self.listeners.borrow().close.values().cloned().collect();
        for listener in listeners {
            listener(end);
        }
    }
}

impl Session {
    /// Ends the session because of a component's own bookkeeping, as a storage failure does (spec 10.1).
    pub fn fail(&self, reason: String) {
        let going = self.0.health.borrow().check_admitted().is_ok();
        if going {
            self.0.fail_with(FailureCause::Bookkeeping(reason.into()));
        }
    }

    /// Whether calls are still admitted, else why not.
    pub fn health(&self) -> Result<(), SessionError> {
        self.0.health.borrow().check()
    }

    /// Seals admission, ends observers, lets admitted commits settle, then closes storage.
    pub fn close<'a>(&'a self) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(async move {
            let (reply, closed) = futures::channel::oneshot::channel();
            {
                let mut health = self.0.health.borrow_mut();
                health.check()?;
                *health = Health::Closing;
            }
            self.0.end(&SessionEnd::Closed);
            let inner = Rc::clone(&self.0);
            let job = async move {
                let result = inner.storage.close().await;
                let _gone = reply.send(result);
            };
            self.0.push(Box::pin(job)).await;
            match closed.await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(error)) => Err(self.0.fail(error)),
                Err(_) => Err(SessionError::Closed),
            }
        })
    }
}
