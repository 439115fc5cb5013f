//! A clock that can be set, over the virtual one of the runtime.

use futures::future::LocalBoxFuture;
use std::cell::Cell;
use std::rc::Rc;
use tidehold_session::host::{Host, Millis};

/// Shows what the runtime's clock shows until it is set. Timers go by the runtime's, as those of a platform do: set back, this
/// clock makes them come early.
pub struct Clock {
    beneath: Rc<dyn Host>,
    ahead: Cell<i64>,
}

impl Clock {
    pub fn over(beneath: Rc<dyn Host>) -> Rc<Self> {
        let ahead = Cell::new(0);
        Rc::new(Self { beneath, ahead })
    }

    /// Sets it ahead, or back, from what it shows.
    pub fn set(&self, by: i64) {
        self.ahead.set(self.ahead.get() + by);
    }
}

impl Host for Clock {
    fn now(&self) -> Millis {
        self.beneath.now().saturating_add_signed(self.ahead.get())
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        self.beneath
            .sleep_until(at.saturating_add_signed(-self.ahead.get()))
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        self.beneath.spawn(future);
    }

    fn entropy(&self, bytes: &mut [u8]) {
        self.beneath.entropy(bytes);
    }
}
