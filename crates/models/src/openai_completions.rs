//! OpenAI Chat Completions, and everything that speaks it: OpenRouter, Groq, DeepSeek, Workers AI, AI Gateway, vLLM,
//! llama.cpp (models.md 12).
//!
//! [`compat`] knows how the services differ, [`request`] builds the request, [`decode`] is the pure reducer from bytes
//! to events, and [`run`] connects them to a transport.

mod compat;
pub mod decode;
pub mod grammar;
pub mod request;
pub mod run;
pub mod strict;
pub mod tools;

mod cache_control;
mod calls;
mod chunk;
mod messages;
mod reasoning;
mod thinking;
mod usage;

pub use run::stream;
