//! [`SqlDriver`] over the object's SQLite.

use crate::platform::storage::{ObjectParams, ObjectSql, ObjectStorage, apply_writes, describe};
use js_sys::{Array, JsString, Uint8Array};
use std::cell::{Cell, RefCell};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::writes::Cell as WriteCell;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Value, Writes};
use wasm_bindgen::{JsCast, JsValue};

/// The database of one object.
pub struct ObjectDriver {
    storage: ObjectStorage,
    sql: ObjectSql,
    statements: Statements,
    rows_written: Cell<u64>,
}

impl ObjectDriver {
    pub fn new(storage: ObjectStorage) -> Self {
        let sql = storage.sql();
        Self {
            storage,
            sql,
            statements: Statements::default(),
            rows_written: Cell::new(0),
        }
    }

    /// Bytes of the database, free pages included.
    pub fn database_size(&self) -> u64 {
        self.sql.database_size() as u64
    }
}

/// The texts of statements as JavaScript has them, by statement id: the runtime's cache goes by the identity of the string.
/// Per object and never shared: a handle belongs to the context that made it (invariant 11).
#[derive(Default)]
struct Statements {
    texts: Array,
    known: RefCell<Vec<bool>>,
}

impl Statements {
    /// Makes sure that `texts` holds the statement, and returns its place.
    fn place(&self, statement: &'static Statement) -> u32 {
        let place = statement.id as u32;
        let mut known = self.known.borrow_mut();
        if known.len() <= statement.id {
            known.resize(statement.id + 1, false);
        }
        if let Some(known) = known.get_mut(statement.id).filter(|known| !**known) {
            self.texts.set(place, JsString::from(statement.sql).into());
            *known = true;
        }
        place
    }

    fn text(&self, statement: &'static Statement) -> JsString {
        self.texts.get(self.place(statement)).unchecked_into()
    }
}

impl SqlDriver for ObjectDriver {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        let bound = ObjectParams::new();
        for param in params {
            bind(&bound, param);
        }
        let cursor = self.sql.exec(&self.statements.text(statement), &bound);
        let rows = cursor
            .and_then(|cursor| cursor.raw())
            .and_then(|rows| rows.to_array())
            .map_err(failed)?;
        rows.iter().map(|row| read_row(&row)).collect()
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        let steps = writes.steps();
        let single = steps.len() == 1;
        let mut plan = Vec::with_capacity(64);
        let mut plain = writes.buffer().is_ascii();
        for (statement, cells) in steps {
            plan.extend([f64::from(self.statements.place(statement)), cells.len() as f64]);
            for cell in cells {
                match *cell {
                    WriteCell::Null => plan.push(0.0),
                    // Exact: every integer of the schema is within ±LARGEST.
                    WriteCell::Integer(number) => plan.extend([1.0, number as f64]),
                    WriteCell::Text(part) => plan.extend([2.0, part.start as f64, part.end as f64]),
                    WriteCell::Blob(part) => {
                        plain = false;
                        plan.extend([3.0, part.start as f64, part.end as f64]);
                    }
                }
            }
        }
        let bytes = writes.buffer().as_bytes();
        let texts = &self.statements.texts;
        let applied = apply_writes(&self.storage, &self.sql, texts, &plan, bytes, plain, single);
        let rows = applied.map_err(failed)?;
        self.rows_written.set(self.rows_written.get() + rows as u64);
        Ok(())
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
