//! The session kernel: records, the mutation line, transactions, documents and the `Storage` trait.
//!
//! Here lives everything that decides what a commit is and what it publishes (spec 1 to 4, 10). Here may not live: any
//! platform (only [`host::Host`]), any SQL, any task scheduling, any model or contract knowledge. A session commits
//! atomically; nothing uncommitted is visible; a storage error ends the session.
//!
//! Start reading at [`storage`] (what a backend promises), then [`session`] (the line and the commit), then [`tx`].

pub mod context;
pub mod documents;
pub mod error;
pub mod host;
#[cfg(not(target_arch = "wasm32"))]
pub mod host_local;
pub mod ids;
mod latch;
pub mod limits;
mod line;
pub mod observe;
pub mod panics;
pub mod publication;
pub mod records;
pub mod session;
pub mod signal;
pub mod storage;
pub mod tx;
pub mod weight;

pub use error::{FailureCause, Rejection, SessionError, SessionFailed};
pub use session::{Hold, Session, SessionEnd, SessionOptions, Subscription};
pub use tx::Tx;

/// The examples of the documentation, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/kernel.md")]
struct Documentation;
