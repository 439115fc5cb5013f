//! OpenAI Chat Completions, and everything that speaks it: OpenRouter, Groq, DeepSeek, Workers AI, AI Gateway, vLLM,
//! llama.cpp (models.md 12).
//!
//! [`compat`] knows how the services differ, [`request`] builds the request, [`decode`] is the pure reducer from bytes
//! to events, and [`run`] connects them to a transport.

pub mod compat;
pub mod decode;
pub mod request;
pub mod run;

mod calls;
mod chunk;
mod grammar;
mod messages;
mod reasoning;
mod strict;
mod thinking;
mod tools;
mod usage;

pub use run::stream;
