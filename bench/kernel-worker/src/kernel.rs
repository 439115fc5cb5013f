//! A session over the object's storage, and commits through its line.

use crate::workload::{self, PARTIAL, PARTIALS, PIECE};
use js_sys::futures::JsFuture;
use serde::{Deserialize, Serialize};
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
use wasm_bindgen::JsValue;

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

    pub async fn run(mut self, run: Run) -> Result<Report, SessionError> {
        self.commits(0, run.warmup, run.sync).await?;
        let rows = self.database.driver().rows_written();
        let start = timer::now();
        self.commits(run.warmup, run.commits, run.sync).await?;
        let milliseconds = timer::now() - start;
        Ok(Report {
            milliseconds,
            rows: self.database.driver().rows_written() - rows,
        })
    }

    async fn commits(&mut self, first: u64, count: u64, sync: bool) -> Result<(), SessionError> {
        for step in first..first + count {
            self.commit(step).await?;
            if sync {
                let synced = async { JsFuture::from(self.storage.sync()?).await };
                synced.await.map_err(|thrown: JsValue| other(describe(&thrown)))?;
            }
        }
        Ok(())
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

fn other(message: String) -> SessionError {
    SessionError::Rejected(Rejection::Other(message.into()))
}
