//! Every read uses an index or a key, whatever it is filtered by; and every index is one that some read uses.
//!
//! All reads of [`Storage`] are made with every combination of their filters, on a session with a few records of each kind.
//! The statements that reach the driver are all that read, and each is explained with the values it came with.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Scratch, now};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use tidehold_delta::{Op, json};
use tidehold_session::documents::*;
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;
use tidehold_storage::SqlStorage;
use tidehold_storage::limits::PACK_BYTES;
use tidehold_storage::sql::native::{Durability, NativeDriver};
use tidehold_storage::sql::statements::{STATEMENTS, Statement};
use tidehold_storage::sql::{Param, Row, SqlDriver, SqlError, Writes};

/// Explains each statement that reads, with its parameters, before it runs.
struct Explaining {
    inner: NativeDriver,
    plans: Plans,
}

/// By statement id: every step of every plan it had.
type Plans = Rc<RefCell<BTreeMap<usize, Vec<String>>>>;

impl Explaining {
    fn open(path: &Path, plans: &Plans) -> SqlStorage<Self> {
        let explaining = Self {
            inner: NativeDriver::file(path, Durability::ProcessCrash).unwrap(),
            plans: Rc::clone(plans),
        };
        SqlStorage::open(explaining, "test").unwrap()
    }

    fn explain(&self, statement: &Statement, params: &[Param<'_>]) -> Result<Vec<String>, SqlError> {
        self.inner.with(|connection| {
            let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", statement.sql))?;
            let steps = explained.query_map(rusqlite::params_from_iter(params), |row| row.get(3))?;
            steps.collect()
        })
    }
}

impl SqlDriver for Explaining {
    fn query(&self, statement: &'static Statement, params: &[Param<'_>]) -> Result<Vec<Row>, SqlError> {
        let steps = self.explain(statement, params)?;
        self.plans
            .borrow_mut()
            .entry(statement.id)
            .or_default()
            .extend(steps);
        self.inner.query(statement, params)
    }

    fn apply(&self, writes: &Writes) -> Result<(), SqlError> {
        self.inner.apply(writes)
    }

    fn rows_written(&self) -> u64 {
        self.inner.rows_written()
    }
}

const ROOT: ConversationId = ConversationId(1);
const FORK: ConversationId = ConversationId(2);
const TASK: TaskId = TaskId(10);
const LATEST: DocumentId = DocumentId(20);
const REWINDABLE: DocumentId = DocumentId(21);
const LONG: EntryId = EntryId(30);
const SUBMISSION: SubmissionId = SubmissionId(40);

fn conversation(id: ConversationId, at: Option<EntryId>) -> StorageWrite {
    StorageWrite::Conversation(Rc::new(ConversationRecord {
        id,
        parent: at.map(|at| ConversationParent {
            conversation_id: ROOT,
            at,
        }),
        owner: None,
    }))
}

fn entry(id: EntryId, text: &str, head: Option<EntryId>) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        id,
        conversation_id: ROOT,
        kind: "e".into(),
        model: None,
        data: Some(json!({ "text": text })),
        head,
        edits: None,
        by_task_id: None,
    }))
}

