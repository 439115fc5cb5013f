//! Reads a configuration value and knows where it stands.

use super::{CatalogError, CatalogProblem};
use tidehold_delta::{FromJson, Json};

/// A value and its path.
pub(super) struct Reader<'a> {
    value: &'a Json,
    path: String,
}

impl<'a> Reader<'a> {
    pub(super) fn new(value: &'a Json, path: &str) -> Self {
        Self {
            value,
            path: path.to_owned(),
        }
    }

    pub(super) fn error(&self, problem: CatalogProblem) -> CatalogError {
        CatalogError {
            path: self.path.clone(),
            problem,
        }
    }

    fn expected(&self, what: &'static str) -> CatalogError {
        self.error(CatalogProblem::Expected(what))
    }

    /// A member that may be absent; `null` counts as absent.
    pub(super) fn optional(&self, name: &str) -> Option<Reader<'a>> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(Reader {
            value,
            path: format!("{}.{name}", self.path),
        })
    }

    pub(super) fn required(&self, name: &str) -> Result<Reader<'a>, CatalogError> {
        self.object()?;
        let path = format!("{}.{name}", self.path);
        self.optional(name).ok_or(CatalogError {
            path,
            problem: CatalogProblem::Missing,
        })
    }

    /// The members of an object, in order.
    pub(super) fn members(&self) -> Result<Vec<(String, Reader<'a>)>, CatalogError> {
        let object = self.value.as_object().ok_or_else(|| self.expected("an object"))?;
        let member = |(key, value): (&_, &'a Json)| {
            let key: &tidehold_delta::Text = key;
            (
                key.to_string(),
                Reader {
                    value,
                    path: format!("{}.{key}", self.path),
                },
            )
        };
        Ok(object.iter().map(member).collect())
    }

    pub(super) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn object(&self) -> Result<Json, CatalogError> {
        self.value
            .as_object()
            .map(|_| self.value.clone())
            .ok_or_else(|| self.expected("an object"))
    }

    pub(super) fn text(&self) -> Result<String, CatalogError> {
        let text = self.value.as_str().filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| self.expected("a text"))
    }

    pub(super) fn boolean(&self) -> Result<bool, CatalogError> {
        self.value.as_bool().ok_or_else(|| self.expected("true or false"))
    }

    pub(super) fn count(&self) -> Result<u64, CatalogError> {
        self.value
            .as_u64()
            .ok_or_else(|| self.expected("a whole number of tokens"))
    }

    pub(super) fn typed<T: FromJson>(&self, what: &'static str) -> Result<T, CatalogError> {
        self.value.to_typed().map_err(|_| self.expected(what))
    }
}
