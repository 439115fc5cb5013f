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

    /// Reads a member that must be there into `slot`. Slots, not results: the values read so far are then in one place, and
    /// what is generated for a type needs one clean-up instead of one for every field.
    ///
    /// # Errors
    /// It is absent or does not fit.
    pub fn required<T: FromJson>(&self, name: &str, slot: &mut Option<T>) -> Result<(), ConvertError> {
        self.required_with(name, slot, T::from_json)
    }

    /// As [`Members::required`], read by `read`.
    ///
    /// # Errors
    /// It is absent or does not fit.
    pub fn required_with<T>(
        &self,
        name: &str,
        slot: &mut Option<T>,
        read: fn(&Json) -> Result<T, ConvertError>,
    ) -> Result<(), ConvertError> {
        self.present(name)?;
        self.optional_with(name, slot, read)
    }

    /// Reads a member into `slot`, which keeps what it holds when the member is absent.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn optional<T: FromJson>(&self, name: &str, slot: &mut Option<T>) -> Result<(), ConvertError> {
        self.optional_with(name, slot, T::from_json)
    }

    /// As [`Members::optional`], read by `read`.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn optional_with<T>(
        &self,
        name: &str,
        slot: &mut Option<T>,
        read: fn(&Json) -> Result<T, ConvertError>,
    ) -> Result<(), ConvertError> {
        if let Some(value) = self.object.get(name) {
            *slot = Some(read(value).map_err(|error| error.inside(name))?);
        }
        Ok(())
    }

    /// Reads a member into `slot`, or puts the default of its type there.
    ///
    /// # Errors
    /// It is there and does not fit.
    pub fn or_default<T: FromJson + Default>(
        &self,
        name: &str,
        slot: &mut Option<T>,
    ) -> Result<(), ConvertError> {
        *slot = Some(T::default());
        self.optional_with(name, slot, T::from_json)
    }

    /// Reads a value whose members stand among these into `slot`.
    ///
    /// # Errors
    /// It does not fit.
    pub fn flattened<T: FromJson>(&self, slot: &mut Option<T>) -> Result<(), ConvertError> {
        *slot = Some(T::from_json(self.json)?);
        Ok(())
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
