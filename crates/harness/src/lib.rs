//! The harness: conversations that queue, answer, retry and settle on top of the session kernel.
//!
//! Here live submissions and the inbox (spec 6), the built-in documents and tasks (spec 8), prompts, agent events
//! (spec 9.4) and the host-facing calls (spec 2.2). Here may not live: any platform or HTTP, any SQL, any knowledge of
//! contract receipts. The scheduler below knows no task kind; `pi.generation` is an ordinary definition.
//!
//! Start reading at [`harness`] (what a host calls), then [`submissions`], then [`generation`].

pub mod agent;
pub mod docs;
pub mod entries;
pub mod error;
pub mod events;
pub mod generation;
pub mod harness;
pub mod hex;
pub mod limits;
pub mod live;
mod prompt;
pub mod settings;
pub mod submissions;
mod usage;
pub mod view;

pub use error::HarnessError;
pub use harness::{Harness, HarnessOptions};
pub use settings::Settings;
