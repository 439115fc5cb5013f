//! What a storage remembers spares commits their reads and changes nothing else: not after a failure at any statement,
//! not beside another storage of the same file, not when more changes than is remembered.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Scratch, apply_and_fail, now};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use tidehold_delta::{Op, json};
use tidehold_session::documents::*;
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;
use tidehold_storage::limits::{PACK_BYTES, RECALLED};
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Writes};
use tidehold_storage::{MemoryStorage, SqlStorage};

/// Counts the statements that read, and fails one statement of any sort.
struct Watched {
    inner: NativeDriver,
    queries: Cell<u32>,
    left: Cell<Option<u32>>,
}

impl Watched {
    fn over(inner: NativeDriver) -> SqlStorage<Self> {
        let watched = Self {
            inner,
            queries: Cell::new(0),
            left: Cell::new(None),
        };
        SqlStorage::open(watched, "test").unwrap()
    }

    fn file(path: &Path) -> SqlStorage<Self> {
        Self::over(NativeDriver::file(path, Durability::ProcessCrash).unwrap())
    }

    fn call(&self) -> Result<(), SqlError> {
        match self.left.get() {
            None => Ok(()),
            Some(0) => {
                self.left.set(None);
                Err(SqlError("injected".into()))
            }
            Some(left) => {
                self.left.set(Some(left - 1));
                Ok(())
            }
        }
    }
}

impl SqlDriver for Watched {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        self.queries.set(self.queries.get() + 1);
        self.call()?;
        self.inner.query(statement, params)
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        for done in 0..writes.steps().len() {
            if let Err(injected) = self.call() {
                apply_and_fail(&self.inner, writes, done);
                return Err(injected);
            }
        }
        // The call after the last statement is the commit itself.
        if let Err(injected) = self.call() {
            apply_and_fail(&self.inner, writes, writes.steps().len());
            return Err(injected);
        }
        self.inner.apply(writes)
    }

    fn rows_written(&self) -> u64 {
        self.inner.rows_written()
    }
}

fn conversation(id: u64) -> StorageWrite {
    StorageWrite::Conversation(Rc::new(ConversationRecord {
        id: ConversationId(id),
        parent: None,
        owner: None,
    }))
}

