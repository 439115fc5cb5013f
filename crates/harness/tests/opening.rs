//! Opening a session reads what it needs and no history: as much over 50,000 entries as over 10.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use rusqlite::StatementStatus;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;
use support::{RecordedAlarm, echo, harness_over};
use tidehold_delta::json;
use tidehold_harness::Settings;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{ConversationRecord, EntryRecord};
use tidehold_session::storage::{Storage, StorageWrite};
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, SqlStorage, Writes};

/// What reading came to: rows returned, and the steps of the engine's machine, which count each row it looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Read {
    rows: usize,
    steps: i32,
}

struct Counting {
    inner: NativeDriver,
    read: Rc<Cell<Read>>,
}

impl SqlDriver for Counting {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        let rows = self.inner.query(statement, params)?;
        // The statement that just ran, from the connection's cache.
        let steps = self.inner.with(|connection| {
            let prepared = connection.prepare_cached(statement.sql)?;
            Ok(prepared.reset_status(StatementStatus::VmStep))
        })?;
        let before = self.read.get();
        self.read.set(Read {
            rows: before.rows + rows.len(),
            steps: before.steps + steps,
        });
        Ok(rows)
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        self.inner.apply(writes)
    }

    fn rows_written(&self) -> u64 {
        self.inner.rows_written()
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    futures::FutureExt::now_or_never(future).expect("ready at first poll")
}

/// A database that is deleted with this value.
struct Database(PathBuf);

impl Database {
    /// A root with so many entries of 4,000 bytes.
    fn with_entries(name: &str, entries: u64) -> Self {
        let database = Self(std::env::temp_dir().join(format!("tidehold-{}-{name}", std::process::id())));
        std::fs::create_dir_all(&database.0).unwrap();
        let driver = NativeDriver::file(&database.file(), Durability::ProcessCrash).unwrap();
        let storage = SqlStorage::open(driver, "opening").unwrap();
        let root = ConversationRecord {
            id: ROOT_CONVERSATION_ID,
            parent: None,
            owner: None,
        };
        now(storage.commit(&[StorageWrite::Conversation(Rc::new(root))])).unwrap();
        let ids: Vec<u64> = (10..10 + entries).collect();
        for ids in ids.chunks(500) {
            let writes: Vec<StorageWrite> = ids.iter().map(|id| entry(*id)).collect();
            now(storage.commit(&writes)).unwrap();
        }
        now(storage.close()).unwrap();
        database
    }

    fn file(&self) -> PathBuf {
        self.0.join("session.db")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn entry(id: u64) -> StorageWrite {
    let text = format!("entry {id} {}", "words of an answer ".repeat(207));
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ROOT_CONVERSATION_ID,
        kind: "pi.assistant".into(),
        model: Some(vec![json!({ "role": "assistant", "content": text })]),
        data: None,
        // The newest head is far back, as it is in a session that was compacted once.
        head: (id == 10).then_some(EntryId(10)),
        edits: None,
        by_task_id: None,
    }))
}

/// Opens the session, and reads what a client asks for first: the root, its newest head, the last page.
fn open(file: &Path) -> Read {
    let read = Rc::new(Cell::default());
    let counting = Counting {
        inner: NativeDriver::file(file, Durability::ProcessCrash).unwrap(),
        read: Rc::clone(&read),
    };
    let storage = Rc::new(SqlStorage::open(counting, "candidate").unwrap());
    let mut runtime = LocalRuntime::virtual_clock(1_000_000, 7);
    let alarm = Rc::new(RecordedAlarm::default());
    let harness = harness_over(&mut runtime, storage, alarm, &Settings::default(), echo());
    let page = runtime.run(async move {
        harness.conversation(ROOT_CONVERSATION_ID).await.unwrap().unwrap();
        let session = harness.session();
        let marker = session.latest_head_marker(ROOT_CONVERSATION_ID, None);
        assert_eq!(marker.await.unwrap().unwrap().head, EntryId(10));
        harness
            .entries(ROOT_CONVERSATION_ID, None, 10, None)
            .await
            .unwrap()
    });
    assert_eq!(page.unwrap().items.len(), 10);
    read.get()
}

#[test]
fn opening_reads_as_much_of_a_long_history_as_of_a_short_one() {
    let short = Database::with_entries("short", 10);
    let long = Database::with_entries("long", 50_000);
    let size = std::fs::metadata(long.file()).unwrap().len();
    assert!(size > 200_000_000, "{size} bytes");
    // The figures of the first opening are those of a cold file.
    let timed = |database: &Database| {
        let started = Instant::now();
        let read = open(&database.file());
        (read, started.elapsed())
    };
    let ((of_short, short_took), (of_long, long_took)) = (timed(&short), timed(&long));
    println!(
        "10 entries: {of_short:?} in {short_took:?}; 50,000 entries ({size} bytes): {of_long:?} in {long_took:?}"
    );
    assert_eq!(of_short.rows, of_long.rows);
    // Pages of ten through a deeper tree; a look at one entry more would be a step more for each.
    assert!(of_long.steps <= of_short.steps + 10, "{of_short:?} {of_long:?}");
    assert!(of_long.rows < 40, "{of_long:?}");
}
