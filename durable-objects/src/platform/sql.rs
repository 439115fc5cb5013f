//! [`SqlDriver`] over the object's SQLite.

use crate::platform::storage::{ObjectCursor, ObjectParams, ObjectSql, ObjectStorage, describe};
use js_sys::{Array, JsString, Uint8Array};
use std::cell::{Cell, RefCell};
use std::panic::AssertUnwindSafe;
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Value};
use wasm_bindgen::{JsCast, JsValue};

/// The database of one object.
pub struct ObjectDriver {
    storage: ObjectStorage,
    sql: ObjectSql,
    // By statement id. Per object and never shared: a JavaScript handle belongs to the context that made it
    // (invariant 11).
    texts: RefCell<Vec<Option<JsString>>>,
    rows_written: Cell<u64>,
}

impl ObjectDriver {
    pub fn new(storage: ObjectStorage) -> Self {
        let sql = storage.sql();
        Self {
            storage,
            sql,
            texts: RefCell::default(),
            rows_written: Cell::new(0),
        }
    }

    /// Bytes of the database, free pages included.
    pub fn database_size(&self) -> u64 {
        self.sql.database_size() as u64
    }

    /// Starts a statement. One that returns no rows has then run to its end.
    fn start(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<ObjectCursor, SqlError> {
        let bound = ObjectParams::new();
        for param in params {
            bind(&bound, param);
        }
        let mut texts = self.texts.borrow_mut();
        if texts.len() <= statement.id {
            texts.resize(statement.id + 1, None);
        }
        let cursor = match texts.get_mut(statement.id) {
            Some(text) => {
                let text = text.get_or_insert_with(|| JsString::from(statement.sql));
                self.sql.exec(text, &bound)
            }
            None => self.sql.exec(&JsString::from(statement.sql), &bound),
        };
        cursor.map_err(failed)
    }
}

impl SqlDriver for ObjectDriver {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        let cursor = self.start(statement, params)?;
        let rows = cursor.raw().and_then(|rows| rows.to_array()).map_err(failed)?;
        rows.iter().map(|row| read_row(&row)).collect()
    }

    fn execute(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<(), SqlError> {
        let cursor = self.start(statement, params)?;
        self.rows_written
            .set(self.rows_written.get() + cursor.rows_written() as u64);
        Ok(())
    }

    fn transaction(&self, body: &mut dyn FnMut() -> Result<(), SqlError>) -> Result<(), SqlError> {
        // The runtime rolls back on an exception and throws it on; the error itself is kept beside it, so that it
        // does not pass through JavaScript. A panic in `body` comes back as a thrown error too: the transaction is
        // gone and every storage error is fatal to the session, so nothing half done is looked at again.
        let mut failure = None;
        let mut parts = AssertUnwindSafe((body, &mut failure));
        let outcome = self.storage.transaction_sync(&mut move || {
            let parts = &mut parts;
            let (body, failure) = &mut **parts;
            match body() {
                Ok(()) => Ok(JsValue::UNDEFINED),
                Err(error) => {
                    **failure = Some(error);
                    Err(JsValue::from_str("rolled back"))
                }
            }
        });
        match (failure, outcome) {
            (Some(error), _) => Err(error),
            (None, Err(thrown)) => Err(failed(thrown)),
            (None, Ok(_)) => Ok(()),
        }
    }

    fn rows_written(&self) -> u64 {
        self.rows_written.get()
    }
}

fn failed(thrown: JsValue) -> SqlError {
    SqlError(describe(&thrown))
}

/// The largest integer of the schema: one above the largest id, as the mark of an exhausted id space. A double is exact
/// up to and including it.
const LARGEST: f64 = js_sys::Number::MAX_SAFE_INTEGER + 1.0;

fn bind(bound: &ObjectParams, param: &Param<'_>) {
    match param {
        Param::Null => bound.push(&JsValue::NULL),
        // Exact: every integer of the schema is within ±LARGEST.
        Param::Integer(number) => bound.push_number(*number as f64),
        Param::Text(text) => bound.push_text(text),
        Param::Blob(bytes) => bound.push(&Uint8Array::from(*bytes)),
    }
}

fn read_row(row: &JsValue) -> Result<Row, SqlError> {
    row.unchecked_ref::<Array>()
        .iter()
        .map(|cell| read_cell(&cell))
        .collect()
}

fn read_cell(cell: &JsValue) -> Result<Value, SqlError> {
    if let Some(text) = cell.as_string() {
        return Ok(Value::Text(text));
    }
    if let Some(number) = cell.as_f64() {
        return match number.fract() == 0.0 && number.abs() <= LARGEST {
            true => Ok(Value::Integer(number as i64)),
            false => Err(SqlError(format!("{number} is no integer of the schema"))),
        };
    }
    if cell.is_null() {
        return Ok(Value::Null);
    }
    match cell.dyn_ref::<js_sys::ArrayBuffer>() {
        Some(buffer) => Ok(Value::Blob(Uint8Array::new(buffer).to_vec())),
        None => Err(SqlError(format!("unexpected cell {cell:?}"))),
    }
}
