//! Limits of the harness, each with its reason.

/// Batches a reader may fall behind before it gets one snapshot instead (spec 9.4).
pub const MAX_UNDELIVERED_BATCHES: usize = 100;

/// Bytes a reader may fall behind: readers share the isolate's 128 MB with every session.
pub const MAX_UNDELIVERED_BYTES: usize = 1024 * 1024;

/// Bytes of one page of entries; one entry always fits (http.md).
pub const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
