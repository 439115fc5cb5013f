//! The JSONL backend: text files of one record a line, in one directory (spec 11.3).
//!
//! `main.jsonl` holds table writes, document records and one marker per commit; `doc-<id>.jsonl` the content of one
//! document incarnation, `task-<id>.jsonl` the states of one live task. A commit appends to every sidecar it touches, then
//! appends its marker; a sidecar record that no marker lists does not exist. In memory lives an index of everything,
//! [`MemoryStorage`](crate::MemoryStorage), which publishes a commit only after its marker was written.
//!
//! Start reading at `line.rs` (the format), then `persist.rs` (a commit), `recover` (an open) and `reclaim.rs`.

mod disk;
mod encode;
mod error;
pub mod fs;
mod health;
mod line;
mod mint;
mod names;
mod persist;
mod reclaim;
mod recover;
mod store;

pub use error::{Corruption, Damage, JsonlOpenError};
pub use fs::{FileSystem, FsError, FsFuture};
pub use names::MAIN;
pub use store::{Fsync, JsonlOptions, JsonlStorage};
