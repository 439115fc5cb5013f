//! Building values from Rust's own types.

use super::{Array, Json, MAX_SAFE_INTEGER, Object, Text};

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::String(text.into())
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Json {
        Json::from(text.as_str())
    }
}

impl From<Text> for Json {
    fn from(text: Text) -> Json {
        Json::String(text)
    }
}

impl From<&Text> for Json {
    fn from(text: &Text) -> Json {
        Json::String(text.clone())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Number(number)
    }
}

impl From<u32> for Json {
    fn from(number: u32) -> Json {
        Json::Number(number.into())
    }
}

impl From<i32> for Json {
    fn from(number: i32) -> Json {
        Json::Number(number.into())
    }
}

/// Saturates at 2^53-1, beyond which a JSON number would silently name a neighbour.
impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Number(number.min(MAX_SAFE_INTEGER) as f64)
    }
}

/// Saturates at ±(2^53-1), like `u64`.
impl From<i64> for Json {
    fn from(number: i64) -> Json {
        let magnitude = number.unsigned_abs();
        let magnitude = magnitude.min(MAX_SAFE_INTEGER) as f64;
        Json::Number(if number < 0 { -magnitude } else { magnitude })
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Json {
        Json::from(number as u64)
    }
}

impl From<&Json> for Json {
    fn from(value: &Json) -> Json {
        value.clone()
    }
}

impl From<Array> for Json {
    fn from(array: Array) -> Json {
        Json::Array(array)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Json {
        Json::Object(object)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::array(items.into_iter().map(Into::into))
    }
}

/// `None` becomes `null`.
impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}
