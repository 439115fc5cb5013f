//! What a database can suffer: interrupted transactions, missing rows, a newer release; and what is left after
//! reclamation.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Scratch, apply_and_fail, now};
use std::path::Path;
use std::rc::Rc;
use tidehold_delta::{Op, json};
use tidehold_session::documents::{DocumentCreate, ForkPolicy, Point, Scope, StoredHistory};
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::Statement;
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Writes};

fn open(path: &Path) -> Result<SqlStorage<NativeDriver>, StorageError> {
    SqlStorage::open(NativeDriver::file(path, Durability::PowerLoss).unwrap(), "test")
}

fn run(storage: &SqlStorage<NativeDriver>, sql: &str) {
    storage
        .driver()
        .with(|connection| connection.execute(sql, []).map(drop))
        .unwrap();
}

fn count(storage: &SqlStorage<NativeDriver>, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    storage
        .driver()
        .with(|connection| connection.query_row(&sql, [], |row| row.get(0)))
        .unwrap()
}

fn conversation() -> StorageWrite {
    StorageWrite::Conversation(Rc::new(ConversationRecord {
        id: ConversationId(1),
        parent: None,
        owner: None,
    }))
}

fn entry(id: u64, text: &str) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ConversationId(1),
        kind: "e".into(),
        model: None,
        data: Some(text.into()),
        head: None,
        edits: None,
        by_task_id: None,
    }))
}

fn create(id: u64) -> StorageWrite {
    let record = DocumentCreate {
        id: DocumentId(id),
        kind: "d".into(),
        key: Some(id.to_string().as_str().into()),
        scope: Scope::Session,
        history: None,
        fork: None,
    };
    StorageWrite::DocumentCreate {
        record,
        version: 1,
        value: json!({ "text": "" }),
    }
}

fn change(id: u64, content: DocumentContent) -> StorageWrite {
    StorageWrite::DocumentChange {
        id: DocumentId(id),
        content,
    }
}

fn append(id: u64, size: usize) -> StorageWrite {
    let ops = vec![Op::Append(vec!["text".into()], "x".repeat(size).as_str().into())];
    change(
        id,
        DocumentContent::Delta {
            version: 1,
            ops: ops.into(),
        },
    )
}

#[test]
fn newer_schema_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let storage = open(&path).unwrap();
    now(storage.commit(&[conversation()])).unwrap();
    run(&storage, "UPDATE meta SET schema = 99");
    assert_eq!(
        open(&path).err(),
        Some(StorageError::SchemaTooNew {
            found: 99,
            supported: 2
        })
    );
}

#[test]
fn a_session_of_an_older_schema_is_migrated_and_goes_on() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let storage = open(&path).unwrap();
    now(storage.commit(&[conversation(), entry(2, "old"), create(3)])).unwrap();
    // What schema 2 added to schema 1.
    run(&storage, "DROP VIEW small_commits");
    run(&storage, "UPDATE meta SET schema = 1");
    drop(storage);

    let storage = open(&path).unwrap();
    now(storage.commit(&[entry(4, "new"), append(3, 5)])).unwrap();
    drop(storage);
    let storage = open(&path).unwrap();
    for id in [2, 4] {
        assert!(now(storage.entry(EntryId(id))).unwrap().is_some(), "entry {id}");
    }
    let document = now(storage.document(DocumentId(3), Point::Current))
        .unwrap()
        .unwrap();
    assert_eq!(document.value, json!({ "text": "xxxxx" }));
}

#[test]
fn missing_metadata_is_named() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let storage = open(&path).unwrap();
    now(storage.commit(&[conversation()])).unwrap();
    run(&storage, "DELETE FROM meta");
    assert!(matches!(open(&path).err(), Some(StorageError::Corrupt(text)) if text.contains("metadata")));
}

