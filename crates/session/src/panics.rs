//! Panics of code that is not the kernel's: caught where it is called, told as text.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a caught panic left.
pub type Panic = Box<dyn Any + Send>;

/// Runs `work` and catches its panic. Whoever asks drops what the work left half done.
///
/// Out of line on purpose: inlined into a caller by link-time optimization, its landing pad has come out as invalid wasm
/// in some release builds.
#[inline(never)]
pub fn caught<'a, T: 'a>(work: LocalBoxFuture<'a, T>) -> LocalBoxFuture<'a, Result<T, Panic>> {
    Box::pin(AssertUnwindSafe(work).catch_unwind())
}

/// Like [`caught`], for a call. Out of line for the same reason.
#[inline(never)]
pub fn caught_call<T>(call: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(call))
}

/// Tells a report handler. One that panics is dropped: nothing is left to report that to.
pub fn report(handler: &dyn Fn(String), text: String) {
    let _dropped = caught_call(|| handler(text));
}

/// The text of a panic, where it has one.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "panic without a message".to_owned())
}
