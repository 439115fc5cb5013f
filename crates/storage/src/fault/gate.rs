//! Where calls wait until they are let through.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Open unless held.
#[derive(Debug, Default)]
pub(super) struct Gate(Rc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    held: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
}

/// Holds the calls of one sort until it is dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the calls through"]
pub struct Held(Rc<Shared>);

impl Gate {
    pub fn hold(&self) -> Held {
        self.0.held.set(self.0.held.get() + 1);
        Held(Rc::clone(&self.0))
    }

    /// Resolves while nobody holds it.
    pub async fn passed(&self) {
        std::future::poll_fn(|context| {
            if self.0.held.get() == 0 {
                return Poll::Ready(());
            }
            self.0.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get() - 1);
        for waiting in self.0.waiting.take() {
            waiting.wake();
        }
    }
}
