//! What must end before the backend may close: storage calls, and the work of components (spec 10.1).

use super::{Inner, Session};
use crate::error::SessionError;
use crate::storage::{StorageError, StorageFuture};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Poll, Waker};

#[derive(Default)]
pub(super) struct UnderWay {
    count: Cell<usize>,
    /// Of the one who closes.
    closer: RefCell<Option<Waker>>,
}

/// Keeps the backend open until it is dropped.
#[must_use = "dropping it lets the backend close"]
pub struct Hold(Rc<UnderWay>);

impl Drop for Hold {
    fn drop(&mut self) {
        let left = self.0.count.get() - 1;
        self.0.count.set(left);
        if left == 0
            && let Some(closer) = self.0.closer.take()
        {
            closer.wake();
        }
    }
}

impl UnderWay {
    fn hold(self: &Rc<Self>) -> Hold {
        self.count.set(self.count.get() + 1);
        Hold(Rc::clone(self))
    }

    /// Resolves when nothing is under way.
    pub async fn ended(&self) {
        std::future::poll_fn(|context| {
            if self.count.get() == 0 {
                return Poll::Ready(());
            }
            *self.closer.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Session {
    /// For work that a close waits for, as it does for storage calls: running task code. It is told to end by
    /// [`Session::after_close_listeners`].
    pub fn keep_open(&self) -> Hold {
        self.0.hold()
    }
}

impl Inner {
    pub(super) fn hold(&self) -> Hold {
        self.under_way.hold()
    }

    /// Makes a storage call: refused once the session failed, and [`SessionError::Failed`] whatever it returned when the
    /// session failed meanwhile.
    pub(crate) async fn call<T>(
        &self,
        call: StorageFuture<'_, T>,
    ) -> Result<Result<T, StorageError>, SessionError> {
        self.health.borrow().check_admitted()?;
        let _hold = self.hold();
        let result = call.await;
        self.health.borrow().check_admitted()?;
        Ok(result)
    }

    /// Makes a storage read. An invalid one fails alone, any other error ends the session.
    pub(crate) async fn read<T>(&self, call: StorageFuture<'_, T>) -> Result<T, SessionError> {
        self.call(call).await?.map_err(|error| match error {
            StorageError::Request(message) => SessionError::Request(message),
            fatal => self.fail(fatal),
        })
    }
}
