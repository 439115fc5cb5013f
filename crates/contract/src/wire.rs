//! One source for a type, its JSON and its schema: [`wire_struct!`] and [`wire_enum!`] write all three from one list.
//!
//! A derive macro would need a crate of its own and a reader of attributes; two declarative macros say the same in the
//! place where the type stands.

use crate::schema;
use tidehold_delta::{Json, Text};

/// A type with a JSON form and the schema of that form.
pub(crate) trait Wire: Sized {
    /// Whether an object must have the member.
    const REQUIRED: bool = true;

    /// JSON Schema of the form.
    fn schema() -> Json;

    /// The form; `None` leaves the member out.
    fn write(&self) -> Option<Json>;

    /// Reads a checked form; `None` when it does not fit after all.
    fn read(value: Option<&Json>) -> Option<Self>;
}

/// A member of an object: name, schema, and whether it must be there.
pub(crate) struct Member {
    pub key: &'static str,
    pub required: bool,
    pub schema: Json,
}

/// A struct whose members are JSON members: `name: Type as "key"`, optionally `= schema` where the type says too little.
macro_rules! wire_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $field:ident : $type:ty as $key:literal $(= $schema:expr)? ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $( $(#[$doc])* pub $field: $type, )* }

        impl $name {
            /// The members in order.
            #[allow(dead_code, reason = "only schemas made of variants ask for single members")]
            pub(crate) fn members() -> Vec<$crate::wire::Member> {
                vec![ $( $crate::wire::Member {
                    key: $key,
                    required: <$type as $crate::wire::Wire>::REQUIRED,
                    schema: $crate::wire::wire_struct!(@schema $type $(, $schema)?),
                } ),* ]
            }
        }

        impl $crate::wire::Wire for $name {
            fn schema() -> tidehold_delta::Json {
                $crate::schema::object(Self::members())
            }

            fn write(&self) -> Option<tidehold_delta::Json> {
                let mut members = tidehold_delta::Object::new();
                $( if let Some(value) = $crate::wire::Wire::write(&self.$field) {
                    members.insert($key, value);
                } )*
                Some(tidehold_delta::Json::Object(members))
            }

            fn read(value: Option<&tidehold_delta::Json>) -> Option<Self> {
                let members = value?.as_object()?;
                Some(Self { $( $field: $crate::wire::Wire::read(members.get($key))?, )* })
            }
        }
    };
    (@schema $type:ty) => { <$type as $crate::wire::Wire>::schema() };
    (@schema $type:ty, $schema:expr) => { $schema };
}

/// An enum whose variants are JSON strings.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$doc:meta])* $variant:ident = $text:literal ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$doc])* $variant, )* }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )* ];

            /// The JSON string.
            pub fn name(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }

        impl $crate::wire::Wire for $name {
            fn schema() -> tidehold_delta::Json {
                $crate::schema::one_of(Self::ALL.iter().map(|variant| variant.name()))
            }

            fn write(&self) -> Option<tidehold_delta::Json> {
                Some(tidehold_delta::Json::from(self.name()))
            }

            fn read(value: Option<&tidehold_delta::Json>) -> Option<Self> {
                let text = value?.as_str()?;
                Self::ALL.iter().copied().find(|variant| variant.name() == text)
            }
        }
    };
}

pub(crate) use {wire_enum, wire_struct};

impl<T: Wire> Wire for Option<T> {
    const REQUIRED: bool = false;

    fn schema() -> Json {
        T::schema()
    }

    fn write(&self) -> Option<Json> {
        self.as_ref().and_then(T::write)
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        match value {
            None => Some(None),
            Some(value) => T::read(Some(value)).map(Some),
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn schema() -> Json {
        schema::array(T::schema())
    }

    fn write(&self) -> Option<Json> {
        Some(Json::array(self.iter().filter_map(T::write)))
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        value?
            .as_array()?
            .iter()
            .map(|item| T::read(Some(item)))
            .collect()
    }
}

impl Wire for Text {
    fn schema() -> Json {
        schema::text()
    }

    fn write(&self) -> Option<Json> {
        Some(Json::String(self.clone()))
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        match value? {
            Json::String(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl Wire for bool {
    fn schema() -> Json {
        schema::boolean()
    }

    fn write(&self) -> Option<Json> {
        Some(Json::from(*self))
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        value?.as_bool()
    }
}

impl Wire for u64 {
    fn schema() -> Json {
        schema::integer(0, None)
    }

    fn write(&self) -> Option<Json> {
        Some(Json::from(*self))
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        value?.as_u64()
    }
}

impl Wire for f64 {
    fn schema() -> Json {
        schema::number()
    }

    fn write(&self) -> Option<Json> {
        Some(Json::from(*self))
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        value?.as_f64()
    }
}

/// Any value, `null` included: presence is what counts.
impl Wire for Json {
    fn schema() -> Json {
        Json::empty_object()
    }

    fn write(&self) -> Option<Json> {
        Some(self.clone())
    }

    fn read(value: Option<&Json>) -> Option<Self> {
        value.cloned()
    }
}
