//! Cancellation of work: a one-way flag with a reason, and a future that resolves when it is raised.

use crate::latch::Latch;
use std::future::Future;

/// Why a signal was raised; shown in errors, never parsed.
pub type AbortReason = &'static str;

/// Raises its [`AbortSignal`]s. Dropping the controller does not raise them.
#[derive(Clone, Default)]
pub struct AbortController(Latch<AbortReason>);

/// What cancellable work listens to. Cheap to clone.
#[derive(Clone, Default)]
pub struct AbortSignal(Latch<AbortReason>);

impl AbortController {
    /// A controller whose signal is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal raised by [`AbortController::abort`].
    pub fn signal(&self) -> AbortSignal {
        AbortSignal(self.0.clone())
    }

    /// Raises the signal once; later reasons are ignored.
    pub fn abort(&self, reason: AbortReason) {
        self.0.set(reason);
    }
}

impl AbortSignal {
    /// The reason once raised.
    pub fn reason(&self) -> Option<AbortReason> {
        self.0.get()
    }

    /// Whether the signal was raised.
    pub fn is_aborted(&self) -> bool {
        self.reason().is_some()
    }

    /// Resolves with the reason once raised; at once when it already was.
    pub fn aborted(&self) -> impl Future<Output = AbortReason> + Unpin + use<> {
        self.0.wait()
    }
}
