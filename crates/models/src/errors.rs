//! What an error text means: can it be retried, does the context have to shrink, and how long to wait.
//!
//! Providers tell these apart only by wording. The wordings are fixed patterns, matched by [`pattern`] in one pass over
//! a short text, so no regex engine is needed.

mod overflow;
mod pattern;
mod retry_delay;
mod retryable;
pub mod text;

pub use overflow::{is_context_overflow, is_overflow_text, is_recoverable_length};
pub use retry_delay::{RetryPolicy, retry_delay_ms};
pub use retryable::{is_retryable_assistant_error, is_retryable_text};