#[test]
fn damaged_rows_are_corruption_not_absence() {
    let damages = [
        ("UPDATE documents SET content = ''", "document"),
        ("UPDATE documents SET content = 'nonsense'", "document"),
        (
            "UPDATE documents SET content = replace(content, 'd 3 1', 'd 3 2')",
            "document",
        ),
        ("UPDATE documents SET scope = 7", "document"),
        ("UPDATE entries SET record = '{' WHERE id = 10", "entry"),
        ("UPDATE entries SET record = '{}' WHERE id = 10", "entry"),
        ("DELETE FROM chunks WHERE part = 1", "long entry"),
        ("UPDATE chunks SET data = x'ff' WHERE part = 0", "long entry"),
    ];
    for (damage, victim) in damages {
        let storage = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
        now(storage.commit(&[
            conversation(),
            entry(10, "short"),
            entry(11, &"l".repeat(2_500_000)),
        ]))
        .unwrap();
        now(storage.commit(&[create(20)])).unwrap();
        now(storage.commit(&[append(20, 5)])).unwrap();
        run(&storage, damage);
        let error = match victim {
            "document" => now(storage.document(DocumentId(20), Point::Current)).err(),
            "entry" => now(storage.entry(EntryId(10))).err(),
            _ => now(storage.entry(EntryId(11))).err(),
        };
        assert!(
            matches!(error, Some(StorageError::Corrupt(_))),
            "{damage}: {error:?}"
        );
        // Others stay readable.
        assert!(now(storage.conversation(ConversationId(1))).unwrap().is_some());
    }
}

#[test]
fn a_read_starts_at_the_newest_base() {
    let storage = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
    let record = DocumentCreate {
        id: DocumentId(20),
        kind: "d".into(),
        key: None,
        scope: ConversationId(1).into(),
        history: Some(StoredHistory::Rewindable),
        fork: Some(ForkPolicy::AsOf),
    };
    let create = StorageWrite::DocumentCreate {
        record,
        version: 1,
        value: json!({ "text": "" }),
    };
    now(storage.commit(&[conversation(), create])).unwrap();
    let early = now(storage.commit(&[append(20, 5)])).unwrap();
    let base = DocumentContent::Base {
        version: 1,
        value: json!({ "text": "" }),
    };
    now(storage.commit(&[change(20, base)])).unwrap();
    let late = now(storage.commit(&[append(20, 7)])).unwrap();
    // What comes before the base is not even looked at.
    run(&storage, "UPDATE documents SET content = 'nonsense'");
    run(
        &storage,
        "UPDATE document_parts SET content = 'nonsense' WHERE seq = 2",
    );
    for at in [Point::Current, Point::At(late)] {
        let stored = now(storage.document(DocumentId(20), at)).unwrap().unwrap();
        assert_eq!(stored.value, json!({ "text": "xxxxxxx" }));
    }
    assert!(matches!(
        now(storage.document(DocumentId(20), Point::At(early))),
        Err(StorageError::Corrupt(_))
    ));
}

#[test]
fn reclamation_leaves_one_row_and_no_chunk() {
    let storage = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
    now(storage.commit(&[conversation(), create(20)])).unwrap();
    for _ in 0..20 {
        now(storage.commit(&[append(20, 20_000)])).unwrap();
    }
    now(storage.commit(&[append(20, 3_000_000)])).unwrap();
    assert!(count(&storage, "document_parts") > 3);
    assert_eq!(count(&storage, "chunks"), 4);
    let base = |size: usize| DocumentContent::Base {
        version: 1,
        value: json!({ "text": "b".repeat(size) }),
    };
    now(storage.commit(&[change(20, base(2_500_000))])).unwrap();
    assert_eq!(
        (count(&storage, "document_parts"), count(&storage, "chunks")),
        (0, 3)
    );
    now(storage.commit(&[change(20, base(5))])).unwrap();
    assert_eq!(
        (count(&storage, "document_parts"), count(&storage, "chunks")),
        (0, 0)
    );
    now(storage.commit(&[change(20, base(2_500_000))])).unwrap();
    for _ in 0..5 {
        now(storage.commit(&[append(20, 60_000)])).unwrap();
    }
    now(storage.commit(&[StorageWrite::DocumentRetire { id: DocumentId(20) }])).unwrap();
    assert_eq!(
        (count(&storage, "document_parts"), count(&storage, "chunks")),
        (0, 0)
    );
    assert_eq!(count(&storage, "documents"), 1);
}

