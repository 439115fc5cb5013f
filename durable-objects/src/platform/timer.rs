//! `setTimeout` as a future, and the clock beside it.

use crate::limits::LONGEST_TIMEOUT_MS;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Closure<dyn FnMut()>, milliseconds: f64) -> f64;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(id: f64);
}

/// Milliseconds since the Unix epoch. The platform freezes the clock while code runs and moves it on at each I/O.
#[allow(clippy::disallowed_methods, reason = "this is the clock that Host::now reads")]
pub fn now() -> u64 {
    js_sys::Date::now() as u64
}

/// Resolves once `now() >= at`.
pub async fn sleep_until(at: u64) {
    loop {
        let left = at.saturating_sub(now());
        if left == 0 {
            return;
        }
        sleep(left.min(LONGEST_TIMEOUT_MS)).await;
    }
}

/// Resolves after about `milliseconds`. Dropping it clears the timeout.
pub fn sleep(milliseconds: u64) -> Sleep {
    Sleep {
        milliseconds,
        armed: None,
    }
}

/// Future of [`sleep`]; the timeout is set by its first poll.
pub struct Sleep {
    milliseconds: u64,
    armed: Option<Armed>,
}

struct Armed {
    id: f64,
    fired: Rc<Cell<bool>>,
    waker: Rc<RefCell<Waker>>,
    // Referenced by the platform until the timeout fired or was cleared.
    _callback: Closure<dyn FnMut()>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &self.armed {
            None => self.armed = Some(arm(self.milliseconds, context.waker())),
            Some(armed) if armed.fired.get() => return Poll::Ready(()),
            Some(armed) => armed.waker.borrow_mut().clone_from(context.waker()),
        }
        Poll::Pending
    }
}

fn arm(milliseconds: u64, waker: &Waker) -> Armed {
    let fired = Rc::new(Cell::new(false));
    let waker = Rc::new(RefCell::new(waker.clone()));
    let callback: Box<dyn FnMut()> = {
        let (fired, waker) = (Rc::clone(&fired), Rc::clone(&waker));
        Box::new(move || {
            fired.set(true);
            waker.borrow().wake_by_ref();
        })
    };
    // Setting a flag and waking cannot leave anything half done.
    let callback = Closure::wrap_assert_unwind_safe(callback);
    let id = set_timeout(&callback, milliseconds as f64);
    Armed {
        id,
        fired,
        waker,
        _callback: callback,
    }
}

impl Drop for Armed {
    fn drop(&mut self) {
        if !self.fired.get() {
            clear_timeout(self.id);
        }
    }
}
