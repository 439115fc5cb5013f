//! Language models: messages, wire formats, streaming, token estimates, error classes, and the scripted model.
//!
//! Lives here: pi-ai's message types as plain data, a catalog built from configuration, one adapter a wire format
//! (a request builder and a decoder that is a pure reducer from bytes to events), and the pure rules a harness decides
//! by. May not live here: HTTP (only the [`transport::Transport`] trait), clocks and timers (only
//! [`tidehold_session::host::Host`]), storage, retries of whole answers, anything that knows tasks or conversations.
//! Nothing panics on input, nothing is shared between sessions, every future is `?Send`.
//!
//! Start at [`models::Models`] (what callers use), then [`stream`] and [`partial`] (how an answer arrives), then
//! [`registry`] (who answers). [`scripted`] is the smallest adapter, [`openai_completions`] a real one.

pub mod catalog;
pub mod changes;
pub mod cost;
pub mod errors;
pub mod estimate;
pub mod hash;
mod headers;
mod http;
mod http_date;
mod json;
pub mod limits;
pub mod message;
pub mod model;
pub mod models;
pub mod openai_completions;
pub mod options;
pub mod partial;
pub mod registry;
pub mod scripted;
pub mod sse;
pub mod stream;
mod surrogates;
pub mod system;
pub mod thinking;
pub mod tool_arguments;
pub mod transform;
pub mod transport;
mod wait;
