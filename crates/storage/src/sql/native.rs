//! The driver over rusqlite, for tests, benchmarks and hosts that are not objects.

use super::driver::{Param, Row, SqlDriver, SqlError, Value};
use super::statements::{Statement, native as sql};
use super::writes::Writes;
use rusqlite::Connection;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use std::cell::{Cell, RefCell};
use std::path::Path;

/// What survives a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Every acknowledged commit: a flush to disk each.
    PowerLoss,
    /// A consistent prefix of the commits; all of them after a mere crash of the process.
    ProcessCrash,
}

/// One connection. Rows written are computed by the statements' own [`bill`](Statement::bill), since the engine counts
/// only changed rows; rolled back writes are included.
pub struct NativeDriver {
    connection: RefCell<Option<Connection>>,
    billed: Cell<u64>,
}

impl NativeDriver {
    /// An empty database in memory, gone with the driver.
    pub fn in_memory() -> Result<Self, SqlError> {
        Ok(Self::over(Connection::open_in_memory().map_err(failed)?))
    }

    /// The database in a file, created when absent. Write-ahead logging, so that readers never wait.
    pub fn file(path: &Path, durability: Durability) -> Result<Self, SqlError> {
        let connection = Connection::open(path).map_err(failed)?;
        let synchronous = match durability {
            Durability::PowerLoss => sql::SYNCHRONOUS_FULL,
            Durability::ProcessCrash => sql::SYNCHRONOUS_NORMAL,
        };
        connection.execute_batch(sql::WAL).map_err(failed)?;
        connection.execute_batch(synchronous).map_err(failed)?;
        Ok(Self::over(connection))
    }

    fn over(connection: Connection) -> Self {
        // All statements of the schema, with room for those of the transaction.
        connection.set_prepared_statement_cache_capacity(super::statements::STATEMENTS.len() + 8);
        Self {
            connection: RefCell::new(Some(connection)),
            billed: Cell::new(0),
        }
    }

    /// Whether the schema holds any object, a table or an index.
    pub fn has_objects(&self) -> Result<bool, SqlError> {
        self.with(|connection| {
            connection
                .query_row(sql::COUNT_OBJECTS, [], |row| row.get::<_, i64>(0))
                .map(|count| count > 0)
        })
    }

    /// Runs `body` on the connection, for tests that look inside or do damage.
    pub fn with<T>(&self, body: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, SqlError> {
        match &*self.connection.borrow() {
            Some(connection) => body(connection).map_err(failed),
            None => Err(SqlError("the connection is closed".into())),
        }
    }
}

impl SqlDriver for NativeDriver {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        self.with(|connection| {
            let mut prepared = connection.prepare_cached(statement.sql)?;
            let width = prepared.column_count();
            let mut found = prepared.query(rusqlite::params_from_iter(params))?;
            let mut rows = Vec::new();
            while let Some(row) = found.next()? {
                rows.push(
                    (0..width)
                        .map(|column| value(row.get_ref(column)?))
                        .collect::<Result<Row, _>>()?,
                );
            }
            Ok(rows)
        })
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        let run = |sql: &str| self.with(|connection| connection.prepare_cached(sql)?.execute([]));
        run(sql::BEGIN)?;
        let written = writes.steps().try_for_each(|(statement, cells)| {
            let params = cells.iter().map(|cell| writes.param(*cell));
            let changed = self.with(|connection| {
                let mut prepared = connection.prepare_cached(statement.sql)?;
                prepared.execute(rusqlite::params_from_iter(params))
            })?;
            let billed = statement.bill.of(cells, changed as u64);
            self.billed.set(self.billed.get() + billed);
            Ok(())
        });
        let ended = written.and_then(|()| run(sql::COMMIT).map(drop));
        if ended.is_err() {
            // The engine may have rolled back already; then there is nothing left to undo.
            let _ = run(sql::ROLLBACK);
        }
        ended
    }

    fn rows_written(&self) -> u64 {
        self.billed.get()
    }

    fn close(&self) -> Result<(), SqlError> {
        match self.connection.take().map(Connection::close) {
            Some(Err((_, error))) => Err(failed(error)),
            _ => Ok(()),
        }
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(value: ValueRef<'_>) -> rusqlite::Result<Value> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Text(_) => Value::Text(value.as_str()?.into()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        ValueRef::Real(_) => return Err(rusqlite::Error::InvalidQuery),
    })
}

fn failed(error: rusqlite::Error) -> SqlError {
    SqlError(error.to_string())
}
