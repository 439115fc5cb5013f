//! Commits of known shape, and what they are billed.

use crate::meter::Meter;
use futures::FutureExt;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{Op, json};
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_session::documents::{DocumentCreate, ForkPolicy, Scope, StoredHistory};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, TaskOutcome, TaskRecord, TaskState};
use tidehold_session::storage::{DocumentContent, Storage, StorageError, StorageWrite};
use tidehold_storage::SqlStorage;

const ROOT: ConversationId = ConversationId(1);
const TASK: TaskId = TaskId(2);
const LATEST: DocumentId = DocumentId(3);
const REWINDABLE: DocumentId = DocumentId(4);

/// One commit and its rows.
#[derive(Serialize)]
pub struct Bill {
    commit: &'static str,
    /// As the platform says.
    billed: f64,
    /// As the statements say.
    modelled: f64,
}

struct Bench {
    storage: SqlStorage<ObjectDriver>,
    meter: Meter,
    bills: Vec<Bill>,
}

impl Bench {
    fn commit(&mut self, commit: &'static str, writes: &[StorageWrite]) -> Result<(), StorageError> {
        self.commits(commit, &[writes])
    }

    /// One bill for several commits.
    fn commits(&mut self, commit: &'static str, batches: &[&[StorageWrite]]) -> Result<(), StorageError> {
        let (billed, modelled) = (self.meter.billed(), self.meter.modelled());
        for writes in batches {
            let committed = self.storage.commit(writes).now_or_never();
            committed.unwrap_or_else(|| Err(StorageError::Backend("a commit waited".to_owned())))?;
        }
        let (billed, modelled) = (self.meter.billed() - billed, self.meter.modelled() - modelled);
        self.bills.push(Bill {
            commit,
            billed,
            modelled,
        });
        Ok(())
    }
}

/// The life of a task beside a document of each history, and documents that stream from a base to the next.
pub fn measure(storage: ObjectStorage) -> Result<Vec<Bill>, StorageError> {
    let meter = Meter::new(&storage);
    let storage = SqlStorage::open(meter.driver(), "bills")?;
    let mut bench = Bench {
        storage,
        meter,
        bills: Vec::new(),
    };
    let root = ConversationRecord {
        id: ROOT,
        parent: None,
        owner: None,
    };
    let setup = [
        StorageWrite::Conversation(Rc::new(root)),
        document(LATEST, StoredHistory::Latest),
        document(REWINDABLE, StoredHistory::Rewindable),
    ];
    bench.commit("the first commit", &setup)?;
    let running = || TaskState::Running {
        checkpoint: json!({ "phase": "work" }),
    };
    let ended = || TaskState::Terminal {
        outcome: TaskOutcome::Completed { result: json!(null) },
    };
    bench.commit("a task is created", &[entry(10), task(running()), delta(LATEST)])?;
    bench.commit("a task changes", &[entry(11), task(running()), delta(LATEST)])?;
    bench.commit(
        "a task changes, rewindable",
        &[entry(12), task(running()), delta(REWINDABLE)],
    )?;
    bench.commit("a task ends", &[entry(13), task(ended()), delta(LATEST)])?;
    // The document begins its stream at a base of its own.
    bench.commit("a base", &[base(LATEST)])?;
    for (name, size) in [
        ("a stream of small deltas", 20),
        ("a stream of larger deltas", 2_000),
    ] {
        let delta = [text(LATEST, &"m".repeat(size))];
        let mut stream = vec![&delta[..]; 100];
        let base = [base(LATEST)];
        stream.push(&base);
        bench.commits(name, &stream)?;
    }
    Ok(bench.bills)
}

fn entry(id: u64) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ROOT,
        kind: "test.entry".into(),
        model: None,
        data: Some(json!({ "text": "hello" })),
        head: None,
        edits: None,
        by_task_id: Some(TASK),
    }))
}

fn task(state: TaskState) -> StorageWrite {
    StorageWrite::Task(Rc::new(TaskRecord {
        id: TASK,
        conversation_id: ROOT,
        kind: "test.task".into(),
        version: 1,
        input: json!({}),
        owner: None,
        background: false,
        abort_requested: false,
        abort_reason: None,
        abandon_on_restart: false,
        started_at: None,
        ended_at: None,
        state,
        memos: Default::default(),
    }))
}

fn document(id: DocumentId, history: StoredHistory) -> StorageWrite {
    let record = DocumentCreate {
        id,
        kind: format!("test.document-{id}").as_str().into(),
        key: None,
        scope: Scope::Conversation {
            conversation_id: ROOT,
        },
        history: Some(history),
        fork: Some(ForkPolicy::Current),
    };
    StorageWrite::DocumentCreate {
        record,
        version: 1,
        value: json!({ "text": "" }),
    }
}

fn base(id: DocumentId) -> StorageWrite {
    StorageWrite::DocumentChange {
        id,
        content: DocumentContent::Base {
            version: 1,
            value: json!({ "text": "" }),
        },
    }
}

fn delta(id: DocumentId) -> StorageWrite {
    text(id, "more")
}

fn text(id: DocumentId, more: &str) -> StorageWrite {
    let ops = vec![Op::Append(vec!["text".into()], more.into())];
    StorageWrite::DocumentChange {
        id,
        content: DocumentContent::Delta {
            version: 1,
            ops: ops.into(),
        },
    }
}
