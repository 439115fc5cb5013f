//! What `worker` 0.8 lacks of the object's storage: synchronous transactions, cached statements, alarms and durability.

use js_sys::{Array, JsString, Promise};
use wasm_bindgen::prelude::*;
use worker::State;

#[wasm_bindgen]
extern "C" {
    /// `ctx.storage`.
    #[derive(Clone)]
    pub type ObjectStorage;
    /// `ctx.storage.sql`.
    #[derive(Clone)]
    pub type ObjectSql;
    /// The cursor of one `exec`.
    pub type ObjectCursor;
    /// The iterator of [`ObjectCursor::raw`].
    pub type ObjectRows;
    /// The bound parameters of one `exec`: an array filled from its start.
    pub type ObjectParams;

    #[wasm_bindgen(method, getter)]
    pub fn sql(this: &ObjectStorage) -> ObjectSql;
    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    pub fn set_alarm(this: &ObjectStorage, at: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = getAlarm)]
    pub fn get_alarm(this: &ObjectStorage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    pub fn delete_alarm(this: &ObjectStorage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAll)]
    pub fn delete_all(this: &ObjectStorage) -> Result<Promise, JsValue>;
    /// Resolves once everything written so far is durable.
    #[wasm_bindgen(method, catch)]
    pub fn sync(this: &ObjectStorage) -> Result<Promise, JsValue>;

    /// The statement cache of the runtime goes by the identity of `statement`: pass the same string object.
    #[wasm_bindgen(method, catch, variadic)]
    pub fn exec(
        this: &ObjectSql,
        statement: &JsString,
        parameters: &ObjectParams,
    ) -> Result<ObjectCursor, JsValue>;
    #[wasm_bindgen(constructor, js_class = "Array")]
    pub fn new() -> ObjectParams;
    /// One call for conversion and place, and no handle in between.
    #[wasm_bindgen(method, js_name = push)]
    pub fn push_number(this: &ObjectParams, number: f64);
    #[wasm_bindgen(method, js_name = push)]
    pub fn push_text(this: &ObjectParams, text: &str);
    #[wasm_bindgen(method, js_name = push)]
    pub fn push(this: &ObjectParams, value: &JsValue);
    /// Bytes of the whole database.
    #[wasm_bindgen(method, getter, js_name = databaseSize)]
    pub fn database_size(this: &ObjectSql) -> f64;
    #[wasm_bindgen(method, catch)]
    pub fn raw(this: &ObjectCursor) -> Result<ObjectRows, JsValue>;
    #[wasm_bindgen(method, catch, js_name = toArray)]
    pub fn to_array(this: &ObjectRows) -> Result<Array, JsValue>;
}

#[wasm_bindgen(module = "/src/platform/writes.js")]
extern "C" {
    /// See there.
    #[wasm_bindgen(catch, js_name = applyWrites)]
    pub fn apply_writes(
        storage: &ObjectStorage,
        sql: &ObjectSql,
        statements: &Array,
        plan: &[f64],
        bytes: &[u8],
        plain: bool,
        single: bool,
    ) -> Result<f64, JsValue>;
}

/// The storage of an object. Fails only when the runtime no longer has the object.
pub fn of_state(state: &State) -> worker::Result<ObjectStorage> {
    Ok(state.as_raw().storage()?.unchecked_into())
}

/// What an exception says.
pub fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.to_string()),
        None => format!("{error:?}"),
    }
}
