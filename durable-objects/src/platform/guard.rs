//! Runs work of one session so that a panic stays inside it (invariant 10).

use crate::platform::life::{EndReason, Life, UntilEnd};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use tidehold_session::panics::panic_text;

/// How guarded work came to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Guarded<T> {
    /// It ran to completion.
    Completed(T),
    /// Its session ended first; the work was dropped.
    Ended(EndReason),
    /// It panicked, with this message; what it left in memory must not be used again.
    Panicked(String),
}

/// Runs `work` for as long as `life` lasts, and catches its panics. `AssertUnwindSafe` is honest here because the
/// caller of a panicked unit ends the life, after which nothing looks at that memory.
pub fn guard<F: Future>(life: &Life, work: F) -> Guard<F> {
    Guard {
        work: Some(Box::pin(work)),
        until_end: life.until_end(),
    }
}

/// Future of [`guard`].
pub struct Guard<F> {
    work: Option<Pin<Box<F>>>,
    until_end: UntilEnd,
}

impl<F: Future> Future for Guard<F> {
    type Output = Guarded<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(reason) = Pin::new(&mut this.until_end).poll(context) {
            discard(this.work.take());
            return Poll::Ready(Guarded::Ended(reason));
        }
        let Some(work) = this.work.as_mut() else {
            return Poll::Pending;
        };
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                discard(this.work.take());
                Poll::Ready(Guarded::Completed(output))
            }
            Err(panic) => {
                discard(this.work.take());
                Poll::Ready(Guarded::Panicked(panic_text(&*panic)))
            }
        }
    }
}

/// Drops a value whose destructors may meet the half-applied state that a panic left, and panic in turn. In the product's
/// wasm a panic in a destructor ends the instance instead (scripts/lib.sh says why), so none of ours may.
pub fn discard<T>(value: T) {
    // Nothing is left to save: the value is gone, and the session that owned it is or will be dropped.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn a_panic_is_an_outcome() {
        let life = Life::default();
        assert_eq!(block_on(guard(&life, async { 7 })), Guarded::Completed(7));
        let panicked = block_on(guard(&life, async {
            panic!("boom");
        }));
        assert_eq!(panicked, Guarded::<()>::Panicked("boom".to_owned()));
    }

    #[test]
    fn the_end_of_a_life_drops_the_work() {
        let life = Life::default();
        let held = std::rc::Rc::new(());
        let inner = std::rc::Rc::clone(&held);
        let work = guard(&life, async move {
            let _held = inner;
            std::future::pending::<()>().await;
        });
        life.end(EndReason::Deleted);
        assert_eq!(block_on(work), Guarded::Ended(EndReason::Deleted));
        assert_eq!(std::rc::Rc::strong_count(&held), 1);
    }
}
