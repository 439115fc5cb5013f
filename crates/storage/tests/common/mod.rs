//! The factories under test, and a directory of their own for the files.

#![allow(dead_code)]

pub mod jsonl;
pub mod sites;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use tidehold_session::storage::{Storage, StorageError};
use tidehold_storage::conformance::StorageFactory;
use tidehold_storage::jsonl::fs::memory::MemoryFs;
use tidehold_storage::jsonl::fs::native::NativeFs;
use tidehold_storage::jsonl::{FileSystem, Fsync, JsonlOptions, JsonlStorage};
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::{Bill, Per, Statement};
use tidehold_storage::sql::{SqlDriver, SqlError, Writes};
use tidehold_storage::{MemoryStorage, SqlStorage};

/// A directory that is deleted with this value.
pub struct Scratch(PathBuf);

static SCRATCHES: AtomicU32 = AtomicU32::new(0);

impl Scratch {
    pub fn new() -> Self {
        let number = SCRATCHES.fetch_add(1, Ordering::Relaxed);
        let path = parent().join(format!("tidehold-storage-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Memory where there is a file system in it: what is tested is which calls are made, not the disk.
fn parent() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    match memory.is_dir() {
        true => memory,
        false => std::env::temp_dir(),
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
        per: Per::ChangedRow,
    },
};

/// Runs the first `count` statements and then one that the engine refuses, in one transaction.
pub fn apply_and_fail(driver: &NativeDriver, writes: &Writes, count: usize) -> SqlError {
    // The same buffer, so that the cells mean the same.
    let mut broken = Writes::default();
    broken.text(writes.buffer());
    for (statement, cells) in writes.steps().take(count) {
        broken.push(statement, cells);
    }
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

/// How a test opens JSONL.
pub fn options(fsync: Fsync, incarnation: &str) -> JsonlOptions {
    JsonlOptions {
        fsync,
        incarnation: incarnation.into(),
    }
}

/// JSONL in memory. A reopened storage finds the files of the last one as they are, as after a crash.
pub struct JsonlMemory {
    fsync: Fsync,
    disk: RefCell<MemoryFs>,
    opened: Cell<u32>,
}

impl JsonlMemory {
    pub fn new(fsync: Fsync) -> Self {
        Self {
            fsync,
            disk: RefCell::default(),
            opened: Cell::new(0),
        }
    }

    async fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        self.opened.set(self.opened.get() + 1);
        let disk = self.disk.borrow().clone();
        let options = options(self.fsync, &format!("incarnation-{}", self.opened.get()));
        Ok(Rc::new(JsonlStorage::open(disk, options).await?))
    }
}

impl StorageFactory for JsonlMemory {
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        self.disk.replace(MemoryFs::default());
        Box::pin(self.open())
    }

    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(self.open())
    }

    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>> {
        Box::pin(async { Ok(self.disk.borrow().names().is_empty()) })
    }
}

/// JSONL in a directory per storage. A reopened storage follows one whose process is gone: it was not closed, but what it held
/// of the directory is free.
pub struct JsonlFiles {
    scratch: Scratch,
    fsync: Fsync,
    opened: Cell<u32>,
    path: RefCell<PathBuf>,
    last: RefCell<Option<Rc<JsonlStorage<NativeFs>>>>,
}

impl JsonlFiles {
    pub fn new(fsync: Fsync) -> Self {
        Self {
            scratch: Scratch::new(),
            fsync,
            opened: Cell::new(0),
            path: RefCell::default(),
            last: RefCell::default(),
        }
    }

    async fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        self.opened.set(self.opened.get() + 1);
        if let Some(last) = self.last.take() {
            last.file_system().release();
        }
        let fs = NativeFs::new(self.path.borrow().clone());
        let options = options(self.fsync, &format!("incarnation-{}", self.opened.get()));
        let storage = Rc::new(JsonlStorage::open(fs, options).await?);
        self.last.replace(Some(storage.clone()));
        Ok(storage)
    }
}

impl StorageFactory for JsonlFiles {
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        let path = self.scratch.path().join(self.opened.get().to_string());
        let _ = std::fs::remove_dir_all(self.path.replace(path));
        Box::pin(self.open())
    }

    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>> {
        Box::pin(self.open())
    }

    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>> {
        Box::pin(async { Ok(!self.path.borrow().exists()) })
    }
}
