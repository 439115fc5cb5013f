//! Request headers in layers.

use crate::model::HeaderMap;
use indexmap::IndexMap;

/// Headers by lowercase name; a later layer replaces or removes what an earlier one set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers(IndexMap<String, String>);

impl Headers {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_ascii_lowercase(), value.to_owned());
    }

    /// A layer: `None` removes.
    pub(crate) fn merge(&mut self, layer: Option<&HeaderMap>) {
        for (name, value) in layer.into_iter().flatten() {
            match value {
                Some(value) => self.set(name, value),
                None => drop(self.0.shift_remove(&name.to_ascii_lowercase())),
            }
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn into_vec(self) -> Vec<(String, String)> {
        self.0.into_iter().collect()
    }
}
