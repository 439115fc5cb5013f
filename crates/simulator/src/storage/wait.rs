//! How long a call takes.

use super::{Rough, Weather};
use std::cell::Cell;
use std::task::Poll;

/// A call under way.
pub(super) struct Flight<'a>(&'a Cell<usize>);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl<S> Rough<S> {
    pub(super) fn begin(&self) -> Flight<'_> {
        self.in_flight.set(self.in_flight.get() + 1);
        Flight(&self.in_flight)
    }

    /// Between the call and the storage, or the storage and the answer.
    pub(super) async fn wait(&self) {
        let weather = self.weather.get();
        if weather == Weather::Calm || self.random.percent(60) {
            return;
        }
        if weather == Weather::Stormy && self.random.percent(30) {
            let at = self.world.now() + 1 + self.random.below(30);
            return self.world.sleep_until(at).await;
        }
        for _ in 0..=self.random.below(3) {
            give_way().await;
        }
    }

    /// Between a read and its answer.
    pub(super) async fn answer(&self) {
        let _flight = self.begin();
        self.wait().await;
    }
}

/// Lets others run first.
async fn give_way() {
    let mut given = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
