//! The product's driver, with each write's billed rows held against what its statement says it costs.

use js_sys::Array;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::{ObjectParams, ObjectSql, ObjectStorage, describe};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError};
use wasm_bindgen::{JsCast, JsValue};

/// What the storages of one object were billed.
#[derive(Default)]
pub struct Meter {
    billed: Cell<u64>,
    modelled: Cell<u64>,
    misbilled: RefCell<Vec<Misbilled>>,
}

/// A write for which the platform and [`Statement::bill`] disagree.
#[derive(Clone, Serialize)]
pub struct Misbilled {
    sql: &'static str,
    changed: u64,
    billed: u64,
    modelled: u64,
}

impl Meter {
    /// Rows as the platform billed them. Schema changes are left out: they are not modelled.
    pub fn billed(&self) -> u64 {
        self.billed.get()
    }

    /// Rows as the statements say.
    pub fn modelled(&self) -> u64 {
        self.modelled.get()
    }

    pub fn misbilled(&self) -> Vec<Misbilled> {
        self.misbilled.borrow().clone()
    }

    fn count(&self, sql: &'static str, changed: u64, billed: u64, modelled: u64) {
        self.billed.set(self.billed.get() + billed);
        self.modelled.set(self.modelled.get() + modelled);
        if billed != modelled {
            self.misbilled.borrow_mut().push(Misbilled {
                sql,
                changed,
                billed,
                modelled,
            });
        }
    }
}

/// The driver under test.
pub struct Metered {
    driver: ObjectDriver,
    sql: ObjectSql,
    meter: Rc<Meter>,
}

impl Metered {
    pub fn new(storage: ObjectStorage, meter: Rc<Meter>) -> Self {
        let sql = storage.sql();
        Self {
            driver: ObjectDriver::new(storage),
            sql,
            meter,
        }
    }

    /// Rows the last write changed, the ones of indexes not counted.
    fn changed(&self) -> Result<u64, JsValue> {
        let rows = self
            .sql
            .exec(&"SELECT changes()".into(), &ObjectParams::new())?
            .raw()?
            .to_array()?;
        let count = rows.get(0).unchecked_into::<Array>().get(0);
        count.as_f64().map(|count| count as u64).ok_or(count)
    }
}

impl SqlDriver for Metered {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        let before = self.driver.rows_written();
        let rows = self.driver.query(statement, params)?;
        self.meter
            .count(statement.sql, 0, self.driver.rows_written() - before, 0);
        Ok(rows)
    }

    fn execute(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<(), SqlError> {
        let before = self.driver.rows_written();
        self.driver.execute(statement, params)?;
        let bill = statement.bill;
        if bill.rows == 0 {
            return Ok(());
        }
        let billed = self.driver.rows_written() - before;
        let changed = self.changed().map_err(|thrown| SqlError(describe(&thrown)))?;
        // As the native driver computes it.
        let is_bound = |index: &&usize| params.get(**index).is_some_and(|param| *param != Param::Null);
        let each = bill.rows + bill.unless_null.iter().filter(is_bound).count() as u64;
        self.meter.count(statement.sql, changed, billed, changed * each);
        Ok(())
    }

    fn transaction(&self, body: &mut dyn FnMut() -> Result<(), SqlError>) -> Result<(), SqlError> {
        self.driver.transaction(body)
    }

    fn rows_written(&self) -> u64 {
        self.driver.rows_written()
    }

    fn close(&self) -> Result<(), SqlError> {
        self.driver.close()
    }
}
