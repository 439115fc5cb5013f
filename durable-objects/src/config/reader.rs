//! A JSON value together with its place, so that every problem names its path.

use super::ConfigError;
use tidehold_delta::{Json, MAX_SAFE_INTEGER};

/// A value at a place. The path is only spelled out for a problem.
#[derive(Clone, Copy)]
pub struct At<'a> {
    value: &'a Json,
    place: Place<'a>,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Root,
    Member(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    pub fn root(value: &'a Json) -> Self {
        Self {
            value,
            place: Place::Root,
        }
    }

    /// A problem here.
    pub fn problem(&self, message: impl Into<String>) -> ConfigError {
        let path = self.path();
        ConfigError {
            path: if path.is_empty() {
                "TIDEHOLD_CONFIG".to_owned()
            } else {
                path
            },
            message: message.into(),
        }
    }

    fn path(&self) -> String {
        let (owner, name) = match self.place {
            Place::Root => return String::new(),
            Place::Member(owner, name) => (owner, name.to_owned()),
            Place::Item(owner, index) => (owner, index.to_string()),
        };
        match owner.path() {
            path if path.is_empty() => name,
            path => format!("{path}.{name}"),
        }
    }

    pub fn json(&self) -> &'a Json {
        self.value
    }

    /// Refuses everything but an object without other members than `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        for (name, at) in self.named()? {
            if !known.contains(&name) {
                return Err(at.problem(format!("unknown member \"{name}\"")));
            }
        }
        Ok(())
    }

    /// The members of an object with free names.
    pub fn named(&self) -> Result<impl Iterator<Item = (&str, At<'_>)>, ConfigError> {
        let object = self
            .value
            .as_object()
            .ok_or_else(|| self.problem("must be an object"))?;
        Ok(object.iter().map(|(name, value)| {
            let place = Place::Member(self, name);
            (&**name, At { value, place })
        }))
    }

    pub fn items(&self) -> Result<impl Iterator<Item = At<'_>>, ConfigError> {
        let array = self
            .value
            .as_array()
            .ok_or_else(|| self.problem("must be an array"))?;
        Ok(array.iter().enumerate().map(|(index, value)| At {
            value,
            place: Place::Item(self, index),
        }))
    }

    pub fn get<'b>(&'b self, name: &'b str) -> Option<At<'b>> {
        let value = self.value.get(name)?;
        Some(At {
            value,
            place: Place::Member(self, name),
        })
    }

    pub fn required<'b>(&'b self, name: &'b str) -> Result<At<'b>, ConfigError> {
        self.get(name)
            .ok_or_else(|| self.problem(format!("member \"{name}\" is missing")))
    }

    pub fn string(&self) -> Result<String, ConfigError> {
        match self.value.as_str() {
            Some("") => Err(self.problem("must not be empty")),
            Some(text) => Ok(text.to_owned()),
            None => Err(self.problem("must be a string")),
        }
    }

    pub fn strings(&self) -> Result<Vec<String>, ConfigError> {
        self.items()?.map(|at| at.string()).collect()
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

    /// One of a few words, by its name.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ConfigError> {
        let found = words.iter().find(|(name, _)| self.value.as_str() == Some(name));
        found.map(|(_, word)| *word).ok_or_else(|| {
            let names: Vec<_> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.problem(format!("must be one of {}", names.join(", ")))
        })
    }
}
