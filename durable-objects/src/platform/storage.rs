//! What `worker` 0.8 lacks of the object's storage: `transactionSync`, cached statements and alarms.

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

    #[wasm_bindgen(method, getter)]
    pub fn sql(this: &ObjectStorage) -> ObjectSql;
    /// Runs the callback inside one transaction; an `Err` rolls back and is thrown on.
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    pub fn transaction_sync(
        this: &ObjectStorage,
        body: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch, js_name = setAlarm)]
    pub fn set_alarm(this: &ObjectStorage, at: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = getAlarm)]
    pub fn get_alarm(this: &ObjectStorage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAlarm)]
    pub fn delete_alarm(this: &ObjectStorage) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch, js_name = deleteAll)]
    pub fn delete_all(this: &ObjectStorage) -> Result<Promise, JsValue>;

    /// The statement cache of the runtime goes by the identity of `statement`: pass the same string object.
    #[wasm_bindgen(method, catch, variadic)]
    pub fn exec(this: &ObjectSql, statement: &JsString, parameters: &Array) -> Result<ObjectCursor, JsValue>;
    /// Bytes of the whole database.
    #[wasm_bindgen(method, getter, js_name = databaseSize)]
    pub fn database_size(this: &ObjectSql) -> f64;
    #[wasm_bindgen(method, catch)]
    pub fn raw(this: &ObjectCursor) -> Result<ObjectRows, JsValue>;
    /// Billed rows, complete once the statement ran to its end.
    #[wasm_bindgen(method, getter, js_name = rowsWritten)]
    pub fn rows_written(this: &ObjectCursor) -> f64;
    #[wasm_bindgen(method, catch, js_name = toArray)]
    pub fn to_array(this: &ObjectRows) -> Result<Array, JsValue>;
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
