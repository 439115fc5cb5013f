//! The storages of one object.

use crate::meter::Meter;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use js_sys::Array;
use js_sys::futures::JsFuture;
use std::cell::Cell;
use std::rc::Rc;
use tidehold_durable_objects::platform::storage::{ObjectParams, ObjectStorage, describe};
use tidehold_session::storage::{Storage, StorageError};
use tidehold_storage::SqlStorage;
use tidehold_storage::conformance::StorageFactory;
use wasm_bindgen::{JsCast, JsValue};

/// Everything but the runtime's own tables, which it keeps whether or not anything was stored.
const COUNT_OBJECTS: &str = "SELECT count(*) FROM sqlite_master WHERE substr(name, 1, 4) <> '_cf_'";

/// Opens storages over the database of one object.
pub struct ObjectFactory {
    storage: ObjectStorage,
    meter: Meter,
    opened: Cell<u32>,
}

impl ObjectFactory {
    pub fn new(storage: ObjectStorage) -> Self {
        Self {
            meter: Meter::new(&storage),
            storage,
            opened: Cell::new(0),
        }
    }

    /// What all storages opened here were billed.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        self.opened.set(self.opened.get() + 1);
        Ok(Rc::new(SqlStorage::open(
            self.meter.driver(),
            format!("incarnation-{}", self.opened.get()),
        )?))
    }

    async fn delete(&self) -> Result<(), JsValue> {
        JsFuture::from(self.storage.delete_all()?).await.map(drop)
    }

    fn count_objects(&self) -> Result<f64, JsValue> {
        let rows = self
            .storage
            .sql()
            .exec(&COUNT_OBJECTS.into(), &ObjectParams::new())?
            .raw()?
            .to_array()?;
        let count = rows.get(0).unchecked_into::<Array>().get(0);
        count.as_f64().ok_or(count)
    }
}

impl StorageFactory for ObjectFactory {
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        async {
            self.delete().await.map_err(failed)?;
            self.open()
        }
        .boxed_local()
    }

    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        async { self.open() }.boxed_local()
    }

    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>> {
        async { Ok(self.count_objects().map_err(failed)? == 0.0) }.boxed_local()
    }
}

fn failed(thrown: JsValue) -> StorageError {
    StorageError::Backend(describe(&thrown))
}
