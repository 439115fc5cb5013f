//! The contract tools: `external_delegate` and `external_runs`, with their schemas, receipts, paging and redaction.
//!
//! Here lives everything that knows receipts, and nothing else does: what a run is to its callers, what is refused and how,
//! which values travel inline, how texts are paged, what is redacted. Here may not live: HTTP, MCP and status codes (the
//! Worker's), any platform (only the session's `Host`), SQL, models or prompts. A run is a task of the harness ([`run`]);
//! receipts, references and pages are derived from what the session stores, never stored.
//!
//! Start reading at [`contract`] (what a transport calls), then [`run`] (the durable half), [`evidence`] and [`row`] (from
//! records to rows), then `delegate` and `runs` (the tools). [`wire`] makes types, JSON and schemas from one list.

pub mod base64url;
pub mod code;
pub mod config;
mod content;
pub mod contract;
mod cursor;
mod declaration;
pub mod delegate;
mod deliver;
mod digest;
pub mod error;
mod evidence;
pub mod limits;
pub mod outside;
mod page;
pub mod public_run;
pub mod receipt;
mod recent;
pub mod redact;
mod row;
pub mod run;
mod run_id;
pub mod runs;
pub mod schema;
mod standing;
pub mod time;
mod transcript;
mod wire;

pub use config::ContractConfig;
pub use contract::{Begun, Call, Contract, Launched, Pending};
pub use error::CallError;
pub use outside::{answer_absent, answer_ended, answer_misconfigured};
pub use receipt::{Tool, ToolResult};
pub use tidehold_harness::hex;