fn task(id: u64, kind: &str, state: TaskState, size: usize) -> StorageWrite {
    StorageWrite::Task(Rc::new(TaskRecord {
        id: TaskId(id),
        conversation_id: ConversationId(1),
        kind: kind.into(),
        version: 1,
        input: json!({ "text": "i".repeat(size) }),
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

fn running(step: u64) -> TaskState {
    TaskState::Running {
        checkpoint: json!({ "step": step }),
    }
}

fn ended() -> TaskState {
    TaskState::Terminal {
        outcome: TaskOutcome::Orphaned { reason: "r".into() },
    }
}

fn create(id: u64, history: StoredHistory) -> StorageWrite {
    let record = DocumentCreate {
        id: DocumentId(id),
        kind: "d".into(),
        key: Some(id.to_string().as_str().into()),
        scope: ConversationId(1).into(),
        history: Some(history),
        fork: Some(ForkPolicy::Current),
    };
    StorageWrite::DocumentCreate {
        record,
        version: 1,
        value: json!({ "text": "" }),
    }
}

fn base(id: u64, version: u32, text: &str) -> StorageWrite {
    StorageWrite::DocumentChange {
        id: DocumentId(id),
        content: DocumentContent::Base {
            version,
            value: json!({ "text": text }),
        },
    }
}

fn delta(id: u64, version: u32, size: usize) -> StorageWrite {
    let ops = vec![Op::Append(vec!["text".into()], "x".repeat(size).as_str().into())];
    StorageWrite::DocumentChange {
        id: DocumentId(id),
        content: DocumentContent::Delta {
            version,
            ops: ops.into(),
        },
    }
}

fn retire(id: u64) -> StorageWrite {
    StorageWrite::DocumentRetire { id: DocumentId(id) }
}

const LATEST: u64 = 10;
const REWINDABLE: u64 = 11;
const TASK: u64 = 20;

/// The root, a document of each sort, a task.
fn start() -> Vec<StorageWrite> {
    vec![
        conversation(1),
        create(LATEST, StoredHistory::Latest),
        create(REWINDABLE, StoredHistory::Rewindable),
        task(TASK, "t", running(0), 1),
    ]
}

/// A life of both documents and the task: every way in which what is remembered can change.
fn life() -> Vec<Vec<StorageWrite>> {
    vec![
        vec![
            delta(LATEST, 1, 5),
            delta(REWINDABLE, 1, 5),
            task(TASK, "t", running(1), 1),
        ],
        // Past the size of a row, twice, and a value in chunks.
        vec![
            delta(LATEST, 1, PACK_BYTES - 200),
            delta(REWINDABLE, 1, PACK_BYTES),
        ],
        vec![
            delta(LATEST, 1, PACK_BYTES / 2),
            task(TASK, "t", running(2), 2_500_000),
        ],
        vec![delta(LATEST, 1, PACK_BYTES / 2)],
        vec![delta(LATEST, 1, 7), task(TASK, "t", running(3), 1_200_000)],
        vec![
            base(LATEST, 1, "b"),
            base(REWINDABLE, 2, "b"),
            task(TASK, "t", running(4), 1),
        ],
        vec![delta(LATEST, 1, 3), delta(REWINDABLE, 2, 3)],
        vec![
            base(LATEST, 2, "c"),
            delta(REWINDABLE, 2, 3),
            task(TASK, "t", ended(), 1),
        ],
        vec![
            delta(LATEST, 2, 3),
            create(12, StoredHistory::Latest),
            task(21, "t", running(0), 1),
        ],
        vec![
            task(TASK, "t", running(5), 1),
            delta(12, 1, 1),
            retire(REWINDABLE),
        ],
        vec![delta(LATEST, 2, 3), retire(LATEST), delta(12, 1, 1)],
    ]
}

/// Batches that are refused at every point of that life.
fn refused() -> Vec<Vec<StorageWrite>> {
    vec![
        vec![delta(LATEST, 1, 1), delta(REWINDABLE, 1, 1), delta(99, 1, 1)],
        vec![delta(LATEST, 2, 1), delta(REWINDABLE, 2, 1), retire(99)],
        vec![base(LATEST, 9, "z"), base(REWINDABLE, 9, "z"), delta(99, 1, 1)],
        vec![
            task(TASK, "t", ended(), 1),
            task(TASK + 30, "t", running(1), 1),
            retire(99),
        ],
        vec![task(TASK, "t", running(9), 1), retire(LATEST), retire(99)],
        vec![task(TASK, "other", running(9), 1)],
    ]
}

type Seen = Vec<Result<Option<StoredDocument>, bool>>;

/// Everything both documents ever were, and the tasks.
fn seen(storage: &dyn Storage, head: u64) -> (Seen, Vec<Option<TaskRecord>>) {
    let points = (1..=head).map(|seq| Point::At(Seq(seq))).chain([Point::Current]);
    let at = |id, point| {
        now(storage.document(DocumentId(id), point)).map_err(|error| {
            let request = matches!(error, StorageError::Request(_));
            assert!(request, "{error}");
            request
        })
    };
    let documents = points
        .flat_map(|point| [LATEST, REWINDABLE, 12].map(|id| at(id, point)))
        .collect();
    let tasks = [TASK, 21].map(|id| now(storage.task(TaskId(id))).unwrap());
    (documents, tasks.into())
}

#[test]
fn a_commit_reads_nothing_that_the_storage_wrote_or_read() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let storage = Watched::file(&path);
    now(storage.commit(&start())).unwrap();
    let queries = |storage: &SqlStorage<Watched>, writes: &[StorageWrite]| {
        let before = storage.driver().queries.get();
        now(storage.commit(writes)).unwrap();
        storage.driver().queries.get() - before
    };
    let writes = |step| {
        [
            delta(LATEST, 1, 5),
            delta(REWINDABLE, 1, 5),
            task(TASK, "t", running(step), 1),
        ]
    };
    assert_eq!(queries(&storage, &writes(1)), 0);
    let reopened = Watched::file(&path);
    assert_eq!([2, 3, 4].map(|step| queries(&reopened, &writes(step))), [3, 0, 0]);
    // A task that ended, a document that is gone.
    now(reopened.commit(&[task(TASK, "t", ended(), 1), retire(LATEST)])).unwrap();
    assert_eq!(queries(&reopened, &[task(TASK, "t", running(6), 1)]), 1);
    assert!(now(reopened.commit(&[delta(LATEST, 1, 1)])).is_err());
}

#[test]
fn a_refused_batch_is_forgotten_at_every_point_of_a_life() {
    let memory = MemoryStorage::new("test");
    let sqlite = Watched::over(NativeDriver::in_memory().unwrap());
    let storages: [&dyn Storage; 2] = [&memory, &sqlite];
    let mut head = 0;
    for writes in std::iter::once(start()).chain(life()) {
        for storage in storages {
            head = now(storage.commit(&writes)).unwrap().0;
        }
        for writes in refused() {
            let [one, other] = storages.map(|storage| now(storage.commit(&writes)));
            assert!(matches!(one, Err(StorageError::Batch(_))), "{writes:?}");
            assert_eq!(one, other);
        }
        assert_eq!(seen(&memory, head), seen(&sqlite, head));
    }
    assert!(head > 10);
}

/// Lives through everything; the commit `step` fails once at its call `fail_at`. Whether it had so many calls.
fn fails_and_goes_on(step: usize, fail_at: u32) -> bool {
    let memory = MemoryStorage::new("test");
    let sqlite = Watched::over(NativeDriver::in_memory().unwrap());
    now(memory.commit(&start())).unwrap();
    now(sqlite.commit(&start())).unwrap();
    for (at, writes) in life().iter().enumerate() {
        if at == step {
            sqlite.driver().left.set(Some(fail_at));
            if now(sqlite.commit(writes)).is_ok() {
                return false;
            }
            // Not only the same batch again.
            let other = [task(30, "t", running(0), 1)];
            assert_eq!(now(memory.commit(&other)), now(sqlite.commit(&other)));
        }
        let head = now(memory.commit(writes)).unwrap();
        assert_eq!(now(sqlite.commit(writes)), Ok(head));
        if at >= step {
            assert_eq!(
                seen(&memory, head.0),
                seen(&sqlite, head.0),
                "{step} {fail_at} {at}"
            );
        }
    }
    true
}

#[test]
fn a_failure_at_any_call_of_any_commit_is_forgotten() {
    let calls = |step| (0..).take_while(|call| fails_and_goes_on(step, *call)).count();
    let failures: usize = (0..life().len()).map(calls).sum();
    assert!(failures > 40, "{failures}");
}

#[test]
fn storages_of_one_file_follow_each_other() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let memory = MemoryStorage::new("test");
    let mut batches = life();
    batches.insert(0, start());
    for writes in &batches {
        now(memory.commit(writes)).unwrap();
    }
    // A new storage for each batch, and one for all: the same in the end.
    for writes in &batches {
        let storage = Watched::file(&path);
        now(storage.commit(writes)).unwrap();
        now(storage.close()).unwrap();
    }
    let one = Watched::over(NativeDriver::in_memory().unwrap());
    for writes in &batches {
        now(one.commit(writes)).unwrap();
    }
    let last = Watched::file(&path);
    // Sequence numbers jump at a reopen, so only the current values compare.
    let current = |storage: &dyn Storage| {
        let (documents, tasks) = seen(storage, 0);
        let values: Vec<_> = documents
            .into_iter()
            .map(|document| {
                document
                    .unwrap()
                    .map(|document| (document.value, document.deltas_since_base))
            })
            .collect();
        (values, tasks)
    };
    assert_eq!(current(&last), current(&memory));
    assert_eq!(current(&one), current(&memory));
}

#[test]
fn more_documents_and_tasks_than_are_remembered_stay_exact() {
    let memory = MemoryStorage::new("test");
    let sqlite = Watched::over(NativeDriver::in_memory().unwrap());
    let both = |writes: &[StorageWrite]| {
        let (one, other) = (now(memory.commit(writes)), now(sqlite.commit(writes)));
        assert_eq!(one, other);
    };
    both(&[conversation(1)]);
    let (documents, tasks) = (1_000, 2_000);
    let count = RECALLED as u64 + 7;
    for each in 0..count {
        both(&[
            create(documents + each, StoredHistory::Latest),
            task(tasks + each, "t", running(0), 1),
        ]);
    }
    for round in 1..4 {
        for each in 0..count {
            both(&[
                delta(documents + each, 1, PACK_BYTES / 2),
                task(tasks + each, "t", running(round), 1),
            ]);
        }
    }
    for each in 0..count {
        let id = DocumentId(documents + each);
        let stored = |storage: &dyn Storage| now(storage.document(id, Point::Current)).unwrap();
        assert_eq!(stored(&memory), stored(&sqlite));
        let id = TaskId(tasks + each);
        assert_eq!(now(memory.task(id)), now(sqlite.task(id)));
    }
}
