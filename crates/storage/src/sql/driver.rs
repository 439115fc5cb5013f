//! The seam to SQLite: what a platform implements, and nothing more.

use super::statements::Statement;
use super::writes::Writes;

/// A bound parameter. No column of the schema holds a real, and every integer is within ±(2^53-1), so a driver over
/// JavaScript numbers loses nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Param<'a> {
    #[default]
    Null,
    Integer(i64),
    Text(&'a str),
    Blob(&'a [u8]),
}

impl From<i64> for Param<'_> {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

/// A column of a result row. A driver that meets a number which is no integer reports an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Text(String),
    Blob(Vec<u8>),
}

/// The columns of a result row, in the order of the statement.
pub type Row = Vec<Value>;

/// What the engine reported, as text. Every one is fatal to the session, so no class is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SqlError(pub String);

/// One SQLite database, owned by one session. Synchronous: in an object SQL is, and a native test may block.
///
/// At most [`STATEMENTS`](super::statements::STATEMENTS)`.len()` different statements ever arrive, so drivers cache
/// what they prepare (or the JavaScript string) by [`Statement::id`].
pub trait SqlDriver {
    /// Runs a statement that reads and returns all its rows. Callers bound their number by `LIMIT` or by key.
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError>;

    /// Runs statements that write, in their order, as one transaction: on an error nothing of them is stored.
    fn apply(&self, writes: &Writes) -> Result<(), SqlError>;

    /// Rows written since the driver was made, as the platform bills them (see [`Statement::bill`]). Rolled back
    /// writes may be included.
    fn rows_written(&self) -> u64;

    /// Releases the database. No call follows.
    fn close(&self) -> Result<(), SqlError> {
        Ok(())
    }
}
