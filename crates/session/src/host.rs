//! The only door to the outside: clock, timers, spawning and randomness.
//!
//! Nothing in `crates/` may read a clock, start a timer, spawn or draw random bytes except through [`Host`]
//! (invariant 1). The object implements it over JavaScript; tests use [`crate::host_local::LocalHost`] with a
//! virtual or a real clock.

use futures::future::LocalBoxFuture;

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// The platform under a session. Implementations are single threaded and belong to one session each, so that no
/// waker or handle is ever shared between two objects (invariant 11).
pub trait Host {
    /// Wall clock in milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
    /// Resolves once `now() >= at`. May resolve late, never early.
    fn sleep_until(&self, at: Millis) -> LocalBoxFuture<'static, ()>;
    /// Runs `future` to completion in the background, on this thread. It is first polled later, never inside
    /// `spawn`: callers rely on that to finish the turn they are in.
    fn spawn(&self, future: LocalBoxFuture<'static, ()>);
    /// Fills `bytes` from a cryptographic source (virtual hosts: from their seed).
    fn entropy(&self, bytes: &mut [u8]);
}
