//! Cancellation of work: a one-way flag with a reason, and a future that resolves when it is raised.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Why a signal was raised; shown in errors, never parsed.
pub type AbortReason = &'static str;

#[derive(Default)]
struct Shared {
    reason: Option<AbortReason>,
    wakers: Vec<Waker>,
}

/// Raises its [`AbortSignal`]s. Dropping the controller does not raise them.
#[derive(Clone, Default)]
pub struct AbortController(Rc<RefCell<Shared>>);

/// What cancellable work listens to. Cheap to clone.
#[derive(Clone, Default)]
pub struct AbortSignal(Rc<RefCell<Shared>>);

impl AbortController {
    /// A controller whose signal is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal raised by [`AbortController::abort`].
    pub fn signal(&self) -> AbortSignal {
        AbortSignal(Rc::clone(&self.0))
    }

    /// Raises the signal once; later reasons are ignored.
    pub fn abort(&self, reason: AbortReason) {
        let wakers = {
            let mut shared = self.0.borrow_mut();
            if shared.reason.is_some() {
                return;
            }
            shared.reason = Some(reason);
            std::mem::take(&mut shared.wakers)
        };
        for waker in wakers {
            waker.wake();
        }
    }
}

impl AbortSignal {
    /// The reason once raised.
    pub fn reason(&self) -> Option<AbortReason> {
        self.0.borrow().reason
    }

    /// Whether the signal was raised.
    pub fn is_aborted(&self) -> bool {
        self.reason().is_some()
    }

    /// Resolves with the reason once raised; at once when it already was.
    pub fn aborted(&self) -> Aborted {
        Aborted(self.clone())
    }
}

/// Future of [`AbortSignal::aborted`].
pub struct Aborted(AbortSignal);

impl Future for Aborted {
    type Output = AbortReason;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<AbortReason> {
        let mut shared = self.0.0.borrow_mut();
        if let Some(reason) = shared.reason {
            return Poll::Ready(reason);
        }
        if !shared.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            shared.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
