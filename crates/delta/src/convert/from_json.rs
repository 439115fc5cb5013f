//! Reading typed values: the trait, and the types of the standard library that have an obvious JSON form.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::rc::Rc;

use indexmap::IndexMap;

use super::ConvertError;
use crate::{Json, Object, Text};

/// A type that can be read from its JSON form, the one that its `Serialize` writes.
///
/// Derived by `#[derive(FromJson)]`, which obeys the same `#[serde(…)]` attributes as `Serialize`. Callers use
/// [`Json::to_typed`], which bounds the depth first.
pub trait FromJson: Sized {
    /// # Errors
    /// `ConvertProblem::Mismatch` with the place inside `json` that does not fit.
    fn from_json(json: &Json) -> Result<Self, ConvertError>;
}

fn expected(what: &'static str) -> ConvertError {
    ConvertError::mismatch(&["expected ", what].concat())
}

macro_rules! integers {
    ($($name:ident: $type:ty),*) => {
        $(impl FromJson for $type {
            fn from_json(json: &Json) -> Result<Self, ConvertError> {
                $name(json)?
                    .try_into()
                    .map_err(|_| expected(concat!("an integer that fits ", stringify!($type))))
            }
        })*
    };
}

fn signed(json: &Json) -> Result<i64, ConvertError> {
    json.as_i64().ok_or_else(|| expected("an integer"))
}

fn unsigned(json: &Json) -> Result<u64, ConvertError> {
    json.as_u64().ok_or_else(|| expected("an integer from 0"))
}

integers! {
    signed: i8, signed: i16, signed: i32, signed: i64, unsigned: u8, unsigned: u16, unsigned: u32, unsigned: u64,
    unsigned: usize
}

impl FromJson for f64 {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        json.as_f64().ok_or_else(|| expected("a number"))
    }
}

impl FromJson for bool {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        json.as_bool().ok_or_else(|| expected("a boolean"))
    }
}

impl FromJson for () {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        json.is_null().then_some(()).ok_or_else(|| expected("null"))
    }
}

impl FromJson for Text {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        match json {
            Json::String(text) => Ok(text.clone()),
            _ => Err(expected("a string")),
        }
    }
}

impl FromJson for String {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        Text::from_json(json).map(|text| text.to_string())
    }
}

impl FromJson for Json {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        Ok(json.clone())
    }
}

impl FromJson for Object {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        json.as_object().cloned().ok_or_else(|| expected("an object"))
    }
}

/// `null` is `None`.
impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        match json {
            Json::Null => Ok(None),
            json => T::from_json(json).map(Some),
        }
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        T::from_json(json).map(Box::new)
    }
}

impl<T: FromJson> FromJson for Rc<T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        T::from_json(json).map(Rc::new)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        let array = json.as_array().ok_or_else(|| expected("an array"))?;
        let mut items = Vec::with_capacity(array.len());
        for (index, item) in array.iter().enumerate() {
            items.push(T::from_json(item).map_err(|error| error.inside(&index.to_string()))?);
        }
        Ok(items)
    }
}

/// The members of an object; a key is read as a string is.
fn entries<K: FromJson, T: FromJson>(json: &Json, mut insert: impl FnMut(K, T)) -> Result<(), ConvertError> {
    let object = json.as_object().ok_or_else(|| expected("an object"))?;
    for (key, value) in object {
        let name = K::from_json(&Json::String(key.clone())).map_err(|error| error.inside(key))?;
        insert(name, T::from_json(value).map_err(|error| error.inside(key))?);
    }
    Ok(())
}

impl<K: FromJson + Ord, T: FromJson> FromJson for BTreeMap<K, T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        let mut map = Self::new();
        entries(json, |key, value| drop(map.insert(key, value)))?;
        Ok(map)
    }
}

impl<K: FromJson + Eq + Hash, T: FromJson> FromJson for IndexMap<K, T> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        let mut map = Self::new();
        entries(json, |key, value| drop(map.insert(key, value)))?;
        Ok(map)
    }
}
