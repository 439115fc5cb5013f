//! [`Host`] over JavaScript.

use crate::platform::guard::{Guarded, guard};
use crate::platform::life::Life;
use crate::platform::timer;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::future::Future;
use std::rc::Rc;
use tidehold_session::host::{Host, Millis};

/// The host of one open session. Everything it spawns ends with that session's life, and a panic in it is reported
/// to that session's object alone.
pub struct WasmHost {
    life: Life,
    on_panic: Rc<dyn Fn(String)>,
}

impl WasmHost {
    /// `on_panic` receives the message of a panic in spawned work; it is expected to end `life`.
    pub fn new(life: Life, on_panic: Rc<dyn Fn(String)>) -> Self {
        Self { life, on_panic }
    }
}

impl Host for WasmHost {
    fn now(&self) -> Millis {
        timer::now()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        timer::sleep_until(at).boxed_local()
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        let on_panic = Rc::clone(&self.on_panic);
        let work = guard(&self.life, future);
        spawn_caught(async move {
            if let Guarded::Panicked(message) = work.await {
                on_panic(message);
            }
        });
    }

    fn entropy(&self, bytes: &mut [u8]) {
        #[allow(
            clippy::disallowed_methods,
            reason = "this is the source that Host::entropy reads"
        )]
        let filled = getrandom::fill(bytes);
        // The platform's generator is always there; without it no id would be safe to hand out.
        filled.expect("crypto.getRandomValues answers");
    }
}

/// Spawns platform work that catches its own panics or cannot panic. An uncaught one would stop the executor's queue,
/// which every session of the isolate shares, until the next unrelated wake-up.
#[allow(
    clippy::disallowed_methods,
    reason = "this is the executor that Host::spawn uses"
)]
pub(crate) fn spawn_caught(future: impl Future<Output = ()> + 'static) {
    let unguarded = Life::default();
    js_sys::futures::spawn_local(async move {
        if let Guarded::Panicked(message) = guard(&unguarded, future).await {
            worker::console_error!("platform task panicked: {message}");
        }
    });
}
