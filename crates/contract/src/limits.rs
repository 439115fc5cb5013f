//! Every limit of the contract, with its reason.

use tidehold_session::host::Millis;

/// JSON bytes of a redacted value that a receipt carries inline: the contract's 16 KiB. One byte more goes by reference.
pub const INLINE_VALUE_BYTES: usize = 16 * 1024;

/// Code points of a description: it is echoed in every list row.
pub const DESCRIPTION_CHARS: u64 = 512;

/// Code points of a prompt: the contract's ceiling for transferred context.
pub const PROMPT_CHARS: u64 = 1024 * 1024;

/// Code points of a role or harness name: configuration keys, echoed in every row.
pub const NAME_CHARS: u64 = 64;

/// Code points of a profile name.
pub const PROFILE_CHARS: u64 = 128;

/// Code points of a run id: the prefix and up to 128 characters, with room for a blank placeholder.
pub const RUN_ID_CHARS: u64 = 140;

/// Code points of an idempotency key.
pub const REQUEST_ID_CHARS: u64 = 128;

/// The longest run limit a caller may ask for: a day.
pub const RUN_TIMEOUT_MAX_MS: Millis = 24 * 60 * 60 * 1000;

/// Most turns of transferred context.
pub const CONTEXT_TURNS: u64 = 1000;

/// Rows of one list page, unless asked otherwise: a page that a model can read.
pub const LIST_ROWS: u64 = 50;

/// Most rows of one list page: keeps a page near 100 KB.
pub const LIST_ROWS_MAX: u64 = 100;

/// Least page: every code point fits, so a page always advances.
pub const PAGE_BYTES_MIN: u64 = 4;

/// Bytes of a page, unless asked otherwise.
pub const PAGE_BYTES: u64 = 32 * 1024;

/// Most bytes of a page.
pub const PAGE_BYTES_MAX: u64 = 64 * 1024;

/// Targets named by one call; a wait may name all of them.
pub const TARGETS: u64 = 100;

/// Targets of one batch inspection.
pub const BATCH_TARGETS: usize = 20;

/// Code points of a cursor. Ours are far shorter; anything longer is no cursor.
pub const CURSOR_CHARS: u64 = 8192;

/// Code points of a cancellation reason: it is kept with the run.
pub const REASON_CHARS: u64 = 512;

/// The longest bounded wait: beyond it a caller asks again.
pub const WAIT_TIMEOUT_MAX_MS: Millis = 10 * 60 * 1000;

/// Problems reported for one set of arguments: enough to repair a call, never an echo of its size.
pub const PROBLEMS: usize = 20;

/// Entries read at once from a child's transcript. Few, because an entry may weigh megabytes.
pub const EVIDENCE_PAGE: usize = 8;

/// Trailing bytes of a growing text that a page holds back: a secret under way is shown only once it can be told from
/// prose. Every pattern is recognised within this many bytes of its start.
pub const HOLD_BACK_BYTES: usize = 1024;

/// Settled runs that count as held in memory, the newest ones.
pub const RECENT_RUNS: usize = 100;

/// Bytes of a failure's detail that the anchor keeps: enough for a provider's message, small enough for every row.
pub const DETAIL_BYTES: usize = 2048;
