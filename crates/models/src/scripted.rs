//! The scripted model: deterministic, offline, and able to do everything a provider can do (docs/http.md).
//!
//! A prompt whose first line starts with `@` is a script, any other prompt is its own answer. [`directive`] reads one
//! line, [`script`] a whole prompt, [`reply`] decides what a request is answered with, [`producer`] turns that into
//! events, and [`play`] performs the pauses. Only [`play`] touches the outside.

pub mod directive;
pub mod pieces;
pub mod play;
pub mod producer;
pub mod reply;
pub mod script;

mod deferred;

pub use deferred::{cancel, fetch};
pub use play::stream;
