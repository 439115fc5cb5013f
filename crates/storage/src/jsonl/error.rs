//! Why a directory cannot be opened.

use super::fs::FsError;
use tidehold_delta::ParseError;
use tidehold_session::storage::StorageError;

/// Files that contradict themselves or each other. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file} line {line}: {damage}")]
pub struct Corruption {
    pub file: String,
    /// From 1. Of a missing record the line where it should be.
    pub line: u64,
    pub damage: Damage,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Damage {
    #[error("is not UTF-8")]
    NotText,
    #[error("is not JSON: {0}")]
    NotJson(ParseError),
    /// JSON of another shape than the line must have.
    #[error("{0}")]
    Shape(String),
    #[error("sequence number {found} does not follow {before}")]
    Order { before: u64, found: u64 },
    /// What the line says is impossible after the lines before it.
    #[error("{0}")]
    Contradiction(String),
    #[error("a record of commit {unconfirmed}, which no marker lists, precedes one of commit {confirmed}")]
    Unconfirmed { unconfirmed: u64, confirmed: u64 },
    /// `main.jsonl` is missing or empty where it cannot be by any crash.
    #[error("a record of commit {commit}, while main.jsonl lists no commit")]
    Headless { commit: u64 },
    #[error("the record of commit {commit} is missing")]
    Missing { commit: u64 },
}

/// Why [`JsonlStorage::open`](super::JsonlStorage::open) failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum JsonlOpenError {
    #[error("storage is corrupt: {0}")]
    Corrupt(#[from] Corruption),
    /// Written by a newer release. Nothing was changed.
    #[error("{file} line {line} has format {found}, newer than the supported {supported}")]
    TooNew {
        file: String,
        line: u64,
        found: u32,
        supported: u32,
    },
    #[error(transparent)]
    FileSystem(#[from] FsError),
}

impl From<JsonlOpenError> for StorageError {
    fn from(error: JsonlOpenError) -> Self {
        match error {
            JsonlOpenError::Corrupt(corruption) => Self::Corrupt(corruption.to_string()),
            JsonlOpenError::TooNew { found, supported, .. } => Self::SchemaTooNew { found, supported },
            JsonlOpenError::FileSystem(error) => Self::Backend(error.to_string()),
        }
    }
}
