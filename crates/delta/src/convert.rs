//! Between [`Json`] and typed Rust values, without a detour through text.

mod from_json;
mod key;
mod members;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;

use serde::Serialize;

pub use from_json::FromJson;
pub use members::{Members, present, variant_name};

use crate::{Json, MAX_DEPTH};

/// Why a typed value is no [`Json`], or a [`Json`] is no such typed value.
///
/// One pointer: it travels through every `?` of every reader and writer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct ConvertError(Box<ConvertProblem>);

/// What a [`ConvertError`] says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertProblem {
    /// What the type's own `Serialize` reported.
    #[error("{0}")]
    Message(String),
    /// The value does not fit the type: `path` is where, member names and indexes joined by dots (empty for the value
    /// itself), `problem` what is wrong there.
    #[error("{path}{}{problem}", if path.is_empty() { "" } else { ": " })]
    Mismatch { path: String, problem: String },
    #[error("number is not finite")]
    NotFinite,
    #[error("integer {0} is beyond ±(2^53-1)")]
    Integer(String),
    #[error("map key is not a string")]
    Key,
    #[error("nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

impl From<ConvertProblem> for ConvertError {
    #[cold]
    fn from(problem: ConvertProblem) -> Self {
        Self(Box::new(problem))
    }
}

impl serde::ser::Error for ConvertError {
    fn custom<T: fmt::Display>(message: T) -> ConvertError {
        ConvertProblem::Message(message.to_string()).into()
    }
}

impl ConvertError {
    /// What is wrong.
    pub fn problem(&self) -> &ConvertProblem {
        &self.0
    }

    /// The value itself does not fit.
    pub fn mismatch(problem: &str) -> Self {
        let problem = problem.to_owned();
        let path = String::new();
        ConvertProblem::Mismatch { path, problem }.into()
    }

    /// The name of no variant.
    pub fn unknown_variant(found: &str, known: &[&str]) -> Self {
        members::unknown("unknown variant", found, known)
    }

    /// The same problem, seen from the value around: the mismatch is in its member or element `name`.
    pub fn inside(mut self, name: &str) -> Self {
        if let ConvertProblem::Mismatch { path, .. } = &mut *self.0 {
            *path = match path.is_empty() {
                true => name.to_owned(),
                false => [name, ".", path].concat(),
            };
        }
        self
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
    /// Depth above [`MAX_DEPTH`], and the place that does not fit.
    pub fn to_typed<T: FromJson>(&self) -> Result<T, ConvertError> {
        if self.deeper_than(MAX_DEPTH) {
            return Err(ConvertProblem::Depth.into());
        }
        T::from_json(self)
    }
}
