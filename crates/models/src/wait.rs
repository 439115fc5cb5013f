//! Waiting through the host, until something happens or the caller gives up.

use futures::future::{Either, select};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
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
pub(crate) async fn pause(host: &Rc<dyn Host>, signal: &AbortSignal, milliseconds: u64) -> Result<(), Aborted> {
    if signal.is_aborted() {
        return Err(Aborted);
    }
    let until = host.now().saturating_add(milliseconds);
    match select(host.sleep_until(until), signal.aborted()).await {
        Either::Left(_) => Ok(()),
        Either::Right(_) => Err(Aborted),
    }
}

/// The result of `work` unless the signal is raised or so many milliseconds pass first. A result that is ready wins.
pub(crate) async fn within<T>(
    work: impl Future<Output = T>,
    host: &Rc<dyn Host>,
    signal: &AbortSignal,
    milliseconds: u64,
) -> Result<T, Interrupted> {
    if signal.is_aborted() {
        return Err(Interrupted::Aborted);
    }
    let until = host.now().saturating_add(milliseconds);
    let interrupted = select(signal.aborted(), host.sleep_until(until));
    match select(pin!(work), interrupted).await {
        Either::Left((result, _)) => Ok(result),
        Either::Right((Either::Left(_), _)) => Err(Interrupted::Aborted),
        Either::Right((Either::Right(_), _)) => Err(Interrupted::TimedOut),
    }
}

/// Lets other work run. The timer lets the platform's events in; a host whose clock is already there may answer at
/// once, so the executor's other futures get a turn as well.
pub(crate) async fn breathe(host: &Rc<dyn Host>, signal: &AbortSignal) -> Result<(), Aborted> {
    pause(host, signal, 0).await?;
    YieldOnce { yielded: false }.await;
    Ok(())
}

struct YieldOnce {
    yielded: bool,
}

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.yielded {
            return Poll::Ready(());
        }
        self.yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
