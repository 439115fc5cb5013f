//! Names as the JSON text that is stored, and back from stored text. Records are written by `encode`.
//!
//! Through `Json` and not through `serde_json`: one printer, exact numbers, and a parser that does not recurse.

use crate::limits::TEXT_DEPTH;
use tidehold_delta::{FromJson, Json, Op, Text, decode_batch, write_string};
use tidehold_session::storage::StorageError;

/// # Errors
/// [`StorageError::Corrupt`].
pub(super) fn decode_record<T: FromJson>(text: &str) -> Result<T, StorageError> {
    decode_value(text)?.to_typed().map_err(|error| damaged(&error))
}

/// # Errors
/// [`StorageError::Corrupt`].
pub(super) fn decode_value(text: &str) -> Result<Json, StorageError> {
    Json::parse(text, TEXT_DEPTH).map_err(|error| damaged(&error))
}

/// # Errors
/// [`StorageError::Corrupt`].
pub(super) fn decode_ops(text: &str) -> Result<Vec<Op>, StorageError> {
    decode_batch(&decode_value(text)?).map_err(|error| damaged(&error))
}

/// The form of kinds, keys and request ids in their own columns: a JSON string, free of control characters.
pub(super) fn encode_name(name: &str) -> String {
    let mut text = String::new();
    write_string(&mut text, name);
    text
}

/// # Errors
/// [`StorageError::Corrupt`].
pub(super) fn decode_name(text: &str) -> Result<Text, StorageError> {
    match decode_value(text)? {
        Json::String(name) => Ok(name),
        _ => Err(StorageError::Corrupt("a stored name is no string".into())),
    }
}

fn damaged(error: &dyn std::fmt::Display) -> StorageError {
    StorageError::Corrupt(format!("stored text cannot be read: {error}"))
}
