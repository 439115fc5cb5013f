//! The end of a session: sealed at once, closed when everything under way has ended (spec 4 and 10.1).

use super::failure::Health;
use super::{Inner, Session};
use crate::error::{FailureCause, SessionError, SessionFailed};
use crate::line::Job;
use futures::future::LocalBoxFuture;
use std::rc::{Rc, Weak};

/// How a session ended.
#[derive(Clone, Debug)]
pub enum SessionEnd {
    Closed,
    Failed(SessionFailed),
}

/// The end, as [`Session::close`] tells it.
#[derive(Clone)]
pub(super) enum Ended {
    Closed,
    Failed(SessionFailed),
    /// It failed because its storage did not close.
    NotClosed(SessionFailed),
}

impl Session {
    /// Seals admission and tells close listeners, in the first poll; lets admitted calls settle; waits for every storage
    /// call and for running task code; then closes the storage. A later call waits for the same end. Dropping the future
    /// ends the wait and nothing else.
    ///
    /// Task code that awaits this waits for itself.
    ///
    /// # Errors
    /// The error of `Storage::close`, which fails the session; [`SessionError::Failed`] when it failed before.
    pub fn close(&self) -> LocalBoxFuture<'_, Result<(), SessionError>> {
        Box::pin(async move {
            if self.0.seal() {
                self.0.tell_end(&SessionEnd::Closed);
                let closer = Rc::clone(&self.0).closer();
                self.0.push(closer).await;
            }
            match self.0.ended.wait().await {
                Ended::Closed => Ok(()),
                Ended::NotClosed(SessionFailed {
                    cause: FailureCause::Storage(error),
                }) => Err(SessionError::Storage(error)),
                Ended::NotClosed(failed) | Ended::Failed(failed) => Err(failed.into()),
            }
        })
    }

    /// Resolves once the session is closed, its storage included: by [`Session::close`], or by itself after it failed.
    pub fn closed(&self) -> LocalBoxFuture<'static, SessionEnd> {
        let ended = self.0.ended.wait();
        Box::pin(async move {
            match ended.await {
                Ended::Closed => SessionEnd::Closed,
                Ended::Failed(failed) | Ended::NotClosed(failed) => SessionEnd::Failed(failed),
            }
        })
    }
}

impl Inner {
    /// Whether this call sealed it.
    fn seal(&self) -> bool {
        let mut health = self.health.borrow_mut();
        let open = matches!(*health, Health::Open);
        if open {
            *health = Health::Closing;
        }
        open
    }

    /// After a failure, in a turn of its own: who failed the session may be on the line.
    pub(super) fn close_by_itself(&self) {
        if let Some(inner) = self.me.get().and_then(Weak::upgrade) {
            let closer = Rc::clone(&inner).closer();
            self.host.spawn(Box::pin(async move { inner.push(closer).await }));
        }
    }

    /// On the line, behind everything admitted.
    fn closer(self: Rc<Self>) -> Job {
        Box::pin(async move {
            self.under_way.ended().await;
            self.forget();
            self.documents.take();
            let closed = self.storage.close().await;
            let ended = match (self.failed(), closed) {
                (None, Ok(())) => Ended::Closed,
                (None, Err(error)) => {
                    let cause = FailureCause::Storage(Rc::new(error));
                    Ended::NotClosed(self.fail_with(cause))
                }
                (Some(failed), Ok(())) => Ended::Failed(failed),
                (Some(failed), Err(error)) => {
                    self.report(format!("the storage of a failed session did not close: {error}"));
                    Ended::Failed(failed)
                }
            };
            self.ended.set(ended);
        })
    }
}
