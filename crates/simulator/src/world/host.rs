//! The world as a session's platform.

use super::World;
use futures::future::LocalBoxFuture;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tidehold_session::host::{Host, Millis};

/// The platform of one life.
pub(super) struct WorldHost {
    world: World,
    life: u64,
}

impl WorldHost {
    pub fn new(world: World) -> Self {
        let life = world.0.life.get();
        Self { world, life }
    }
}

impl Host for WorldHost {
    fn now(&self) -> Millis {
        self.world.now()
    }

    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()> {
        Box::pin(self.world.sleep_until(at))
    }

    fn spawn(&self, future: LocalBoxFuture<'static, ()>) {
        if self.life == self.world.0.life.get() {
            self.world.spawn_boxed(future);
        }
    }

    fn entropy(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.world.0.random.below(256) as u8;
        }
    }
}

impl World {
    /// Resolves once the clock says so, late by as much as the world likes.
    pub fn sleep_until(&self, at: Millis) -> impl Future<Output = ()> + use<> {
        Sleep {
            world: self.clone(),
            at,
            number: None,
        }
    }
}

struct Sleep {
    world: World,
    at: Millis,
    number: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let clock = &self.world.0.clock;
        if clock.now() >= self.at {
            return Poll::Ready(());
        }
        let number = self.number.unwrap_or_else(|| clock.number());
        clock.sleep(self.at, number, context.waker());
        self.number = Some(number);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.world.0.clock.forget(self.at, number);
        }
    }
}
