//! Map keys: only what serializes as a string.

use serde::Serialize;
use serde::ser::{Impossible, Serializer};

use super::{ConvertError, ConvertProblem};
use crate::Text;

type Result<T> = std::result::Result<T, ConvertError>;

/// Serializes a key: strings, characters, unit variants, and newtypes around them.
pub(super) struct KeyWriter;

macro_rules! refused {
    ($($method:ident: $kind:ty),* $(,)?) => {
        $(fn $method(self, _: $kind) -> Result<Text> {
            Err(ConvertProblem::Key.into())
        })*
    };
}

impl Serializer for KeyWriter {
    type Ok = Text;
    type Error = ConvertError;
    type SerializeSeq = Impossible<Text, ConvertError>;
    type SerializeTuple = Impossible<Text, ConvertError>;
    type SerializeTupleStruct = Impossible<Text, ConvertError>;
    type SerializeTupleVariant = Impossible<Text, ConvertError>;
    type SerializeMap = Impossible<Text, ConvertError>;
    type SerializeStruct = Impossible<Text, ConvertError>;
    type SerializeStructVariant = Impossible<Text, ConvertError>;

    fn serialize_str(self, v: &str) -> Result<Text> {
        Ok(v.into())
    }
    fn serialize_char(self, v: char) -> Result<Text> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Text> {
        Ok(variant.into())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Text> {
        value.serialize(self)
    }

    // A number would have to be printed into a string, and `1` and `"1"` would become one key.
    refused! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64, serialize_bytes: &[u8], serialize_unit_struct: &'static str,
    }

    fn serialize_none(self) -> Result<Text> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<Text> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_unit(self) -> Result<Text> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Text> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct> {
        Err(ConvertProblem::Key.into())
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        Err(ConvertProblem::Key.into())
    }
}
