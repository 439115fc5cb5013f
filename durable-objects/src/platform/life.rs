//! The life of one open session: a one-way switch that everything running on its behalf listens to.
//!
//! When a session fails, half-applied memory must not be continued (invariant 10). Ending its life wakes every future
//! that runs for it, so that each is dropped or answers its caller, and nothing touches that memory again.

use litemap::LiteMap;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Why a session's memory was dropped. The name is what event streams report in their `end` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// A storage error or a panic; the next request reopens the session from storage.
    Failed,
    /// The session was deleted.
    Deleted,
}

impl EndReason {
    /// The `reason` of an `end` event.
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "session_failed",
            Self::Deleted => "deleted",
        }
    }
}

#[derive(Default)]
struct Shared {
    ended: Cell<Option<EndReason>>,
    next_key: Cell<u64>,
    // Keyed, so that a listener that goes away takes its waker along: a session spawns without end.
    wakers: RefCell<LiteMap<u64, Waker>>,
}

/// Handle to one life. Clones share it.
#[derive(Clone, Default)]
pub struct Life(Rc<Shared>);

impl Life {
    /// Why it ended; `None` while it lasts.
    pub fn ended(&self) -> Option<EndReason> {
        self.0.ended.get()
    }

    /// Ends it and wakes every listener. Later calls change nothing.
    pub fn end(&self, reason: EndReason) {
        if self.0.ended.get().is_some() {
            return;
        }
        self.0.ended.set(Some(reason));
        let wakers = std::mem::take(&mut *self.0.wakers.borrow_mut());
        for (_, waker) in wakers {
            waker.wake();
        }
    }

    /// Whether both are the same life.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Resolves when it ends; at once when it has.
    pub fn until_end(&self) -> UntilEnd {
        let key = self.0.next_key.get();
        self.0.next_key.set(key.wrapping_add(1));
        UntilEnd {
            life: self.clone(),
            key,
        }
    }
}

/// Future of [`Life::until_end`].
pub struct UntilEnd {
    life: Life,
    key: u64,
}

impl Future for UntilEnd {
    type Output = EndReason;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<EndReason> {
        if let Some(reason) = self.life.ended() {
            return Poll::Ready(reason);
        }
        let mut wakers = self.life.0.wakers.borrow_mut();
        match wakers.get_mut(&self.key) {
            Some(waker) => waker.clone_from(context.waker()),
            None => {
                wakers.insert(self.key, context.waker().clone());
            }
        }
        Poll::Pending
    }
}

impl Drop for UntilEnd {
    fn drop(&mut self) {
        self.life.0.wakers.borrow_mut().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use futures::task::noop_waker_ref;

    #[test]
    fn listeners_resolve_once_ended_and_leave_nothing_behind() {
        let life = Life::default();
        let mut first = life.until_end();
        let second = life.until_end();
        let mut context = Context::from_waker(noop_waker_ref());
        assert_eq!(first.poll_unpin(&mut context), Poll::Pending);
        assert_eq!(first.poll_unpin(&mut context), Poll::Pending);
        assert_eq!(life.0.wakers.borrow().len(), 1);
        drop(first);
        drop(second);
        assert!(life.0.wakers.borrow().is_empty());
        life.end(EndReason::Failed);
        life.end(EndReason::Deleted);
        assert_eq!(life.until_end().now_or_never(), Some(EndReason::Failed));
    }
}
