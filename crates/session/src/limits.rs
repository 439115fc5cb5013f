//! Every limit of the kernel, with its reason.

/// Encoded bytes of one batch, checked before storage admission: the platform holds a whole transaction in memory, and
/// 128 MB are for every session of the isolate.
pub const MAX_BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Encoded bytes of one task record that its creator or its own code may store: what is left of a batch is for what the
/// scheduler must always be able to add to it (a mark, a poke, a fault's text, its own document), or the session could not be
/// opened any more.
pub const MAX_TASK_BYTES: usize = MAX_BATCH_BYTES - 1024 * 1024;

/// Page size of the kernel's own scans: large enough that recovery of ordinary sessions is one page, small enough
/// that a page of large records stays bounded.
pub const SCAN_PAGE: usize = 256;

/// Conversations, and live tasks, that the session knows without asking storage. A handful changes at a time; the records
/// are those that the scheduler holds too.
pub const KNOWN: usize = 64;

/// Encoded bytes of the entries behind contexts that are kept for their next read, all conversations together: a few long
/// transcripts, next to the request that is made of one of them.
pub const CONTEXT_BYTES: usize = 4 * 1024 * 1024;

/// How long an unused document stays in memory where nobody chose (spec 4).
pub const DOCUMENT_RETENTION_MS: crate::host::Millis = 600_000;

/// Revisions that a watch keeps for its listener, without the one being delivered, before one replacement takes their place
/// (spec 9.2).
pub const WATCH_PENDING: usize = 100;
