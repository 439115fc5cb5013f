//! Storages that outlive a session and fail on demand: memory, and a SQLite file.
#![allow(dead_code, reason = "every test binary uses its own part")]

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use tidehold_session::storage::Storage;
use tidehold_storage::fault::{CommitFault, Countdown, Held};
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::{MemoryStorage, SqlStorage};

/// Where a session is kept between its openings.
#[derive(Clone)]
pub enum Medium {
    Memory(Rc<MemoryStorage>),
    File(Rc<DatabaseFile>),
}

/// Removed, with what SQLite keeps beside it, when the last session on it is gone.
pub struct DatabaseFile(PathBuf);

impl Medium {
    pub fn memory() -> Self {
        Self::Memory(Rc::new(MemoryStorage::new("test")))
    }

    pub fn sqlite() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tidehold-tasks-{}-{count}.sqlite", std::process::id());
        // In memory where there is such a folder: what is tested are crashes of the process, not of the machine.
        let shared = PathBuf::from("/dev/shm");
        let folder = if shared.is_dir() {
            shared
        } else {
            std::env::temp_dir()
        };
        Self::File(Rc::new(DatabaseFile(folder.join(name))))
    }

    /// Both.
    pub fn each() -> [Self; 2] {
        [Self::memory(), Self::sqlite()]
    }

    /// What is stored, opened anew.
    pub fn open(&self) -> Rc<dyn Faulty> {
        match self {
            Self::Memory(stored) => Rc::new(Countdown::new(stored.reopen())),
            Self::File(file) => {
                let driver = NativeDriver::file(&file.0, Durability::ProcessCrash).expect("the file opens");
                let storage = SqlStorage::open(driver, "test").expect("the schema fits");
                Rc::new(Countdown::new(storage))
            }
        }
    }
}

impl Drop for DatabaseFile {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.0.clone().into_os_string();
            name.push(suffix);
            // SQLite has removed some of them already.
            let _gone = std::fs::remove_file(Path::new(&name));
        }
    }
}

/// A storage whose commits fail or wait on demand; see [`Countdown`].
pub trait Faulty: Storage {
    fn allow_commits(&self, commits: Option<u64>, fault: CommitFault);
    fn hold_commits(&self) -> Held;
}

impl<S: Storage> Faulty for Countdown<S> {
    fn allow_commits(&self, commits: Option<u64>, fault: CommitFault) {
        Countdown::allow_commits(self, commits, fault);
    }

    fn hold_commits(&self) -> Held {
        Countdown::hold_commits(self)
    }
}
