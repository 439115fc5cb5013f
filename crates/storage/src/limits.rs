//! Every limit of the backends, with its reason.

/// The largest id and sequence number: they are JSON numbers, hence doubles.
pub const MAX_NUMBER: u64 = tidehold_delta::MAX_SAFE_INTEGER;

/// Bytes of one value that share its row; a longer one is cut into chunks of this size. The documented cell limit of the
/// platform is 2 MB and its runtimes have moved between 2.2 and 4 MiB, so the size is ours and well below all of them.
pub const CHUNK_BYTES: usize = 1_000_000;

/// Bytes at which a row of packed deltas is full. The row is rewritten for each delta it takes, so this is what one small
/// delta writes to disk; billing counts rows, and a pack is one row more to reclaim. Measured per delta of 60 bytes on
/// tmpfs: 75 µs at 4 KiB, 95 at 16, 115 at 32, 160 at 64; at 32 KiB reclaiming adds a row for some 300 such deltas.
pub const PACK_BYTES: usize = 32 * 1024;

/// Ids reserved by one update of the stored mark: a billed row per block, and at most a block is lost at a reopen.
pub const ID_BLOCK: u64 = 1024;

/// Sequence numbers reserved likewise. A stream commits ten times a second, so this is a row every seven minutes.
pub const SEQ_BLOCK: u64 = 4096;

/// Forks above one conversation. The session cannot build a cycle; a damaged store could, and must not hang a read.
pub const MAX_LINEAGE: usize = 10_000;

/// Depth at which stored text is refused. Values are bounded by `tidehold_delta::MAX_DEPTH` when written; operations
/// wrap theirs in a few arrays more.
pub const TEXT_DEPTH: usize = tidehold_delta::MAX_DEPTH + 8;

/// Documents, and tasks, of which a storage remembers what a commit must know. A session changes a handful at a time: its
/// running tasks, the documents of their conversations. Each costs some hundred bytes.
pub const RECALLED: usize = 64;
