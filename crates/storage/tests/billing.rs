//! Rows written, as the platform bills them.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::now;
use std::rc::Rc;
use tidehold_delta::{Json, Op, json};
use tidehold_session::documents::{DocumentCreate, ForkPolicy, Scope, StoredHistory};
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::{DocumentContent, Storage, StorageWrite};
use tidehold_storage::SqlStorage;
use tidehold_storage::limits::{ID_BLOCK, PACK_BYTES};
use tidehold_storage::sql::SqlDriver;
use tidehold_storage::sql::native::NativeDriver;

struct Meter(SqlStorage<NativeDriver>);

impl Meter {
    /// A session with a root conversation and two documents, 10 current-only and 11 rewindable.
    fn new() -> Self {
        let meter = Self(SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap());
        let root = ConversationRecord {
            id: ConversationId(1),
            parent: None,
            owner: None,
        };
        meter.rows(&[StorageWrite::Conversation(Rc::new(root))]);
        assert_eq!(meter.rows(&[create(10, StoredHistory::Latest)]), 2);
        assert_eq!(meter.rows(&[create(11, StoredHistory::Rewindable)]), 2);
        meter
    }

    fn rows(&self, writes: &[StorageWrite]) -> u64 {
        let before = self.0.driver().rows_written();
        now(self.0.commit(writes)).unwrap();
        self.0.driver().rows_written() - before
    }
}

fn create(id: u64, history: StoredHistory) -> StorageWrite {
    let record = DocumentCreate {
        id: DocumentId(id),
        kind: format!("kind-{id}").as_str().into(),
        key: None,
        scope: Scope::Conversation {
            conversation_id: ConversationId(1),
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

fn change(id: u64, content: DocumentContent) -> StorageWrite {
    StorageWrite::DocumentChange {
        id: DocumentId(id),
        content,
    }
}

fn delta(id: u64, text: &str) -> StorageWrite {
    let ops = vec![Op::Append(vec!["text".into()], text.into())];
    change(
        id,
        DocumentContent::Delta {
            version: 1,
            ops: ops.into(),
        },
    )
}

fn base(id: u64) -> StorageWrite {
    change(
        id,
        DocumentContent::Base {
            version: 1,
            value: json!({ "text": "" }),
        },
    )
}

fn entry(id: u64, head: Option<u64>, data: Option<Json>) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ConversationId(1),
        kind: "e".into(),
        model: None,
        data,
        head: head.map(EntryId),
        edits: None,
        by_task_id: None,
    }))
}

fn task(id: u64, state: TaskState) -> StorageWrite {
    StorageWrite::Task(Rc::new(TaskRecord {
        id: TaskId(id),
        conversation_id: ConversationId(1),
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

fn running() -> TaskState {
    TaskState::Running {
        checkpoint: json!({ "phase": "p" }),
    }
}

fn terminal() -> TaskState {
    TaskState::Terminal {
        outcome: TaskOutcome::Completed { result: json!(null) },
    }
}

fn submission(id: u64, request: Option<&str>, status: InputStatus) -> StorageWrite {
    StorageWrite::Submission(Rc::new(SubmissionRecord {
        id: SubmissionId(id),
        conversation_id: ConversationId(1),
        request_id: request.map(Into::into),
        content_hash: None,
        state: SubmissionState::Input(status),
    }))
}

#[test]
fn entry_task_and_delta_cost_at_most_five() {
    let meter = Meter::new();
    // The task is created, changed and ended, each with an entry and a delta beside it.
    assert_eq!(
        meter.rows(&[entry(20, None, None), task(30, running()), delta(10, "x")]),
        5
    );
    assert_eq!(
        meter.rows(&[entry(21, None, None), task(30, running()), delta(10, "x")]),
        4
    );
    assert_eq!(
        meter.rows(&[entry(22, None, None), task(30, terminal()), delta(10, "x")]),
        5
    );
    assert_eq!(
        meter.rows(&[entry(23, None, None), task(30, terminal()), delta(11, "x")]),
        4
    );
}

#[test]
fn single_writes() {
    let meter = Meter::new();
    assert_eq!(meter.rows(&[]), 0);
    assert_eq!(meter.rows(&[entry(20, None, None)]), 2);
    assert_eq!(meter.rows(&[entry(21, Some(20), None)]), 3);
    assert_eq!(meter.rows(&[task(30, running())]), 2);
    assert_eq!(meter.rows(&[task(30, running())]), 1);
    assert_eq!(meter.rows(&[task(30, terminal())]), 2);
    let entry = EntryId(20);
    assert_eq!(meter.rows(&[submission(40, Some("r"), InputStatus::Queued)]), 3);
    assert_eq!(
        meter.rows(&[submission(40, Some("r"), InputStatus::Placed { entry })]),
        1
    );
    assert_eq!(
        meter.rows(&[submission(
            40,
            Some("r"),
            InputStatus::Done { entry, answer: entry }
        )]),
        1
    );
    assert_eq!(meter.rows(&[submission(41, None, InputStatus::Queued)]), 2);
    assert_eq!(meter.rows(&[delta(10, "x")]), 1);
    assert_eq!(meter.rows(&[base(10)]), 1);
    assert_eq!(meter.rows(&[delta(11, "x")]), 1);
    assert_eq!(meter.rows(&[base(11)]), 1);
    assert_eq!(
        meter.rows(&[StorageWrite::DocumentRetire { id: DocumentId(11) }]),
        1
    );
    assert_eq!(
        meter.rows(&[StorageWrite::DocumentRetire { id: DocumentId(10) }]),
        1
    );
    let owner = Some(ConversationOwner {
        conversation_id: ConversationId(1),
        task_id: TaskId(30),
    });
    let owned = ConversationRecord {
        id: ConversationId(50),
        parent: None,
        owner,
    };
    assert_eq!(meter.rows(&[StorageWrite::Conversation(Rc::new(owned))]), 3);
}

#[test]
fn stream_from_base_to_base() {
    let meter = Meter::new();
    for size in [20, 500, 2000] {
        let mut rows = 0;
        for _ in 0..100 {
            rows += meter.rows(&[delta(10, &"y".repeat(size))]);
        }
        rows += meter.rows(&[base(10)]);
        let packs = (100 * (size + 30) / PACK_BYTES) as u64;
        println!("100 deltas of {size} bytes and a base: {rows} rows");
        assert!(rows <= 101 + packs, "{rows} rows");
        assert!(rows <= 110);
    }
}

#[test]
fn long_values_overwrite_their_chunks() {
    let meter = Meter::new();
    let big = |size: usize| TaskState::Running {
        checkpoint: "z".repeat(size).into(),
    };
    assert_eq!(meter.rows(&[task(30, big(2_500_000))]), 2 + 3);
    assert_eq!(meter.rows(&[task(30, big(2_600_000))]), 1 + 3);
    assert_eq!(meter.rows(&[task(30, big(1_500_000))]), 1 + 2 + 1);
    assert_eq!(meter.rows(&[task(30, running())]), 1 + 2);
    assert_eq!(
        meter.rows(&[entry(20, None, Some("e".repeat(1_500_000).into()))]),
        2 + 2
    );
}

#[test]
fn marks_cost_a_row_a_block() {
    let meter = Meter::new();
    let before = meter.0.driver().rows_written();
    for _ in 0..ID_BLOCK * 10 {
        now(meter.0.mint_id()).unwrap();
    }
    let rows = meter.0.driver().rows_written() - before;
    assert!((9..=10).contains(&rows), "{rows} rows");
}