/// Fails the n-th statement that writes, once.
struct Failing {
    inner: NativeDriver,
    left: std::cell::Cell<u32>,
}

impl SqlDriver for Failing {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        self.inner.query(statement, params)
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        let (left, steps) = (self.left.get() as usize, writes.steps().len());
        if (1..=steps).contains(&left) {
            self.left.set(0);
            apply_and_fail(&self.inner, writes, left - 1);
            return Err(SqlError("injected".into()));
        }
        self.left.set(left.saturating_sub(steps) as u32);
        self.inner.apply(writes)
    }

    fn rows_written(&self) -> u64 {
        self.inner.rows_written()
    }
}

fn failing(path: &Path) -> SqlStorage<Failing> {
    let inner = NativeDriver::file(path, Durability::ProcessCrash).unwrap();
    SqlStorage::open(
        Failing {
            inner,
            left: 0.into(),
        },
        "test",
    )
    .unwrap()
}

#[test]
fn a_failure_at_any_statement_leaves_the_previous_state() {
    let scratch = Scratch::new();
    let writes = [
        entry(30, &"n".repeat(1_500_000)),
        append(20, 40_000),
        create(31),
        create(32),
    ];
    let mut failures = 0;
    for fail_at in 1.. {
        let path = scratch.path().join(format!("{fail_at}.db"));
        let storage = failing(&path);
        now(storage.commit(&[conversation(), create(20)])).unwrap();
        let before = now(storage.commit(&[append(20, 40_000)])).unwrap();
        storage.driver().left.set(fail_at);
        let outcome = now(storage.commit(&writes));
        storage.driver().left.set(0);
        if outcome.is_ok() {
            break;
        }
        failures += 1;
        assert_eq!(outcome, Err(StorageError::Backend("injected".into())));
        let reopened = failing(&path);
        for storage in [&storage, &reopened] {
            assert_eq!(now(storage.entry(EntryId(30))).unwrap(), None);
            assert_eq!(
                now(storage.document(DocumentId(31), Point::Current)).unwrap(),
                None
            );
            let stored = now(storage.document(DocumentId(20), Point::Current))
                .unwrap()
                .unwrap();
            assert_eq!(
                (stored.deltas_since_base, stored.value.encoded_len()),
                (1, 40_000 + 11)
            );
        }
        let again = now(reopened.commit(&writes)).unwrap();
        assert!(again > before);
    }
    assert!(failures >= 5, "{failures}");
}

#[test]
fn a_failure_in_the_first_commit_leaves_nothing() {
    let scratch = Scratch::new();
    for fail_at in 1..=20 {
        let path = scratch.path().join(format!("{fail_at}.db"));
        let storage = failing(&path);
        storage.driver().left.set(fail_at);
        if now(storage.commit(&[conversation(), create(20)])).is_ok() {
            assert!(fail_at > 15);
            break;
        }
        storage.driver().left.set(0);
        assert!(!storage.driver().inner.has_objects().unwrap());
        assert_eq!(now(storage.head()).unwrap(), None);
        assert_eq!(now(failing(&path).incarnation()).unwrap(), None);
        now(storage.commit(&[conversation(), create(20)])).unwrap();
    }
}

#[test]
fn a_failed_mark_spends_no_id() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    now(failing(&path).commit(&[conversation()])).unwrap();
    let storage = failing(&path);
    storage.driver().left.set(1);
    assert!(now(storage.mint_id()).is_err());
    let first = now(storage.mint_id()).unwrap();
    assert!(now(failing(&path).mint_id()).unwrap() > first);
}

#[test]
fn hundred_entries_and_deltas_stay_small() {
    let scratch = Scratch::new();
    let path = scratch.path().join("a.db");
    let storage = open(&path).unwrap();
    now(storage.commit(&[conversation(), create(2)])).unwrap();
    for id in 10..110 {
        now(storage.commit(&[entry(id, "a short entry"), append(2, 50)])).unwrap();
    }
    now(storage.close()).unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 256 * 1024, "{size} bytes");
    assert!(
        !scratch.path().join("a.db-wal").exists(),
        "the log is folded in at close"
    );
}
