//! The deserializer over a borrowed [`Json`].

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, Unexpected, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::ConvertError;
use crate::{Json, Text};

type Result<T> = std::result::Result<T, ConvertError>;

/// Deserializes one value. Strings are lent to the visitor, not copied.
#[derive(Clone, Copy)]
pub(super) struct Reader<'de>(pub(super) &'de Json);

impl<'de> IntoDeserializer<'de, ConvertError> for Reader<'de> {
    type Deserializer = Reader<'de>;

    fn into_deserializer(self) -> Reader<'de> {
        self
    }
}

impl<'de> Reader<'de> {
    fn unexpected(self) -> Unexpected<'de> {
        match self.0 {
            Json::Null => Unexpected::Unit,
            Json::Bool(value) => Unexpected::Bool(*value),
            Json::Number(number) => Unexpected::Float(*number),
            Json::String(text) => Unexpected::Str(text),
            Json::Array(_) => Unexpected::Seq,
            Json::Object(_) => Unexpected::Map,
        }
    }
}

fn entry<'de>((key, value): (&'de Text, &'de Json)) -> (Key<'de>, Reader<'de>) {
    (Key(key), Reader(value))
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ConvertError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Json::Null => visitor.visit_unit(),
            Json::Bool(value) => visitor.visit_bool(*value),
            // Integer fields accept only integer visits; floating-point fields accept both.
            Json::Number(number) => match (self.0.as_u64(), self.0.as_i64()) {
                (Some(unsigned), _) => visitor.visit_u64(unsigned),
                (None, Some(signed)) => visitor.visit_i64(signed),
                (None, None) => visitor.visit_f64(*number),
            },
            Json::String(text) => visitor.visit_borrowed_str(text),
            Json::Array(array) => {
                let mut items = SeqDeserializer::new(array.iter().map(Reader));
                let value = visitor.visit_seq(&mut items)?;
                items.end()?;
                Ok(value)
            }
            Json::Object(object) => {
                let mut members = MapDeserializer::new(object.iter().map(entry));
                let value = visitor.visit_map(&mut members)?;
                members.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.0.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.0 {
            Json::String(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Json::Object(object) => {
                let mut members = object.iter();
                match (members.next(), members.next()) {
                    (Some((name, content)), None) => visitor.visit_enum(Tagged { name, content }),
                    _ => Err(ConvertError::custom(
                        "expected an object with the variant as its only key",
                    )),
                }
            }
            _ => Err(ConvertError::invalid_type(
                self.unexpected(),
                &"a string or an object",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier
    }
}

/// A member name, for keys that are strings, newtypes around strings, or unit variants.
struct Key<'de>(&'de str);

impl<'de> IntoDeserializer<'de, ConvertError> for Key<'de> {
    type Deserializer = Key<'de>;

    fn into_deserializer(self) -> Key<'de> {
        self
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = ConvertError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// `{name: content}`: an externally tagged variant with data.
struct Tagged<'de> {
    name: &'de str,
    content: &'de Json,
}

impl<'de> EnumAccess<'de> for Tagged<'de> {
    type Error = ConvertError;
    type Variant = Reader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Reader<'de>)> {
        let variant = seed.deserialize(BorrowedStrDeserializer::<ConvertError>::new(self.name))?;
        Ok((variant, Reader(self.content)))
    }
}

impl<'de> VariantAccess<'de> for Reader<'de> {
    type Error = ConvertError;

    fn unit_variant(self) -> Result<()> {
        if self.0.is_null() {
            return Ok(());
        }
        Err(ConvertError::invalid_type(
            self.unexpected(),
            &"a variant without content",
        ))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        match self.0 {
            Json::Array(_) => self.deserialize_any(visitor),
            _ => Err(ConvertError::invalid_type(self.unexpected(), &"a tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        match self.0 {
            Json::Object(_) => self.deserialize_any(visitor),
            _ => Err(ConvertError::invalid_type(self.unexpected(), &"a struct variant")),
        }
    }
}
