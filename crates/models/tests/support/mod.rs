//! A virtual clock and a loop that drives one future against it.
#![allow(dead_code)]

pub mod scripted;

use futures::future::{FutureExt, LocalBoxFuture};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use tidehold_session::host::{Host, Millis};

pub const START: Millis = 1_760_000_000_000;

#[derive(Default)]
struct Clock {
    now: Cell<Millis>,
    sleepers: RefCell<Vec<(Millis, Waker)>>,
    sleeps: Cell<usize>,
}

/// A host whose clock only moves when nothing else can.
#[derive(Clone)]
pub struct VirtualHost(Rc<Clock>);

impl VirtualHost {
    pub fn new() -> Self {
        let clock = Clock::default();
        clock.now.set(START);
        Self(Rc::new(clock))
    }

    /// How often something slept.
    pub fn sleeps(&self) -> usize {
        self.0.sleeps.get()
    }

    /// Drives `future` to its end; panics when it waits for nothing.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        struct Flag(AtomicBool);
        impl Wake for Flag {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let waker = Waker::from(Arc::clone(&flag));
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return value;
            }
            if flag.0.swap(false, Ordering::Relaxed) {
                continue;
            }
            let next = self.0.sleepers.borrow().iter().map(|(at, _)| *at).min();
            let next = next.expect("a future that waits for nothing never ends");
            self.0.now.set(self.0.now.get().max(next));
            self.0.sleepers.borrow_mut().retain(|(at, _)| *at > next);
        }
    }
}

impl Host for VirtualHost {
    fn now(&self) -> Millis {
        self.0.now.get()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        let clock = Rc::clone(&self.0);
        clock.sleeps.set(clock.sleeps.get() + 1);
        std::future::poll_fn(move |context| {
            if clock.now.get() >= at {
                return Poll::Ready(());
            }
            clock.sleepers.borrow_mut().push((at, context.waker().clone()));
            Poll::Pending
        })
        .boxed_local()
    }

    fn spawn(&self, _future: LocalBoxFuture<'static, ()>) {
        unreachable!("no model spawns");
    }

    fn entropy(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}
