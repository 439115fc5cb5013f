//! From a base and the deltas after it to a document value, shared by all backends.

use tidehold_delta::{Json, Op, apply};
use tidehold_session::documents::DocumentRecord;
use tidehold_session::storage::{StorageError, StoredDocument};

/// A base with the deltas read so far.
pub(crate) struct Replay {
    version: u32,
    base: Json,
    // All deltas are applied in one go: applying them one by one would copy a growing string each time.
    ops: Vec<Op>,
    deltas: u32,
}

impl Replay {
    pub(crate) fn from_base(version: u32, base: Json) -> Self {
        Self {
            version,
            base,
            ops: Vec::new(),
            deltas: 0,
        }
    }

    /// # Errors
    /// [`StorageError::Corrupt`] when the delta was written by another version than its base.
    pub(crate) fn push(
        &mut self,
        version: u32,
        ops: impl IntoIterator<Item = Op>,
    ) -> Result<(), StorageError> {
        if version != self.version {
            let reason = format!(
                "a delta of version {version} follows a base of version {}",
                self.version
            );
            return Err(StorageError::Corrupt(reason));
        }
        self.ops.extend(ops);
        self.deltas += 1;
        Ok(())
    }

    /// # Errors
    /// [`StorageError::Corrupt`] when an operation cannot be applied.
    pub(crate) fn finish(self, record: DocumentRecord) -> Result<StoredDocument, StorageError> {
        let Self {
            version,
            base,
            ops,
            deltas,
        } = self;
        let value = match ops.as_slice() {
            [] => base,
            ops => apply(Some(&base), ops).map_err(|error| {
                StorageError::Corrupt(format!("document {}: a delta does not apply: {error}", record.id))
            })?,
        };
        Ok(StoredDocument {
            record,
            version,
            value,
            deltas_since_base: deltas,
        })
    }
}

/// Adds the document to the message of a failed replay.
pub(crate) fn missing_base(record: &DocumentRecord) -> StorageError {
    StorageError::Corrupt(format!("document {} is missing a required base", record.id))
}

/// A point in the past of a document that does not keep it: the caller's mistake, not a damage.
pub(crate) fn no_history(record: &DocumentRecord) -> StorageError {
    StorageError::Request(format!(
        "document {} does not retain historical content",
        record.id
    ))
}
