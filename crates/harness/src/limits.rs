//! Limits of the harness, each with its reason.

/// Batches a reader may fall behind before it gets one snapshot instead (spec 9.4).
pub const MAX_UNDELIVERED_BATCHES: usize = 100;

/// Bytes a reader may fall behind: readers share the isolate's 128 MB with every session.
pub const MAX_UNDELIVERED_BYTES: usize = 1024 * 1024;

/// Bytes of one page of entries; one entry always fits (http.md).
pub const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Encoded bytes of one answer. Its commit also holds what a boundary places, and a batch has 16 MiB.
pub const MAX_ANSWER_BYTES: usize = tidehold_models::limits::ANSWER_BYTES;

/// Encoded bytes that one boundary places. What does not fit is placed by a commit of its own.
pub const MAX_BOUNDARY_BYTES: usize = 8 * 1024 * 1024;

/// Encoded bytes of an answer's commit: the rest of the batch is left to documents and records.
pub const MAX_ANSWER_COMMIT_BYTES: usize = 14 * 1024 * 1024;

/// Encoded bytes of one submission, above every body that HTTP lets in, below what a boundary places.
pub const MAX_SUBMISSION_BYTES: usize = 5 * 1024 * 1024;

/// Items of one inbox: every boundary reads them all.
pub const MAX_QUEUED_ITEMS: usize = 1000;

/// Encoded bytes of one inbox, which is one document and kept in memory.
pub const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

const _: () = {
    assert!(MAX_SUBMISSION_BYTES < MAX_BOUNDARY_BYTES);
    assert!(MAX_ANSWER_BYTES < MAX_ANSWER_COMMIT_BYTES);
    assert!(MAX_ANSWER_COMMIT_BYTES < tidehold_session::limits::MAX_BATCH_BYTES);
};
