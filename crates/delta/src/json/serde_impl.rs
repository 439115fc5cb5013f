//! `Serialize` and `Deserialize` for [`Json`], for foreign formats.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Array, Json, Object, number::integral};
use crate::MAX_DEPTH;

/// Integral numbers are written as integers, so that JSON text shows `1` and not `1.0`.
///
/// # Errors
/// A depth above [`MAX_DEPTH`]: every format recurses.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.deeper_than(MAX_DEPTH) {
            return Err(S::Error::custom(TooDeep));
        }
        Plain(self).serialize(serializer)
    }
}

/// As [`Json`].
impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::Object(self.clone()).serialize(serializer)
    }
}

/// A part of a value whose depth is known to be fine.
struct Plain<'a>(&'a Json);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => match integral(*number) {
                Some(integer) => match u64::try_from(integer) {
                    Ok(unsigned) => serializer.serialize_u64(unsigned),
                    Err(_) => serializer.serialize_i64(integer),
                },
                None => serializer.serialize_f64(*number),
            },
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(array) => {
                let mut seq = serializer.serialize_seq(Some(array.len()))?;
                for item in array {
                    seq.serialize_element(&Plain(item))?;
                }
                seq.end()
            }
            Json::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object {
                    map.serialize_entry(&**key, &Plain(value))?;
                }
                map.end()
            }
        }
    }
}

impl<'de> serde::Deserialize<'de> for Json {
    /// # Errors
    /// A depth above [`MAX_DEPTH`], a number that is not finite, and what the format refuses.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        Within(MAX_DEPTH).deserialize(deserializer)
    }
}

/// Reads a value of at most this depth.
#[derive(Clone, Copy)]
struct Within(usize);

impl Within {
    fn inside<E: serde::de::Error>(self) -> Result<Within, E> {
        self.0
            .checked_sub(1)
            .map(Within)
            .ok_or_else(|| E::custom(TooDeep))
    }
}

impl<'de> DeserializeSeed<'de> for Within {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    // Integers beyond 2^53 round to the nearest double, as JavaScript reads them.
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Json, E> {
        if value.is_finite() {
            Ok(Json::Number(value))
        } else {
            Err(E::custom("number is not finite"))
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let inside = self.inside::<A::Error>()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Json::Array(Array::from(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let inside = self.inside::<A::Error>()?;
        let mut object = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            object.insert(key, map.next_value_seed(inside)?);
        }
        Ok(Json::Object(object))
    }
}

struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nested deeper than {MAX_DEPTH} levels")
    }
}
