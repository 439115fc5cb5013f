//! Storage backends behind `tidehold_session::storage::Storage`, and the suite that all of them pass.
//!
//! Here live: [`memory`] (the reference: exact and simple), [`sql`] (one schema, one set of statements, two drivers:
//! rusqlite in [`sql::native`] and the object's `ctx.storage.sql`, implemented in `durable-objects`), [`jsonl`] (text
//! files over a small file-system trait, for hosts that are not objects), [`fault`] (a wrapper that fails the n-th call) and [`conformance`] (the suite as plain functions, so that it also runs inside an
//! object). Here may not live: platform code, clocks, threads, session semantics. A backend makes one batch durable
//! as one, keeps ids unique and records consistent, and trusts the session for everything else (spec 10).
//!
//! Start reading at [`batch`] (what a valid batch is, shared by all backends), then `sql/statements.rs` (the schema and
//! what each write is billed), then `sql/commit`.

pub mod batch;
pub mod conformance;
mod cursor;
pub mod fault;
mod forward;
pub mod jsonl;
pub mod limits;
mod lineage;
pub mod memory;
mod replay;
pub mod sql;
mod status;

pub use jsonl::JsonlStorage;
pub use memory::MemoryStorage;
pub use sql::SqlStorage;
