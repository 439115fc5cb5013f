//! Reading rows: from driver values to numbers and text, with corruption instead of surprises.

use super::driver::{Param, Row, SqlDriver, SqlError, Value};
use super::marks::Counters;
use super::statements::Statement;
use crate::limits::MAX_NUMBER;
use tidehold_session::storage::StorageError;

/// Reads through a driver, or, before the first commit, finds no row without asking: the tables may not exist.
pub(super) struct Reader<'a>(Option<&'a dyn SqlDriver>);

impl<'a> Reader<'a> {
    /// Over what a storage holds, which is nothing before its first commit.
    pub(super) fn new(driver: &'a dyn SqlDriver, counters: &Counters) -> Self {
        Self(counters.is_stored().then_some(driver))
    }

    pub(super) fn over(driver: &'a dyn SqlDriver) -> Self {
        Self(Some(driver))
    }

    pub(super) fn rows(
        &self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<Vec<Columns>, StorageError> {
        let Some(driver) = self.0 else {
            return Ok(Vec::new());
        };
        let rows = driver.query(statement, params).map_err(backend)?;
        Ok(rows.into_iter().map(Columns::new).collect())
    }

    pub(super) fn first(
        &self,
        statement: &'static Statement,
        params: &[Param<'_>],
    ) -> Result<Option<Columns>, StorageError> {
        Ok(self.rows(statement, params)?.into_iter().next())
    }
}

/// The columns of one row, taken from left to right.
pub(super) struct Columns(std::vec::IntoIter<Value>);

impl Columns {
    fn new(row: Row) -> Self {
        Self(row.into_iter())
    }

    /// An id, a sequence number, a count.
    pub(super) fn number(&mut self) -> Result<u64, StorageError> {
        self.optional_number()?
            .ok_or_else(|| unexpected("a number", &None))
    }

    pub(super) fn optional_number(&mut self) -> Result<Option<u64>, StorageError> {
        match self.0.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::Integer(integer)) => match u64::try_from(integer) {
                Ok(number) if number <= MAX_NUMBER + 1 => Ok(Some(number)),
                _ => Err(StorageError::Corrupt(format!(
                    "{integer} is stored as an id or count"
                ))),
            },
            other => Err(unexpected("a number", &other)),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, StorageError> {
        self.optional_text()?.ok_or_else(|| unexpected("text", &None))
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<String>, StorageError> {
        match self.0.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            other => Err(unexpected("text", &other)),
        }
    }

    pub(super) fn blob(&mut self) -> Result<Vec<u8>, StorageError> {
        match self.0.next() {
            Some(Value::Blob(bytes)) => Ok(bytes),
            other => Err(unexpected("bytes", &other)),
        }
    }
}

fn unexpected(wanted: &str, found: &Option<Value>) -> StorageError {
    let found = match found {
        None | Some(Value::Null) => "nothing",
        Some(Value::Integer(_)) => "an integer",
        Some(Value::Text(_)) => "text",
        Some(Value::Blob(_)) => "bytes",
    };
    StorageError::Corrupt(format!("a row holds {found} instead of {wanted}"))
}

pub(super) fn backend(error: SqlError) -> StorageError {
    StorageError::Backend(error.0)
}

/// A number that must match exactly, as the parameter of a query or a write. What no id can be matches nothing.
pub(super) fn exact<P: From<i64>>(number: u64) -> P {
    P::from(if number <= MAX_NUMBER { number as i64 } else { -1 })
}

pub(super) fn exact_or_null<P: From<i64> + Default>(number: Option<u64>) -> P {
    number.map(exact).unwrap_or_default()
}

/// A bound of a range or a limit: clamped to just above the largest id.
pub(super) fn bound<P: From<i64>>(number: u64) -> P {
    P::from(number.min(MAX_NUMBER + 1) as i64)
}

pub(super) fn flag<P: From<i64>>(flag: bool) -> P {
    P::from(i64::from(flag))
}

pub(super) fn flag_or_null<P: From<i64> + Default>(value: Option<bool>) -> P {
    value.map(flag).unwrap_or_default()
}

pub(super) fn text_or_null(text: Option<&str>) -> Param<'_> {
    text.map_or(Param::Null, Param::Text)
}
