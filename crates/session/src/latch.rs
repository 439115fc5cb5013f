//! A value that comes once, and everyone who waits for it.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Set once; clones share it.
pub(crate) struct Latch<T>(Rc<RefCell<State<T>>>);

struct State<T> {
    value: Option<T>,
    wakers: Vec<Waker>,
}

impl<T> Default for Latch<T> {
    fn default() -> Self {
        let (value, wakers) = (None, Vec::new());
        Self(Rc::new(RefCell::new(State { value, wakers })))
    }
}

impl<T> Clone for Latch<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: Clone> Latch<T> {
    /// Sets the value and wakes who waits. Later values are ignored.
    pub fn set(&self, value: T) {
        let wakers = {
            let mut state = self.0.borrow_mut();
            if state.value.is_some() {
                return;
            }
            state.value = Some(value);
            std::mem::take(&mut state.wakers)
        };
        for waker in wakers {
            waker.wake();
        }
    }

    /// The value once set.
    pub fn get(&self) -> Option<T> {
        self.0.borrow().value.clone()
    }

    /// Resolves with the value once set; at once when it already was.
    pub fn wait(&self) -> Wait<T> {
        Wait(self.clone())
    }
}

/// Future of [`Latch::wait`].
pub(crate) struct Wait<T>(Latch<T>);

impl<T: Clone> Future for Wait<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.0.borrow_mut();
        if let Some(value) = &state.value {
            return Poll::Ready(value.clone());
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
