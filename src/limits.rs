//! Every limit of the Worker, with its reason.

/// A request body (http.md). Large enough for a prompt with attachments as text, small against the 128 MB of memory
/// that the Worker's parallel requests share.
pub const BODY_BYTES: usize = 4 * 1024 * 1024;

/// A body of tool arguments (http.md): a prompt of 1 MiB and what surrounds it.
pub const TOOL_BODY_BYTES: usize = 1_572_864;

/// What is read of a refused body before the connection is closed on its sender: four times what is accepted covers
/// honest mistakes.
pub const DRAIN_BYTES: usize = 4 * BODY_BYTES;

/// How long a refused body is read at most: a sender that takes longer to send it, or never ends it, is not waited for.
pub const DRAIN_MS: u64 = 1_500;

/// A session name (http.md).
pub const SESSION_NAME_BYTES: usize = 128;

/// Longest wait of `?wait=`; more is clamped (http.md).
pub const WAIT_SECONDS: u32 = 60;

/// Most items of a page of entries or conversations (http.md).
pub const PAGE_ITEMS: u32 = 500;

/// How long an object may take to begin its answer, beyond a wait that the client asked for. Far above any operation
/// that works; an object that does not answer by then will not.
pub const CALL_MS: u64 = 30_000;

/// What a client is told to wait before it tries an unresponsive session again.
pub const RETRY_AFTER_SECONDS: u32 = 1;

/// A W3C `traceparent` has 55 characters; later versions may append.
pub const TRACEPARENT_BYTES: usize = 256;
