//! The executor: one thread, and which ready future runs next is drawn from the seed.
//!
//! A world outlives the processes that run in it. [`World::crash`] loses everything that was spawned; the clock and the
//! seed go on. Nothing is ever polled inside `spawn` or `wake`, so that a step is exactly one poll of one future.

mod clock;
mod host;
mod order;

use crate::random::Random;
use clock::Clock;
use futures::future::LocalBoxFuture;
use host::WorldHost;
use order::Order;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use tidehold_session::host::{Host, Millis};

/// Ids of futures that may make progress, oldest first. Shared with wakers, which must be `Send`.
#[derive(Debug, Default)]
struct Ready(Mutex<Vec<u64>>);

impl Ready {
    fn with<T>(&self, use_it: impl FnOnce(&mut Vec<u64>) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Wakeup {
    id: u64,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.ready.with(|ready| ready.push(self.id));
        }
    }
}

/// A spawned future.
struct Spawned {
    future: LocalBoxFuture<'static, ()>,
    wakeup: Arc<Wakeup>,
}

struct Shared {
    random: Random,
    order: Order,
    clock: Clock,
    ready: Arc<Ready>,
    spawned: RefCell<BTreeMap<u64, Spawned>>,
    next: Cell<u64>,
    /// Grows with every crash: hosts of an earlier life spawn nothing.
    life: Cell<u64>,
    steps: Cell<u64>,
}

/// The seeded world. Clones share it.
#[derive(Clone)]
pub struct World(Rc<Shared>);

impl World {
    /// A world at this time.
    pub fn new(seed: u64, now: Millis) -> Self {
        let random = Random::at(seed, 0x0e3c);
        Self(Rc::new(Shared {
            order: Order::draw(&random),
            random,
            clock: Clock::new(now),
            ready: Arc::default(),
            spawned: RefCell::default(),
            next: Cell::new(0),
            life: Cell::new(0),
            steps: Cell::new(0),
        }))
    }

    /// The platform of what is opened next. It is dead after the next crash.
    pub fn host(&self) -> Rc<dyn Host> {
        Rc::new(WorldHost::new(self.clone()))
    }

    pub fn now(&self) -> Millis {
        self.0.clock.now()
    }

    /// Polls so far.
    pub fn steps(&self) -> u64 {
        self.0.steps.get()
    }

    /// Runs `future`, from the next step on.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.spawn_boxed(Box::pin(future));
    }

    fn spawn_boxed(&self, future: LocalBoxFuture<'static, ()>) {
        let id = self.0.next.get();
        self.0.next.set(id + 1);
        let wakeup = Arc::new(Wakeup {
            id,
            queued: AtomicBool::new(false),
            ready: Arc::clone(&self.0.ready),
        });
        wakeup.wake_by_ref();
        self.0.spawned.borrow_mut().insert(id, Spawned { future, wakeup });
    }

    /// Polls one ready future; `false` when none is ready.
    pub fn step(&self) -> bool {
        let shared = &self.0;
        loop {
            let next = shared.ready.with(|ready| {
                let at = shared.order.choose(ready, &shared.random)?;
                Some(ready.remove(at))
            });
            let Some(id) = next else { return false };
            // Taken out while it is polled: it may spawn. Those of an earlier life are gone.
            let Some(mut spawned) = shared.spawned.borrow_mut().remove(&id) else {
                continue;
            };
            spawned.wakeup.queued.store(false, Ordering::Relaxed);
            let waker = Waker::from(Arc::clone(&spawned.wakeup));
            let life = shared.life.get();
            shared.steps.set(shared.steps.get() + 1);
            let polled = spawned.future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled == Poll::Pending && life == shared.life.get() {
                shared.spawned.borrow_mut().insert(id, spawned);
            }
            return true;
        }
    }

    /// Whether nothing can run before time passes.
    pub fn is_stalled(&self) -> bool {
        let spawned = self.0.spawned.borrow();
        self.0
            .ready
            .with(|ready| !ready.iter().any(|id| spawned.contains_key(id)))
    }

    /// The earliest time that somebody sleeps until.
    pub fn next_timer(&self) -> Option<Millis> {
        self.0.clock.next_timer()
    }

    /// Moves the clock, also back, and wakes who has slept long enough.
    pub fn set_clock(&self, now: Millis) {
        self.0.clock.set(now);
    }

    /// Loses everything that was spawned, as the end of a process does.
    pub fn crash(&self) {
        self.0.life.set(self.0.life.get() + 1);
        self.0.ready.with(Vec::clear);
        // Destructors may wake, and drop further handles: outside of every borrow.
        let lost = self.0.spawned.take();
        drop(lost);
        self.0.ready.with(Vec::clear);
        self.0.clock.forget_timers();
    }
}