fn task(state: TaskState) -> StorageWrite {
    StorageWrite::Task(Rc::new(TaskRecord {
        id: TASK,
        conversation_id: ROOT,
        kind: "t".into(),
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

fn submission(status: InputStatus) -> StorageWrite {
    StorageWrite::Submission(Rc::new(SubmissionRecord {
        id: SUBMISSION,
        conversation_id: ROOT,
        request_id: Some("r".into()),
        content_hash: None,
        state: SubmissionState::Input(status),
    }))
}

fn create(id: DocumentId, history: StoredHistory) -> StorageWrite {
    StorageWrite::DocumentCreate {
        record: DocumentCreate {
            id,
            kind: "d".into(),
            key: Some(id.to_string().as_str().into()),
            scope: ROOT.into(),
            history: Some(history),
            fork: Some(ForkPolicy::Current),
        },
        version: 1,
        value: json!({ "text": "" }),
    }
}

fn delta(id: DocumentId) -> StorageWrite {
    let ops = vec![Op::Append(
        vec!["text".into()],
        "x".repeat(PACK_BYTES).as_str().into(),
    )];
    StorageWrite::DocumentChange {
        id,
        content: DocumentContent::Delta {
            version: 1,
            ops: ops.into(),
        },
    }
}

/// Something for every statement to find.
fn fill(storage: &SqlStorage<Explaining>) {
    let running = TaskState::Running {
        checkpoint: json!({}),
    };
    let first = [
        conversation(ROOT, None),
        entry(LONG, &"l".repeat(1_200_000), Some(LONG)),
        task(running),
        submission(InputStatus::Queued),
        create(LATEST, StoredHistory::Latest),
        create(REWINDABLE, StoredHistory::Rewindable),
    ];
    now(storage.commit(&first)).unwrap();
    now(storage.commit(&[delta(LATEST), delta(REWINDABLE), conversation(FORK, Some(LONG))])).unwrap();
}

/// Neither, and either filter.
fn either<T: Clone>(value: T) -> [Option<T>; 2] {
    [None, Some(value)]
}

const ORDERS: [Option<ScanOrder>; 3] = [None, Some(ScanOrder::Ascending), Some(ScanOrder::Descending)];

/// A page, and the one after it.
fn two_pages<T>(page: impl Fn(Option<&Cursor>) -> Result<Page<T>, StorageError>) {
    if let Some(next) = page(None).unwrap().next {
        page(Some(&next)).unwrap();
    }
}

fn read_records(storage: &dyn Storage) {
    now(storage.conversation(ROOT)).unwrap().unwrap();
    now(storage.entry(LONG)).unwrap().unwrap();
    now(storage.visible_entry(FORK, LONG)).unwrap().unwrap();
    now(storage.task(TASK)).unwrap().unwrap();
    now(storage.submission(SUBMISSION)).unwrap().unwrap();
    now(storage.submission_by_request(ROOT, "r")).unwrap().unwrap();
    for at in either(LONG) {
        now(storage.find_latest_head_marker(FORK, at)).unwrap().unwrap();
    }
}

fn scan_conversations(storage: &dyn Storage) {
    for order in ORDERS {
        for owner_conversation_id in either(ROOT) {
            for owner_task_id in either(TASK) {
                let query = ConversationQuery {
                    owner_conversation_id,
                    owner_task_id,
                    order,
                };
                two_pages(|cursor| now(storage.scan_conversations(&query, 1, cursor)));
            }
        }
    }
}

fn scan_entries(storage: &dyn Storage) {
    for order in ORDERS {
        for min_entry_id in either(LONG) {
            for max_entry_id in either(LONG) {
                let query = EntryQuery {
                    conversation_id: FORK,
                    min_entry_id,
                    max_entry_id,
                    order,
                };
                two_pages(|cursor| now(storage.scan_entries(&query, 1, cursor)));
            }
        }
    }
}

fn scan_tasks(storage: &dyn Storage) {
    let statuses = [
        None,
        Some(TaskStatus::Pending),
        Some(TaskStatus::Running),
        Some(TaskStatus::Waiting),
        Some(TaskStatus::Completing),
        Some(TaskStatus::Terminal),
    ];
    for order in ORDERS {
        for status in statuses {
            for filters in 0..32_u8 {
                let has = |bit: u8| filters & (1 << bit) != 0;
                let query = TaskQuery {
                    conversation_id: has(0).then_some(ROOT),
                    kind: has(1).then(|| "t".into()),
                    status,
                    live: has(2),
                    abort_requested: has(3).then_some(false),
                    background: has(4).then_some(false),
                    order,
                };
                two_pages(|cursor| now(storage.scan_tasks(&query, 1, cursor)));
            }
        }
    }
}

fn scan_submissions(storage: &dyn Storage) {
    let statuses = [
        None,
        Some(SubmissionStatus::Queued),
        Some(SubmissionStatus::Placed),
        Some(SubmissionStatus::Done),
        Some(SubmissionStatus::Unanswered),
    ];
    for order in ORDERS {
        for status in statuses {
            for conversation_id in either(ROOT) {
                for live in [false, true] {
                    let query = SubmissionQuery {
                        conversation_id,
                        status,
                        live,
                        order,
                    };
                    two_pages(|cursor| now(storage.scan_submissions(&query, 1, cursor)));
                }
            }
        }
    }
}

fn read_documents(storage: &dyn Storage) {
    let points = [Point::Current, Point::At(Seq(1)), Point::At(Seq(2))];
    for at in points {
        for key in either("20".into()) {
            let address = DocumentAddress {
                kind: "d".into(),
                scope: ROOT.into(),
                key,
            };
            now(storage.find_document(&address, at)).unwrap();
        }
        for kind in either("d".into()) {
            for scope in [Scope::Session, ROOT.into(), TASK.into()] {
                let kind: Option<tidehold_delta::Text> = kind.clone();
                let query = DocumentQuery { scope, at, kind };
                two_pages(|cursor| now(storage.scan_documents(&query, 1, cursor)));
            }
        }
        now(storage.document(REWINDABLE, at)).unwrap().unwrap();
    }
    now(storage.document(LATEST, Point::Current)).unwrap().unwrap();
}

/// What a commit reads of what it changes while the storage remembers nothing of it.
fn commit_over_everything(storage: &SqlStorage<Explaining>) {
    let ended = TaskState::Terminal {
        outcome: TaskOutcome::Orphaned { reason: "r".into() },
    };
    let unanswered = InputStatus::Unanswered {
        entry: None,
        reason: "r".into(),
        detail: None,
    };
    now(storage.commit(&[
        task(ended),
        submission(unanswered),
        delta(LATEST),
        create(DocumentId(50), StoredHistory::Latest),
        entry(EntryId(51), "", None),
    ]))
    .unwrap();
    let other = SubmissionRecord {
        id: SubmissionId(52),
        conversation_id: ROOT,
        request_id: Some("s".into()),
        content_hash: None,
        state: SubmissionState::Input(InputStatus::Queued),
    };
    now(storage.commit(&[StorageWrite::Submission(Rc::new(other))])).unwrap();
}

/// The plans of everything that reads, and the names of all indexes.
fn plans_and_indexes() -> (BTreeMap<usize, Vec<String>>, Vec<String>) {
    let (scratch, plans) = (Scratch::new(), Plans::default());
    let path = scratch.path().join("a.db");
    fill(&Explaining::open(&path, &plans));
    let storage = Explaining::open(&path, &plans);
    read_records(&storage);
    scan_conversations(&storage);
    scan_entries(&storage);
    scan_tasks(&storage);
    scan_submissions(&storage);
    read_documents(&storage);
    commit_over_everything(&storage);
    let indexes = storage.driver().inner.with(|connection| {
        let mut named = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'index'")?;
        let names = named.query_map([], |row| row.get(0))?;
        names.collect()
    });
    (plans.take(), indexes.unwrap())
}

fn reads(statement: &Statement) -> bool {
    statement.sql.starts_with("SELECT") || statement.sql.starts_with("WITH")
}

#[test]
fn every_read_uses_an_index_or_a_key() {
    let (plans, _) = plans_and_indexes();
    for (id, steps) in &plans {
        for step in steps {
            let keyed = step.starts_with("SEARCH")
                && [
                    " USING INDEX ",
                    " USING COVERING INDEX ",
                    " USING INTEGER PRIMARY KEY ",
                    " USING PRIMARY KEY ",
                ]
                .iter()
                .any(|key| step.contains(key));
            // No table: the recursion's own rows, a row without FROM, the parts of a statement, sorting what was found.
            let tableless = ["SCAN line", "SCAN CONSTANT ROW", "SETUP", "RECURSIVE STEP"]
                .contains(&step.as_str())
                || [
                    "MATERIALIZE",
                    "CO-ROUTINE",
                    "SCALAR SUBQUERY",
                    "USE TEMP B-TREE FOR ORDER BY",
                ]
                .iter()
                .any(|part| step.starts_with(part));
            // The schema has a handful of rows and no index; it is asked once, when a storage opens.
            let schema = step.ends_with("SCAN sqlite_master");
            assert!(keyed || tableless || schema, "{}\n{step}", STATEMENTS[*id].sql);
        }
    }
}

/// Otherwise the test above would be silent about what it never saw.
#[test]
fn every_statement_that_reads_was_seen() {
    let (plans, _) = plans_and_indexes();
    let unseen: Vec<_> = STATEMENTS
        .iter()
        .filter(|statement| reads(statement) && !plans.contains_key(&statement.id))
        .map(|statement| statement.sql)
        .collect();
    assert_eq!(unseen, Vec::<&str>::new());
}

#[test]
fn no_index_is_without_a_read_that_needs_it() {
    let (plans, indexes) = plans_and_indexes();
    assert!(indexes.len() >= 9, "{indexes:?}");
    for index in indexes {
        let name = format!(" INDEX {index} ");
        let used = plans.values().flatten().any(|step| step.contains(&name));
        assert!(used, "no read uses {index}");
    }
}
