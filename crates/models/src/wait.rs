//! Waiting through the host, until something happens or the caller gives up.

use futures::future::{Either, LocalBoxFuture, select};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

/// The caller gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aborted;

/// Why [`within`] has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Aborted,
    TimedOut,
}

/// Sleeps so many milliseconds unless the signal is raised.
pub(crate) async fn pause(
    host: &Rc<dyn Host>,
    signal: &AbortSignal,
    milliseconds: u64,
) -> Result<(), Aborted> {
    if signal.is_aborted() {
        return Err(Aborted);
    }
    let until = host.now().saturating_add(milliseconds);
    match select(host.sleep_until(until), signal.aborted()).await {
        Either::Left(_) => Ok(()),
        Either::Right(_) => Err(Aborted),
    }
}

/// The result of `work` unless the signal is raised or `idle` expires first. A result that is ready wins.
pub(crate) async fn within<T>(
    work: impl Future<Output = T>,
    idle: &mut Idle,
    signal: &AbortSignal,
) -> Result<T, Interrupted> {
    if signal.is_aborted() {
        return Err(Interrupted::Aborted);
    }
    let expired = pin!(idle.expired());
    let interrupted = select(signal.aborted(), expired);
    match select(pin!(work), interrupted).await {
        Either::Left((result, _)) => Ok(result),
        Either::Right((Either::Left(_), _)) => Err(Interrupted::Aborted),
        Either::Right((Either::Right(_), _)) => Err(Interrupted::TimedOut),
    }
}

/// Expires when nothing was heard for so long. It sets a timer once per limit, not once per piece heard.
pub(crate) struct Idle {
    host: Rc<dyn Host>,
    limit: u64,
    heard: u64,
    timer: LocalBoxFuture<'static, ()>,
}

impl Idle {
    /// Counts from now; the limit is in milliseconds.
    pub(crate) fn new(host: &Rc<dyn Host>, limit: u64) -> Self {
        let heard = host.now();
        Self {
            host: Rc::clone(host),
            limit,
            heard,
            timer: host.sleep_until(heard.saturating_add(limit)),
        }
    }

    /// Something was heard.
    pub(crate) fn touch(&mut self) {
        self.heard = self.host.now();
    }

    async fn expired(&mut self) {
        loop {
            (&mut self.timer).await;
            let until = self.heard.saturating_add(self.limit);
            // A finished timer must not be polled again, so the next one is there before anything else happens.
            self.timer = self.host.sleep_until(until);
            if self.host.now() >= until {
                return;
            }
        }
    }
}

/// Lets other work run: a timer that has to be waited for, because only that lets the platform's events and other timers
/// in. A microtask would not, and a clock that stands still while code runs makes a timer without delay no wait at all.
pub(crate) async fn breathe(host: &Rc<dyn Host>, signal: &AbortSignal) -> Result<(), Aborted> {
    pause(host, signal, 1).await
}
