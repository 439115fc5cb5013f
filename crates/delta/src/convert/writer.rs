//! The serializer that builds [`Json`].

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::key::KeyWriter;
use super::{ConvertError, ConvertProblem};
use crate::{Json, MAX_SAFE_INTEGER, Object, Text};

type Result<T> = std::result::Result<T, ConvertError>;

/// Serializes one value of at most `levels` containers.
#[derive(Clone, Copy)]
pub(super) struct Writer {
    pub(super) levels: usize,
}

impl Writer {
    /// The writer for the children of a container.
    fn inside(self) -> Result<Writer> {
        self.levels
            .checked_sub(1)
            .map(|levels| Writer { levels })
            .ok_or_else(|| ConvertProblem::Depth.into())
    }

    fn items(self, variant: Option<&'static str>, length: Option<usize>) -> Result<Items> {
        // An announced length is only a hint and may come from hostile data.
        let items = Vec::with_capacity(length.unwrap_or(0).min(1024));
        Ok(Items {
            inside: self.nested(variant)?,
            items,
            variant,
        })
    }

    fn members(self, variant: Option<&'static str>) -> Result<Members> {
        Ok(Members {
            inside: self.nested(variant)?,
            object: Object::new(),
            key: None,
            variant,
        })
    }

    fn nested(self, variant: Option<&'static str>) -> Result<Writer> {
        let inside = self.inside()?;
        if variant.is_some() {
            inside.inside()
        } else {
            Ok(inside)
        }
    }
}

fn signed(value: i64) -> Result<Json> {
    if value.unsigned_abs() <= MAX_SAFE_INTEGER {
        Ok(Json::Number(value as f64))
    } else {
        Err(ConvertProblem::Integer(value.to_string()).into())
    }
}

fn unsigned(value: u64) -> Result<Json> {
    if value <= MAX_SAFE_INTEGER {
        Ok(Json::Number(value as f64))
    } else {
        Err(ConvertProblem::Integer(value.to_string()).into())
    }
}

/// `{variant: value}`, or the value itself outside an enum.
fn tagged(variant: Option<&'static str>, value: Json) -> Json {
    match variant {
        Some(variant) => Json::object([(variant, value)]),
        None => value,
    }
}

/// An array under construction.
pub(super) struct Items {
    inside: Writer,
    items: Vec<Json>,
    variant: Option<&'static str>,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.items.push(value.serialize(self.inside)?);
        Ok(())
    }

    fn finish(self) -> Json {
        tagged(self.variant, Json::Array(self.items.into()))
    }
}

/// An object under construction.
pub(super) struct Members {
    inside: Writer,
    object: Object,
    key: Option<Text>,
    variant: Option<&'static str>,
}

impl Members {
    fn put<T: Serialize + ?Sized>(&mut self, key: impl Into<Text>, value: &T) -> Result<()> {
        let value = value.serialize(self.inside)?;
        self.object.insert(key, value);
        Ok(())
    }

    fn finish(self) -> Json {
        tagged(self.variant, Json::Object(self.object))
    }
}

impl Serializer for Writer {
    type Ok = Json;
    type Error = ConvertError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    fn serialize_bool(self, v: bool) -> Result<Json> {
        Ok(Json::Bool(v))
    }
    fn serialize_i8(self, v: i8) -> Result<Json> {
        signed(v.into())
    }
    fn serialize_i16(self, v: i16) -> Result<Json> {
        signed(v.into())
    }
    fn serialize_i32(self, v: i32) -> Result<Json> {
        signed(v.into())
    }
    fn serialize_i64(self, v: i64) -> Result<Json> {
        signed(v)
    }
    fn serialize_u8(self, v: u8) -> Result<Json> {
        unsigned(v.into())
    }
    fn serialize_u16(self, v: u16) -> Result<Json> {
        unsigned(v.into())
    }
    fn serialize_u32(self, v: u32) -> Result<Json> {
        unsigned(v.into())
    }
    fn serialize_u64(self, v: u64) -> Result<Json> {
        unsigned(v)
    }
    fn serialize_f32(self, v: f32) -> Result<Json> {
        self.serialize_f64(v.into())
    }
    fn serialize_f64(self, v: f64) -> Result<Json> {
        if v.is_finite() {
            Ok(Json::Number(v))
        } else {
            Err(ConvertProblem::NotFinite.into())
        }
    }
    fn serialize_char(self, v: char) -> Result<Json> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result<Json> {
        Ok(Json::from(v))
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<Json> {
        self.inside()?;
        Ok(Json::array(v.iter().map(|byte| Json::Number(f64::from(*byte)))))
    }
    fn serialize_none(self) -> Result<Json> {
        Ok(Json::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Json> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Json> {
        Ok(Json::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Json> {
        Ok(Json::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Json> {
        Ok(Json::from(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Json> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Json> {
        Ok(tagged(Some(variant), value.serialize(self.inside()?)?))
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<Items> {
        self.items(None, length)
    }
    fn serialize_tuple(self, length: usize) -> Result<Items> {
        self.items(None, Some(length))
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items> {
        self.items(None, Some(length))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Items> {
        self.items(Some(variant), Some(length))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Members> {
        self.members(None)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members> {
        self.members(None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members> {
        self.members(Some(variant))
    }
}

impl SerializeMap for Members {
    type Ok = Json;
    type Error = ConvertError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.key = Some(key.serialize(KeyWriter)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let key = self.key.take().ok_or(ConvertProblem::Key)?;
        self.put(key, value)
    }
    fn end(self) -> Result<Json> {
        Ok(self.finish())
    }
}

macro_rules! collects {
    ($kind:ident for $builder:ident: $method:ident) => {
        impl $kind for $builder {
            type Ok = Json;
            type Error = ConvertError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.push(value)
            }
            fn end(self) -> Result<Json> {
                Ok(self.finish())
            }
        }
    };
    ($kind:ident for $builder:ident: named $method:ident) => {
        impl $kind for $builder {
            type Ok = Json;
            type Error = ConvertError;

            fn $method<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                self.put(key, value)
            }
            fn end(self) -> Result<Json> {
                Ok(self.finish())
            }
        }
    };
}

collects!(SerializeSeq for Items: serialize_element);
collects!(SerializeTuple for Items: serialize_element);
collects!(SerializeTupleStruct for Items: serialize_field);
collects!(SerializeTupleVariant for Items: serialize_field);
collects!(SerializeStruct for Members: named serialize_field);
collects!(SerializeStructVariant for Members: named serialize_field);
