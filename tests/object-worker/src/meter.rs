//! The product's driver, with each write's billed rows held against what its statement says it costs.

use js_sys::Array;
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_storage::sql::statements::{Per, STATEMENTS};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/src/meter.js")]
extern "C" {
    /// What the storages of one object were billed.
    #[derive(Clone)]
    pub type Meter;

    #[wasm_bindgen(constructor)]
    fn of(storage: &ObjectStorage, bills: Array) -> Meter;
    #[wasm_bindgen(method, getter)]
    fn storage(this: &Meter) -> ObjectStorage;
    /// Rows as the platform billed them. Schema changes are left out: they are not modelled.
    #[wasm_bindgen(method, getter)]
    pub fn billed(this: &Meter) -> f64;
    /// Rows as the statements say.
    #[wasm_bindgen(method, getter)]
    pub fn modelled(this: &Meter) -> f64;
    /// Writes for which both disagree, in words.
    #[wasm_bindgen(method, getter)]
    fn misbilled(this: &Meter) -> Array;
}

impl Meter {
    pub fn new(storage: &ObjectStorage) -> Self {
        let bills = STATEMENTS.iter().map(|statement| {
            let positions = statement.bill.unless_null.iter();
            let positions: Array = positions
                .map(|position| JsValue::from(*position as f64))
                .collect();
            let bill: [JsValue; 4] = [
                statement.sql.into(),
                (statement.bill.rows as f64).into(),
                positions.into(),
                (statement.bill.per == Per::Run).into(),
            ];
            bill.into_iter().collect::<Array>()
        });
        Self::of(storage, bills.collect())
    }

    /// The product's driver over the metered storage. A new one, hence new statement texts, as after an eviction.
    pub fn driver(&self) -> ObjectDriver {
        ObjectDriver::new(self.storage())
    }

    pub fn disagreements(&self) -> Vec<String> {
        self.misbilled()
            .iter()
            .filter_map(|text| text.as_string())
            .collect()
    }
}
