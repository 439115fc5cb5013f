//! What `#[derive(FromJson)]` generates calls of.

use super::{ConvertError, FromJson};
use crate::{Json, Object};

/// The members of an object that is being read.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    json: &'a Json,
    object: &'a Object,
}

impl<'a> Members<'a> {
    /// # Errors
    /// `json` is no object.
    pub fn of(json: &'a Json) -> Result<Self, ConvertError> {
        match json {
            Json::Object(object) => Ok(Self { json, object }),
            _ => Err(ConvertError::mismatch("expected an object")),
        }
    }

    /// The name and the content of an externally tagged variant; `None` for what is no object of one member.
    pub fn only_one(json: &'a Json) -> Option<(&'a str, &'a Json)> {
        let mut members = json.as_object()?.iter();
        match (members.next(), members.next()) {
            (Some((name, content)), None) => Some((name, content)),
            _ => None,
        }
    }

    /// # Errors
    /// A member of another name.
    pub fn only(&self, names: &[&str]) -> Result<(), ConvertError> {
        match self.object.iter().find(|(name, _)| !names.contains(&&***name)) {
            None => Ok(()),
            Some((name, _)) => Err(unknown("unknown field", name, names)),
        }
    }

    /// The name of the variant of an internally tagged enum.
    ///
    /// # Errors
    /// The member is absent or no string.
    pub fn tag(&self, name: &str) -> Result<&'a str, ConvertError> {
        let tag = self.present(name)?;
        variant_name(tag).map_err(|error| error.inside(name))
    }

    fn present(&self, name: &str) -> Result<&'a Json, ConvertError> {
        self.object
            .get(name)
            .ok_or_else(|| ConvertError::mismatch(&["missing field `", name, "`"].concat()))
    }

    /// A member that must be there.
    ///
    /// # Errors
    /// It is absent or does not fit.
    pub fn required<T: FromJson>(&self, name: &str) -> Result<T, ConvertError> {
        self.required_with(name, T::from_json)
    }

    /// A member that must be there, read by `read`.
    ///
    /// # Errors
    /// It is absent or does not fit.
    pub fn required_with<T>(
        &self,
        name: &str,
        read: fn(&Json) -> Result<T, ConvertError>,
    ) -> Result<T, ConvertError> {
        read(self.present(name)?).map_err(|error| error.inside(name))
    }

    /// A member that may be absent, read by `read`.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn optional_with<T>(
        &self,
        name: &str,
        read: fn(&Json) -> Result<T, ConvertError>,
    ) -> Result<Option<T>, ConvertError> {
        match self.object.get(name) {
            None => Ok(None),
            Some(value) => read(value).map(Some).map_err(|error| error.inside(name)),
        }
    }

    /// A member, or the default of its type.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn or_default<T: FromJson + Default>(&self, name: &str) -> Result<T, ConvertError> {
        Ok(self.optional_with(name, T::from_json)?.unwrap_or_default())
    }

    /// A member, or `default`.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn or<T: FromJson>(&self, name: &str, default: T) -> Result<T, ConvertError> {
        Ok(self.optional_with(name, T::from_json)?.unwrap_or(default))
    }

    /// A value whose members stand among these.
    ///
    /// # Errors
    /// It does not fit.
    pub fn flattened<T: FromJson>(&self) -> Result<T, ConvertError> {
        T::from_json(self.json)
    }
}

/// The name of a variant.
///
/// # Errors
/// `json` is no string.
pub fn variant_name(json: &Json) -> Result<&str, ConvertError> {
    json.as_str()
        .ok_or_else(|| ConvertError::mismatch("expected the name of a variant"))
}

/// `json` itself, also when it is `null`: for members whose `null` and absence differ (`#[json(with = "present")]`).
///
/// # Errors
/// None.
pub fn present(json: &Json) -> Result<Option<Json>, ConvertError> {
    Ok(Some(json.clone()))
}

pub(super) fn unknown(what: &str, found: &str, known: &[&str]) -> ConvertError {
    ConvertError::mismatch(
        &[
            what,
            " `",
            found,
            "`, expected one of `",
            &known.join("`, `"),
            "`",
        ]
        .concat(),
    )
}
