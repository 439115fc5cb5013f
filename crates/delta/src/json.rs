//! The value: an immutable JSON tree whose containers are shared by reference count.

mod array;
mod equal;
mod from;
mod macros;
mod number;
mod object;
mod parse;
mod print;
mod serde_impl;
mod shape;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

pub use array::{Array, ArrayIter};
pub use number::{format_number, push_integer};
pub use object::{Object, ObjectIter};
pub use parse::ParseError;
pub use print::{string_len, write_string};
pub(crate) use text::joined;

/// Shared immutable text: cloning copies a pointer.
pub type Text = Arc<str>;

/// 2^53 - 1, the largest integer a double represents together with all smaller ones.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A JSON value. Cloning is cheap: strings, arrays and objects are shared.
///
/// Numbers are doubles and compare as such (`1` = `1.0`, `-0` = `0`). Objects keep insertion order for
/// iteration and printing, but equality ignores it. Strings are well-formed Unicode: text with lone
/// surrogates cannot be represented and is refused by [`Json::parse`].
///
/// The enum is open, so code can build a number that is not finite or a tree of any depth; both are
/// refused where a value enters a draft, an operation or a typed conversion. Dropping, comparing,
/// measuring and printing are safe for every depth.
#[derive(Clone, Default)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    String(Text),
    Array(Array),
    Object(Object),
}

impl Json {
    /// An object of `members` in their order; the last of several equal keys wins.
    pub fn object<K: Into<Text>>(members: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(members.into_iter().collect())
    }

    /// An array of `items`.
    pub fn array(items: impl IntoIterator<Item = Json>) -> Json {
        Json::Array(items.into_iter().collect())
    }

    /// `{}`.
    pub fn empty_object() -> Json {
        Json::Object(Object::new())
    }

    /// The member `key`; `None` when absent or when this is no object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The element `i`; `None` when absent or when this is no array.
    pub fn index(&self, i: usize) -> Option<&Json> {
        self.as_array()?.get(i)
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The shared text of a string.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// An integral number in `0..=2^53-1`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i64().and_then(|integer| u64::try_from(integer).ok())
    }

    /// An integral number in `-(2^53-1)..=2^53-1`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_f64().and_then(number::integral)
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Json::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Whether this is an array or an object.
    pub fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Whether both are the same shared string, array or object, or the same scalar.
    ///
    /// Constant time. `false` says nothing: equal values need not be shared.
    pub fn same(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Null, Json::Null) => true,
            (Json::Bool(a), Json::Bool(b)) => a == b,
            (Json::Number(a), Json::Number(b)) => a == b,
            (Json::String(a), Json::String(b)) => Arc::ptr_eq(a, b),
            (Json::Array(a), Json::Array(b)) => a.ptr_eq(b),
            (Json::Object(a), Json::Object(b)) => a.ptr_eq(b),
            _ => false,
        }
    }
}
