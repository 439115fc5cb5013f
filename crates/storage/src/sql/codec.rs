//! Records and values as the JSON text that is stored.
//!
//! Through `Json` and not through `serde_json`: one printer, exact numbers, and a parser that does not recurse.

use crate::limits::TEXT_DEPTH;
use serde::Serialize;
use tidehold_delta::{FromJson, Json, Op, Text, decode_batch, encode_batch};
use tidehold_session::storage::StorageError;

/// # Errors
/// [`StorageError::Batch`]: nested too deep, or a number no JSON has.
pub(super) fn encode_record<T: Serialize>(record: &T) -> Result<String, StorageError> {
    match Json::from_serialize(record) {
        Ok(json) => Ok(json.to_string()),
        Err(error) => Err(StorageError::Batch(format!("a record cannot be stored: {error}"))),
    }
}

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

pub(super) fn encode_ops(ops: &[Op]) -> String {
    encode_batch(ops).to_string()
}

/// # Errors
/// [`StorageError::Corrupt`].
pub(super) fn decode_ops(text: &str) -> Result<Vec<Op>, StorageError> {
    decode_batch(&decode_value(text)?).map_err(|error| damaged(&error))
}

/// The form of kinds, keys and request ids in their own columns: a JSON string, free of control characters.
pub(super) fn encode_name(name: &str) -> String {
    Json::from(name).to_string()
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
