//! The factories under test, and a directory of their own for the files.

#![allow(dead_code)]

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use tidehold_session::storage::{Storage, StorageError};
use tidehold_storage::conformance::StorageFactory;
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::{Bill, Statement};
use tidehold_storage::sql::{SqlDriver, SqlError, Writes};
use tidehold_storage::{MemoryStorage, SqlStorage};

/// A directory that is deleted with this value.
pub struct Scratch(PathBuf);

static SCRATCHES: AtomicU32 = AtomicU32::new(0);

impl Scratch {
    pub fn new() -> Self {
        let number = SCRATCHES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tidehold-storage-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every future of these backends is ready at its first poll.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("ready at first poll")
}

static REFUSED: Statement = Statement {
    id: usize::MAX,
    sql: "INSERT INTO meta (id) VALUES (2)",
    bill: Bill {
        rows: 0,
        unless_null: &[],
    },
};

/// Runs the first `count` statements and then one that the engine refuses, in one transaction.
pub fn apply_and_fail(driver: &NativeDriver, writes: &Writes, count: usize) -> SqlError {
    let mut broken = writes.first(count);
    broken.push(&REFUSED, &[]);
    driver.apply(&broken).expect_err("the last statement is refused")
}

#[derive(Default)]
pub struct Memory {
    current: RefCell<Option<Rc<MemoryStorage>>>,
    opened: Cell<u32>,
}

impl StorageFactory for Memory {
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(async {
            self.opened.set(self.opened.get() + 1);
            let storage = Rc::new(MemoryStorage::new(format!("incarnation-{}", self.opened.get())));
            *self.current.borrow_mut() = Some(storage.clone());
            Ok(storage as Rc<dyn Storage>)
        })
    }

    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(async {
            let storage = Rc::new(self.current.borrow().as_ref().expect("opened before").reopen());
            *self.current.borrow_mut() = Some(storage.clone());
            Ok(storage as Rc<dyn Storage>)
        })
    }

    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>> {
        Box::pin(async {
            let storage = self.current.borrow().clone().expect("opened before");
            Ok(storage.head().await?.is_none())
        })
    }
}

/// A database file per storage. A reopened storage finds the connection of the last one still open, as after a crash.
pub struct Files {
    scratch: Scratch,
    opened: Cell<u32>,
    path: RefCell<PathBuf>,
}

impl Files {
    pub fn new() -> Self {
        Self {
            scratch: Scratch::new(),
            opened: Cell::new(0),
            path: RefCell::default(),
        }
    }

    fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        self.opened.set(self.opened.get() + 1);
        let driver = NativeDriver::file(&self.path.borrow(), Durability::ProcessCrash)
            .map_err(|error| StorageError::Backend(error.0))?;
        Ok(Rc::new(SqlStorage::open(
            driver,
            format!("incarnation-{}", self.opened.get()),
        )?))
    }
}

impl StorageFactory for Files {
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(async {
            let path = self.scratch.path().join(format!("{}.db", self.opened.get()));
            let old = self.path.replace(path);
            for suffix in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{suffix}", old.display()));
            }
            self.open()
        })
    }

    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(async { self.open() })
    }

    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>> {
        Box::pin(async {
            let failed = |error: tidehold_storage::sql::SqlError| StorageError::Backend(error.0);
            let driver = NativeDriver::file(&self.path.borrow(), Durability::ProcessCrash).map_err(failed)?;
            Ok(!driver.has_objects().map_err(failed)?)
        })
    }
}
