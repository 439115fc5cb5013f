//! A JSON value together with its path, so that every problem names its place.

use super::ConfigError;
use std::collections::BTreeMap;
use tidehold_delta::{Json, MAX_SAFE_INTEGER};

/// A value at a path.
pub struct At<'a> {
    value: &'a Json,
    path: String,
}

impl<'a> At<'a> {
    pub fn root(value: &'a Json) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    /// A problem at this path.
    pub fn problem(&self, message: impl Into<String>) -> ConfigError {
        let path = match self.path.is_empty() {
            true => "TIDEHOLD_CONFIG".to_owned(),
            false => self.path.clone(),
        };
        ConfigError {
            path,
            message: message.into(),
        }
    }

    pub fn json(&self) -> &'a Json {
        self.value
    }

    fn child(&self, name: &str, value: &'a Json) -> At<'a> {
        let path = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        };
        At { value, path }
    }

    /// The members of an object that has no others than `known`.
    pub fn members(&self, known: &[&str]) -> Result<Members<'a>, ConfigError> {
        let named = self.named()?;
        if let Some((name, value)) = named.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(value.problem(format!("unknown member \"{name}\"")));
        }
        Ok(Members {
            owner: self.problem(""),
            named,
        })
    }

    /// The members of an object with free names.
    pub fn named(&self) -> Result<BTreeMap<String, At<'a>>, ConfigError> {
        let object = self
            .value
            .as_object()
            .ok_or_else(|| self.problem("must be an object"))?;
        Ok(object
            .iter()
            .map(|(name, value)| (name.to_string(), self.child(name, value)))
            .collect())
    }

    pub fn items(&self) -> Result<Vec<At<'a>>, ConfigError> {
        let array = self
            .value
            .as_array()
            .ok_or_else(|| self.problem("must be an array"))?;
        Ok(array
            .iter()
            .enumerate()
            .map(|(index, value)| self.child(&index.to_string(), value))
            .collect())
    }

    pub fn string(&self) -> Result<String, ConfigError> {
        match self.value.as_str() {
            Some("") => Err(self.problem("must not be empty")),
            Some(text) => Ok(text.to_owned()),
            None => Err(self.problem("must be a string")),
        }
    }

    pub fn strings(&self) -> Result<Vec<String>, ConfigError> {
        self.items()?.iter().map(At::string).collect()
    }

    /// An integer from `least` to `most`.
    pub fn integer(&self, least: u64, most: u64) -> Result<u64, ConfigError> {
        match self.value.as_u64() {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            _ if most == MAX_SAFE_INTEGER => {
                Err(self.problem(format!("must be an integer of at least {least}")))
            }
            _ => Err(self.problem(format!("must be an integer from {least} to {most}"))),
        }
    }

    pub fn boolean(&self) -> Result<bool, ConfigError> {
        self.value
            .as_bool()
            .ok_or_else(|| self.problem("must be true or false"))
    }

    /// One of a few words, by its name.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ConfigError> {
        let found = words.iter().find(|(name, _)| self.value.as_str() == Some(name));
        found.map(|(_, word)| *word).ok_or_else(|| {
            let names: Vec<_> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.problem(format!("must be one of {}", names.join(", ")))
        })
    }
}

/// Members of one object, each read once.
pub struct Members<'a> {
    owner: ConfigError,
    named: BTreeMap<String, At<'a>>,
}

impl<'a> Members<'a> {
    pub fn get(&self, name: &str) -> Option<&At<'a>> {
        self.named.get(name)
    }

    pub fn required(&self, name: &str) -> Result<&At<'a>, ConfigError> {
        self.get(name).ok_or_else(|| ConfigError {
            path: self.owner.path.clone(),
            message: format!("member \"{name}\" is missing"),
        })
    }

    /// `read` applied to the member where it is present.
    pub fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&At<'a>) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        self.get(name).map(read).transpose()
    }
}
