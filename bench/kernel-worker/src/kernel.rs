//! A session over the object's storage, and commits through its line, timed.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use tidehold_durable_objects::platform::host::WasmHost;
use tidehold_durable_objects::platform::life::Life;
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::{ObjectStorage, describe};
use tidehold_durable_objects::platform::timer;
use tidehold_session::{Rejection, Session, SessionError, SessionOptions};
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::SqlDriver;
use wasm_bindgen::prelude::*;

/// How to time commits.
#[derive(Clone, Copy, Deserialize)]
pub struct Run {
    /// Commits to time.
    commits: u64,
    /// Commits before them; a tenth without it.
    warmup: Option<u64>,
    /// Whether each commit is followed by `storage.sync()`.
    sync: bool,
}

/// How it went.
#[derive(Serialize)]
pub struct Report {
    milliseconds: u64,
    rows: u64,
}

/// An open session.
#[derive(Clone)]
pub struct Kernel {
    pub session: Session,
    pub database: Rc<SqlStorage<ObjectDriver>>,
    storage: ObjectStorage,
}

pub type Commit<'a> = LocalBoxFuture<'a, Result<(), SessionError>>;

impl Kernel {
    pub fn open(storage: &ObjectStorage) -> Result<Self, SessionError> {
        let driver = ObjectDriver::new(storage.clone());
        let database = SqlStorage::open(driver, "bench").map_err(|error| other(error.to_string()))?;
        let database = Rc::new(database);
        let host = WasmHost::new(
            Life::default(),
            Rc::new(|message| worker::console_error!("{message}")),
        );
        let session = Session::open(
            Rc::clone(&database) as _,
            Rc::new(host),
            SessionOptions::default(),
        );
        Ok(Self {
            session,
            database,
            storage: storage.clone(),
        })
    }

    /// Makes commits, and says how long those after the warm-up took.
    pub async fn time<F>(&self, run: Run, mut commit: F) -> Result<Report, SessionError>
    where
        F: FnMut(&Session, u64) -> Commit<'static> + 'static,
    {
        let warmup = run.warmup.unwrap_or(run.commits / 10);
        let mut step = 0;
        let session = self.session.clone();
        let mut next = AssertUnwindSafe(move || {
            step += 1;
            ended(commit(&session, step - 1)).map_err(|error| JsValue::from_str(&error.to_string()))
        });
        let commit = Closure::new(move || {
            let next = &mut next;
            next.0()
        });
        self.drive(warmup, run.sync, &commit).await?;
        let rows = self.database.driver().rows_written();
        let start = timer::now();
        self.drive(run.commits, run.sync, &commit).await?;
        Ok(Report {
            milliseconds: timer::now() - start,
            rows: self.database.driver().rows_written() - rows,
        })
    }

    /// JavaScript counts and waits, as it does for the raw object: between two commits both sides do the same.
    async fn drive(&self, count: u64, sync: bool, commit: &NextCommit) -> Result<(), SessionError> {
        let driven = drive(&self.storage, count as f64, sync, commit).await;
        driven.map(drop).map_err(|thrown| other(describe(&thrown)))
    }
}

type NextCommit = Closure<dyn FnMut() -> Result<(), JsValue>>;

#[wasm_bindgen(inline_js = "
export async function drive(storage, count, sync, commit) {
  for (let step = 0; step < count; step += 1) {
    commit();
    if (sync) await storage.sync();
  }
}
")]
extern "C" {
    #[wasm_bindgen(catch)]
    async fn drive(
        storage: &ObjectStorage,
        count: f64,
        sync: bool,
        commit: &NextCommit,
    ) -> Result<JsValue, JsValue>;
}

/// A commit over the object's storage ends in the turn that asks for it; the benchmark fails when one does not. Out of line:
/// inlined below a landing pad it has come out as invalid wasm.
#[inline(never)]
fn ended(commit: Commit<'_>) -> Result<(), SessionError> {
    let waited = || Err(other("the commit had to wait".to_owned()));
    commit.now_or_never().unwrap_or_else(waited)
}

pub fn other(message: String) -> SessionError {
    SessionError::Rejected(Rejection::Other(message))
}
