//! Native hosts: one single-threaded executor over a virtual or a real clock.
//!
//! Tests, the simulator and benchmarks run sessions on it. With a virtual clock time moves only when nothing can run,
//! straight to the next timer, and randomness comes from a seed, so that a run is a function of its seed.

use crate::host::{Host, Millis};
use futures::executor::{LocalPool, LocalSpawner};
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

enum Clock {
    Virtual(Cell<Millis>),
    Real,
}

struct Shared {
    clock: Clock,
    spawner: LocalSpawner,
    /// Sleeping wakers by deadline.
    timers: RefCell<BTreeMap<(Millis, u64), Waker>>,
    next_timer: Cell<u64>,
    random: Cell<u64>,
}

/// Host of a [`LocalRuntime`].
#[derive(Clone)]
pub struct LocalHost(Rc<Shared>);

/// Owns the executor of a [`LocalHost`].
pub struct LocalRuntime {
    pool: LocalPool,
    host: LocalHost,
}

impl LocalRuntime {
    /// Time starts at `start` and jumps; `seed` decides all randomness.
    pub fn virtual_clock(start: Millis, seed: u64) -> Self {
        Self::new(Clock::Virtual(Cell::new(start)), seed)
    }

    /// The machine's clock.
    pub fn real_clock() -> Self {
        Self::new(Clock::Real, real_now())
    }

    fn new(clock: Clock, seed: u64) -> Self {
        let pool = LocalPool::new();
        let host = LocalHost(Rc::new(Shared {
            clock,
            spawner: pool.spawner(),
            timers: RefCell::default(),
            next_timer: Cell::new(0),
            random: Cell::new(seed | 1),
        }));
        Self { pool, host }
    }

    /// The host to open sessions with.
    pub fn host(&self) -> Rc<dyn Host> {
        Rc::new(self.host.clone())
    }

    /// Drives everything until `future` resolves; `None` when nothing can run any more and no timer is left.
    pub fn run<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> Option<T> {
        let slot = Rc::new(RefCell::new(None));
        let result = Rc::clone(&slot);
        self.host.spawn(Box::pin(async move {
            let value = future.await;
            *result.borrow_mut() = Some(value);
        }));
        loop {
            self.pool.run_until_stalled();
            if let Some(value) = slot.borrow_mut().take() {
                return Some(value);
            }
            if !self.host.fire_next(None) {
                return None;
            }
        }
    }

    /// Lets time pass for `millis` while everything spawned runs.
    pub fn advance(&mut self, millis: Millis) {
        let until = self.host.now() + millis;
        loop {
            self.pool.run_until_stalled();
            if !self.host.fire_next(Some(until)) {
                break;
            }
        }
        if let Clock::Virtual(now) = &self.host.0.clock {
            now.set(now.get().max(until));
        }
        self.pool.run_until_stalled();
    }

    /// Runs what can run at this instant.
    pub fn settle(&mut self) {
        self.pool.run_until_stalled();
    }
}

impl LocalHost {
    /// Moves to the earliest timer (at or before `limit`) and wakes it.
    fn fire_next(&self, limit: Option<Millis>) -> bool {
        let next = self.0.timers.borrow().keys().next().copied();
        let Some((at, id)) = next else { return false };
        if limit.is_some_and(|limit| at > limit) {
            return false;
        }
        match &self.0.clock {
            Clock::Virtual(now) => now.set(now.get().max(at)),
            Clock::Real => real_sleep(at.saturating_sub(self.now())),
        }
        if let Some(waker) = self.0.timers.borrow_mut().remove(&(at, id)) {
            waker.wake();
        }
        true
    }
}

impl Host for LocalHost {
    fn now(&self) -> Millis {
        match &self.0.clock {
            Clock::Virtual(now) => now.get(),
            Clock::Real => real_now(),
        }
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        Box::pin(Sleep {
            host: self.clone(),
            at,
            timer: None,
        })
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        // Fails only once the pool is gone, when nothing runs any more.
        let _shut_down = self.0.spawner.spawn_local(future);
    }

    fn entropy(&self, bytes: &mut [u8]) {
        for byte in bytes {
            // xorshift64: reproducible from the seed, which is all that tests need.
            let mut x = self.0.random.get();
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            self.0.random.set(x);
            *byte = (x >> 32) as u8;
        }
    }
}

struct Sleep {
    host: LocalHost,
    at: Millis,
    timer: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.host.now() >= self.at {
            return Poll::Ready(());
        }
        let id = match self.timer {
            Some(id) => id,
            None => {
                let id = self.host.0.next_timer.get();
                self.host.0.next_timer.set(id + 1);
                self.timer = Some(id);
                id
            }
        };
        let key = (self.at, id);
        self.host
            .0
            .timers
            .borrow_mut()
            .insert(key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(id) = self.timer {
            self.host.0.timers.borrow_mut().remove(&(self.at, id));
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the native host is the place where the clock is read"
)]
fn real_now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |elapsed| elapsed.as_millis() as Millis)
}

#[allow(
    clippy::disallowed_methods,
    reason = "the native host is the place where time passes"
)]
fn real_sleep(millis: Millis) {
    std::thread::sleep(std::time::Duration::from_millis(millis));
}
