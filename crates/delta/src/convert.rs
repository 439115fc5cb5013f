//! Between [`Json`] and typed Rust values, without a detour through text.

mod key;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Json, MAX_DEPTH};

/// Why a typed value is no [`Json`], or a [`Json`] is no such typed value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// What the type's own `Serialize` or `Deserialize` reported: a missing field, a wrong type.
    #[error("{0}")]
    Message(String),
    #[error("number is not finite")]
    NotFinite,
    #[error("integer {0} is beyond ±(2^53-1)")]
    Integer(i128),
    #[error("map key is not a string")]
    Key,
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

impl serde::ser::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> ConvertError {
        ConvertError::Message(message.to_string())
    }
}

impl serde::de::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> ConvertError {
        ConvertError::Message(message.to_string())
    }
}

impl Json {
    /// The JSON form of a typed value, in serde's usual conventions (fields in order, externally tagged
    /// enums, `None` as `null`, bytes as an array of numbers).
    ///
    /// # Errors
    /// Numbers that are not finite, integers beyond ±(2^53-1), map keys that are not strings, depth
    /// above [`MAX_DEPTH`], and whatever the type reports.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Json, ConvertError> {
        value.serialize(writer::Writer { levels: MAX_DEPTH })
    }

    /// The typed value with this JSON form. Integral numbers serve integer and floating-point fields.
    ///
    /// # Errors
    /// Depth above [`MAX_DEPTH`], and whatever the type reports.
    pub fn to_typed<T: DeserializeOwned>(&self) -> Result<T, ConvertError> {
        if self.deeper_than(MAX_DEPTH) {
            return Err(ConvertError::Depth);
        }
        T::deserialize(reader::Reader(self))
    }
}
