//! A session over the object's storage, and commits through its line.

use crate::workload::{self, PARTIAL, PARTIALS, PIECE};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use tidehold_durable_objects::platform::host::WasmHost;
use tidehold_durable_objects::platform::life::Life;
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::{ObjectStorage, describe};
use tidehold_durable_objects::platform::timer;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::records::{EntryDraft, TaskRecord};
use tidehold_session::{Rejection, Session, SessionError, SessionOptions, Tx};
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::SqlDriver;
use wasm_bindgen::prelude::*;

/// What to do.
#[derive(Clone, Copy, Deserialize)]
pub struct Run {
    /// Commits to time.
    commits: u64,
    /// Commits before them.
    warmup: u64,
    /// Whether each commit is followed by `storage.sync()`.
    sync: bool,
}

/// How it went.
#[derive(Serialize)]
pub struct Report {
    milliseconds: u64,
    rows: u64,
}

pub struct Kernel {
    session: Session,
    database: Rc<SqlStorage<ObjectDriver>>,
    storage: ObjectStorage,
    task: TaskRecord,
    entry: EntryDraft,
}

impl Kernel {
    /// A session with its root conversation, one running task and the document.
    pub async fn open(storage: ObjectStorage) -> Result<Self, SessionError> {
        let driver = ObjectDriver::new(storage.clone());
        let database = Rc::new(SqlStorage::open(driver, "bench").map_err(|error| other(error.to_string()))?);
        let host = WasmHost::new(
            Life::default(),
            Rc::new(|message| worker::console_error!("{message}")),
        );
        let session = Session::open(
            Rc::clone(&database) as _,
            Rc::new(host),
            SessionOptions::default(),
        );
        let task = session
            .commit(async |tx: Tx| {
                tx.create_root().await?;
                tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await?;
                tx.create_task(workload::task()).await
            })
            .await?;
        let task = session
            .task(task)
            .await?
            .ok_or_else(|| other("the task is gone".to_owned()))?;
        Ok(Self {
            session,
            database,
            storage,
            task,
            entry: workload::entry(),
        })
    }

    pub async fn run(self, run: Run) -> Result<Report, SessionError> {
        let database = Rc::clone(&self.database);
        let kernel = Rc::new(RefCell::new(self));
        commits(&kernel, 0, run.warmup, run.sync).await?;
        let rows = database.driver().rows_written();
        let start = timer::now();
        commits(&kernel, run.warmup, run.commits, run.sync).await?;
        let milliseconds = timer::now() - start;
        Ok(Report {
            milliseconds,
            rows: database.driver().rows_written() - rows,
        })
    }

    async fn commit(&mut self, step: u64) -> Result<(), SessionError> {
        self.task.state = workload::running(step);
        let (task, entry) = (self.task.clone(), self.entry.clone());
        let change = async move |tx: Tx| {
            let text = tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await?.at("text");
            if step.is_multiple_of(PARTIALS) {
                text.set("")?
            } else {
                text.append(PIECE)?
            }
            tx.append_entry(ROOT_CONVERSATION_ID, entry).await?;
            tx.stage_task(task).await
        };
        self.session.commit(change).await
    }
}

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
        commit: &Closure<dyn FnMut() -> Result<(), JsValue>>,
    ) -> Result<JsValue, JsValue>;
}

/// JavaScript counts and waits, as it does for the raw object: between two commits both sides do the same. A commit over
/// the object's storage ends in the turn that asks for it; the benchmark fails when one does not.
async fn commits(
    kernel: &Rc<RefCell<Kernel>>,
    first: u64,
    count: u64,
    sync: bool,
) -> Result<(), SessionError> {
    let (kernel, storage) = (Rc::clone(kernel), kernel.borrow().storage.clone());
    let kernel = AssertUnwindSafe(kernel);
    let mut step = first;
    let commit = Closure::new(move || {
        let kernel = &kernel;
        step += 1;
        commit_now(&kernel, step - 1).map_err(|error| JsValue::from_str(&error.to_string()))
    });
    let driven = drive(&storage, count as f64, sync, &commit).await;
    driven.map(drop).map_err(|thrown| other(describe(&thrown)))
}

/// Out of line: inlined below a landing pad it has come out as invalid wasm.
#[inline(never)]
fn commit_now(kernel: &RefCell<Kernel>, step: u64) -> Result<(), SessionError> {
    let mut kernel = kernel.borrow_mut();
    let commit: LocalBoxFuture<'_, _> = Box::pin(kernel.commit(step));
    let waited = || Err(other("the commit had to wait".to_owned()));
    commit.now_or_never().unwrap_or_else(waited)
}

fn other(message: String) -> SessionError {
    SessionError::Rejected(Rejection::Other(message))
}
