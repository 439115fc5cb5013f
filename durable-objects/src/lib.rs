//! `tidehold-durable-objects`: one session in one Durable Object.
//!
//! Lives here: the object class ([`SessionObject`]), the frame that opens a session on demand and keeps a panic inside
//! it ([`frame`]), the adapters from the crates' traits to the platform ([`platform`]: clock, timers, spawning, SQL,
//! alarm, fetch), event streams ([`streams`]), the deployment's configuration ([`config`]), and the vocabulary shared
//! with the Worker ([`protocol`]). May not live here: session logic (crates/harness and below decide; [`ops`] only
//! calls them), HTTP status codes and authentication (the Worker's), any state shared between two objects.
//!
//! Start reading at [`protocol`] (what arrives), then [`frame`] (what every object does with it), then [`ops`].

pub mod app;
pub mod config;
pub mod frame;
pub mod limits;
pub mod object;
pub mod ops;
pub mod platform;
pub mod protocol;
mod rate;
pub mod streams;

pub use object::SessionObject;
// The Worker spells ids and reads tokens with them.
pub use tidehold_contract::{base64url, hex};
