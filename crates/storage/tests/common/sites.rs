//! The places that can be made to fail: a directory in memory, and a SQLite database behind a failing driver.

use super::options;
use futures::FutureExt;
use rusqlite::{Connection, Params, params_from_iter};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use tidehold_session::storage::{Storage, StorageError};
use tidehold_storage::SqlStorage;
use tidehold_storage::conformance::crash::{Blow, CrashSite, Done, Pending, Then};
use tidehold_storage::conformance::random::Random;
use tidehold_storage::jsonl::fs::memory::{Afterwards, Effect, Fault, MemoryFs};
use tidehold_storage::jsonl::{Fsync, JsonlStorage, MAIN};
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Writes};

/// What ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Kill,
    PowerLoss,
}

/// JSONL in memory.
pub struct JsonlSite {
    pub fsync: Fsync,
    pub end: End,
    fs: RefCell<MemoryFs>,
    random: RefCell<Random>,
    armed: Cell<bool>,
}

impl JsonlSite {
    pub fn new(fsync: Fsync, end: End) -> Self {
        Self {
            fsync,
            end,
            fs: RefCell::default(),
            random: RefCell::new(Random::new(0)),
            armed: Cell::new(false),
        }
    }
}

impl JsonlSite {
    /// The directory as it is.
    pub fn disk(&self) -> MemoryFs {
        self.fs.borrow().clone()
    }
}

/// Complete markers in `main.jsonl`.
pub fn markers(fs: &MemoryFs) -> usize {
    let main = fs.get(MAIN).unwrap_or_default();
    let complete = main.split_inclusive(|byte| *byte == b'\n');
    complete
        .filter(|line| line.ends_with(b"\n") && line.starts_with(br#"{"format":1,"type":"commit""#))
        .count()
}

impl CrashSite for JsonlSite {
    fn wipe(&self, seed: u64) {
        self.fs.replace(MemoryFs::default());
        self.random.replace(Random::new(seed));
        self.armed.set(false);
    }

    fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        let fs = self.fs.borrow().clone();
        let opened = JsonlStorage::open(fs, options(self.fsync, "site"));
        let storage = opened.now_or_never().expect("ready at first poll")?;
        Ok(Rc::new(storage))
    }

    fn arm(&self, blow: Option<Blow>) {
        self.armed.set(blow.is_some());
        self.fs.borrow().fail(blow.map(|blow| Fault {
            calls: blow.after,
            effect: match blow.done {
                Done::Nothing => Effect::Nothing,
                Done::Part(bytes) => Effect::Prefix(bytes),
                Done::Everything => Effect::Everything,
            },
            afterwards: match blow.then {
                Then::Fails => Afterwards::Works,
                Then::Dies => Afterwards::Dead,
            },
        }));
    }

    fn calls(&self) -> u64 {
        self.fs.borrow().calls()
    }

    fn has_struck(&self) -> bool {
        self.armed.get() && !self.fs.borrow().is_armed()
    }

    fn restart(&self) -> usize {
        self.armed.set(false);
        let fs = self.fs.borrow();
        match self.end {
            End::Kill => fs.restart(),
            End::PowerLoss => {
                let mut random = self.random.borrow_mut();
                fs.power_loss(&mut |limit| random.below(limit as u64) as usize);
            }
        }
        markers(&fs)
    }

    fn guaranteed(&self, acknowledged: usize) -> usize {
        match self.end {
            End::Kill => acknowledged,
            // Markers are not flushed one by one.
            End::PowerLoss => 0,
        }
    }
}

/// A SQLite database in a file, preferably in memory.
pub struct SqlSite {
    path: PathBuf,
    shared: Rc<Shared>,
}

/// What outlives a connection.
struct Shared {
    blow: Cell<Option<Blow>>,
    armed: Cell<bool>,
    dead: Cell<bool>,
    calls: Cell<u64>,
    /// Transactions that the engine committed.
    committed: Cell<usize>,
    /// A new mark for ids alone is a transaction and no commit of the session.
    pending: Cell<Pending>,
}

impl SqlSite {
    pub fn new(path: PathBuf) -> Self {
        let shared = Shared {
            blow: Cell::new(None),
            armed: Cell::new(false),
            dead: Cell::new(false),
            calls: Cell::new(0),
            committed: Cell::new(0),
            pending: Cell::new(Pending::None),
        };
        Self {
            path,
            shared: Rc::new(shared),
        }
    }
}

impl CrashSite for SqlSite {
    fn wipe(&self, _seed: u64) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.path.display()));
        }
        self.arm(None);
        self.shared.dead.set(false);
        self.shared.calls.set(0);
        self.shared.committed.set(0);
    }

    fn open(&self) -> Result<Rc<dyn Storage>, StorageError> {
        let inner = NativeDriver::file(&self.path, Durability::ProcessCrash);
        let driver = StruckDriver {
            inner: inner.map_err(|error| StorageError::Backend(error.0))?,
            shared: self.shared.clone(),
        };
        Ok(Rc::new(SqlStorage::open(driver, "site")?))
    }

    fn arm(&self, blow: Option<Blow>) {
        self.shared.armed.set(blow.is_some());
        self.shared.blow.set(blow);
    }

    fn calls(&self) -> u64 {
        self.shared.calls.get()
    }

    fn has_struck(&self) -> bool {
        self.shared.armed.get() && self.shared.blow.get().is_none()
    }

    fn under_way(&self, pending: Pending) {
        self.shared.pending.set(pending);
    }

    fn restart(&self) -> usize {
        self.arm(None);
        self.shared.dead.set(false);
        self.shared.committed.get()
    }
}

