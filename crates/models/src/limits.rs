//! Limits, each with its reason.

/// Wait for response headers when the request sets none: pi-ai's default, and longer than any provider queues.
pub const HEADERS_TIMEOUT_MS: u64 = 600_000;

/// Wait between two pieces of an answer when the request sets none: providers send keep-alives far more often, so
/// silence this long means that the connection is dead.
pub const IDLE_TIMEOUT_MS: u64 = 120_000;

/// Most bytes of an error body that are read: it becomes a stored error text, and nobody reads more.
pub const ERROR_BODY_BYTES: usize = 64 * 1024;

/// Most bytes of one server-sent event: a whole answer of the largest models fits, an endless line does not.
pub const SSE_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Most bytes of one answer, as JSON: it becomes one entry, committed together with what follows from it.
pub const ANSWER_BYTES: usize = 10 * 1024 * 1024;

/// Most milliseconds of one pause of a script, a day: longer is a typing error, and sums stay far from overflow.
pub const SCRIPT_PAUSE_MS: u64 = 86_400_000;

/// A script lets other work run after this many bytes of answer.
pub const SCRIPT_YIELD_BYTES: usize = 64 * 1024;

/// A script lets other work run after this many events.
pub const SCRIPT_YIELD_EVENTS: usize = 1024;

/// Longest time between two polls of a deferred script answer.
pub const SCRIPT_POLL_MS: u64 = 5_000;

/// JSON from outside may nest this deep (architecture section 3): the wasm stack is small.
pub const JSON_DEPTH: usize = 128;
