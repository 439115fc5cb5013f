//! What must end before the backend may close: storage calls, and the work of components (spec 10.1).

use super::{Inner, Session};
use crate::error::SessionError;
use crate::storage::{StorageError, StorageFuture};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

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

    /// Makes a storage read. An invalid one fails alone, any other error ends the session.
    pub(crate) fn read<'a, T>(&'a self, call: StorageFuture<'a, T>) -> Call<'a, T> {
        self.call(call, Effect::None)
    }

    /// Makes a storage call that may change what is stored: every error of it ends the session.
    pub(crate) fn write<'a, T>(&'a self, call: StorageFuture<'a, T>) -> Call<'a, T> {
        self.call(call, Effect::Unknown)
    }

    fn call<'a, T>(&'a self, call: StorageFuture<'a, T>, effect: Effect) -> Call<'a, T> {
        Call {
            session: self,
            call,
            effect,
            hold: None,
        }
    }

    #[inline(never)]
    fn begin_call(&self, hold: &mut Option<Hold>) -> Result<(), SessionError> {
        if hold.is_none() {
            self.health.borrow().check_admitted()?;
            *hold = Some(self.hold());
        }
        Ok(())
    }

    #[inline(never)]
    fn end_call(&self, hold: &mut Option<Hold>) -> Result<(), SessionError> {
        hold.take();
        self.health.borrow().check_admitted()
    }

    #[inline(never)]
    fn call_error(&self, error: StorageError, effect: Effect) -> SessionError {
        match (error, effect) {
            (StorageError::Request(message), Effect::None) => SessionError::Request(message),
            (fatal, _) => self.fail(fatal),
        }
    }
}

/// What a failed call may have done.
#[derive(Clone, Copy)]
enum Effect {
    None,
    Unknown,
}

/// A storage call: refused once the session failed, and [`SessionError::Failed`] whatever it returned when the session failed
/// meanwhile. Written by hand: as an `async fn` it is a kilobyte of the bundle for each type that a storage returns.
pub(crate) struct Call<'a, T> {
    session: &'a Inner,
    call: StorageFuture<'a, T>,
    effect: Effect,
    /// Since its first poll.
    hold: Option<Hold>,
}

impl<T> Future for Call<'_, T> {
    type Output = Result<T, SessionError>;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Err(refused) = this.session.begin_call(&mut this.hold) {
            return Poll::Ready(Err(refused));
        }
        let Poll::Ready(result) = this.call.as_mut().poll(context) else {
            return Poll::Pending;
        };
        if let Err(failed) = this.session.end_call(&mut this.hold) {
            return Poll::Ready(Err(failed));
        }
        Poll::Ready(result.map_err(|error| this.session.call_error(error, this.effect)))
    }
}