/// Counts every statement, the begin and the commit included. A dead one leaves its transaction open, for the engine to
/// roll back when the connection is gone.
struct StruckDriver {
    inner: NativeDriver,
    shared: Rc<Shared>,
}

impl StruckDriver {
    fn call<T>(&self, body: impl FnOnce() -> Result<T, SqlError>) -> Result<T, SqlError> {
        let injected = || SqlError("injected".into());
        let shared = &self.shared;
        if shared.dead.get() {
            return Err(injected());
        }
        shared.calls.set(shared.calls.get() + 1);
        match shared.blow.get() {
            None => body(),
            Some(blow) if blow.after > 0 => {
                let after = blow.after - 1;
                shared.blow.set(Some(Blow { after, ..blow }));
                body()
            }
            Some(Blow { done, then, .. }) => {
                shared.blow.set(None);
                shared.dead.set(then == Then::Dies);
                if done == Done::Everything {
                    body()?;
                }
                Err(injected())
            }
        }
    }

    fn step(&self, statement: &Statement, params: impl Params) -> Result<(), SqlError> {
        let executed = |connection: &Connection| connection.prepare_cached(statement.sql)?.execute(params);
        self.inner.with(executed).map(drop)
    }

    fn run(&self, sql: &str) -> Result<(), SqlError> {
        self.inner.with(|connection| connection.execute_batch(sql))
    }
}

impl SqlDriver for StruckDriver {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        self.call(|| self.inner.query(statement, params))
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        let begun = self.call(|| self.run("BEGIN IMMEDIATE"));
        let written = begun.and_then(|()| {
            writes.steps().try_for_each(|(statement, cells)| {
                let params = cells.iter().map(|cell| writes.param(*cell));
                self.call(|| self.step(statement, params_from_iter(params)))
            })
        });
        let ended = written.and_then(|()| {
            self.call(|| {
                self.run("COMMIT")?;
                let committed = self.shared.committed.get();
                self.shared
                    .committed
                    .set(committed + self.shared.pending.get().most());
                Ok(())
            })
        });
        if ended.is_err() && !self.shared.dead.get() {
            // Nothing is left to undo when the begin failed, or when the commit failed after it happened.
            let _ = self.run("ROLLBACK");
        }
        ended
    }

    fn rows_written(&self) -> u64 {
        self.inner.rows_written()
    }
}
