//! Virtual time and who sleeps.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::Waker;
use tidehold_session::host::Millis;

pub(super) struct Clock {
    now: Cell<Millis>,
    next: Cell<u64>,
    /// Sleepers by deadline. Each has a number of its own.
    sleepers: RefCell<BTreeMap<(Millis, u64), Waker>>,
}

impl Clock {
    pub fn new(now: Millis) -> Self {
        Self {
            now: Cell::new(now),
            next: Cell::new(0),
            sleepers: RefCell::default(),
        }
    }

    pub fn now(&self) -> Millis {
        self.now.get()
    }

    pub fn set(&self, now: Millis) {
        self.now.set(now);
        let due: Vec<Waker> = {
            let mut sleepers = self.sleepers.borrow_mut();
            let later = sleepers.split_off(&(now + 1, 0));
            std::mem::replace(&mut *sleepers, later).into_values().collect()
        };
        due.into_iter().for_each(Waker::wake);
    }

    pub fn next_timer(&self) -> Option<Millis> {
        self.sleepers.borrow().keys().next().map(|(at, _)| *at)
    }

    /// A number for a sleeper.
    pub fn number(&self) -> u64 {
        let number = self.next.get();
        self.next.set(number + 1);
        number
    }

    pub fn sleep(&self, at: Millis, number: u64, waker: &Waker) {
        self.sleepers.borrow_mut().insert((at, number), waker.clone());
    }

    pub fn forget(&self, at: Millis, number: u64) {
        let waker = self.sleepers.borrow_mut().remove(&(at, number));
        drop(waker);
    }

    pub fn forget_timers(&self) {
        let wakers = self.sleepers.take();
        drop(wakers);
    }
}
