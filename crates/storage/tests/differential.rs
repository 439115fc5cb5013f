//! Random batches over memory, SQLite and JSONL side by side: all accept the same ones and answer every read alike.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{now, options};
use std::rc::Rc;
use tidehold_delta::{Op, json};
use tidehold_session::documents::*;
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;
use tidehold_storage::conformance::random::Random;
use tidehold_storage::jsonl::Fsync;
use tidehold_storage::jsonl::fs::memory::MemoryFs;
use tidehold_storage::sql::native::NativeDriver;
use tidehold_storage::{JsonlStorage, MemoryStorage, SqlStorage};

/// Mostly a new id, sometimes one that exists or never did.
fn id(random: &mut Random, next: &mut u64) -> u64 {
    if random.chance(75) {
        *next += 1 + random.below(3);
        *next
    } else {
        1 + random.below(*next + 5)
    }
}

fn conversation(random: &mut Random, id: u64, next: u64) -> StorageWrite {
    let older = |random: &mut Random| 1 + random.below(next);
    let parent = random.chance(60).then(|| ConversationParent {
        conversation_id: ConversationId(older(random)),
        at: EntryId(older(random)),
    });
    let owner = random.chance(40).then(|| ConversationOwner {
        conversation_id: ConversationId(1 + random.below(4)),
        task_id: TaskId(older(random)),
    });
    // A cycle is no valid ancestry; the session cannot build one.
    let parent = parent.filter(|parent| parent.conversation_id.0 < id);
    StorageWrite::Conversation(Rc::new(ConversationRecord {
        id: ConversationId(id),
        parent,
        owner,
    }))
}

fn entry(random: &mut Random, id: u64, conversations: &[u64]) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ConversationId(random.pick(conversations)),
        kind: "e".into(),
        model: None,
        data: Some(random.below(1000).into()),
        head: random.chance(20).then_some(EntryId(id)),
        edits: None,
        by_task_id: None,
    }))
}

fn task(random: &mut Random, id: u64, conversations: &[u64]) -> StorageWrite {
    let checkpoint = json!({ "n": random.below(9) });
    let outcome = TaskOutcome::Orphaned { reason: "r".into() };
    let state = match random.below(4) {
        0 => TaskState::Pending { checkpoint },
        1 => TaskState::Running { checkpoint },
        2 => TaskState::Completing { outcome },
        _ => TaskState::Terminal { outcome },
    };
    StorageWrite::Task(Rc::new(TaskRecord {
        id: TaskId(id),
        conversation_id: ConversationId(conversations[id as usize % conversations.len().min(2)]),
        kind: ["a", "b"][id as usize % 2].into(),
        version: 1,
        input: json!({}),
        owner: None,
        background: random.chance(30),
        abort_requested: random.chance(30),
        abort_reason: None,
        abandon_on_restart: false,
        started_at: None,
        ended_at: None,
        state,
        memos: Default::default(),
    }))
}

fn submission(random: &mut Random, id: u64) -> StorageWrite {
    let (entry, answer) = (EntryId(1), EntryId(2));
    let status = match random.below(3) {
        0 => InputStatus::Queued,
        1 => InputStatus::Placed { entry },
        _ => InputStatus::Done { entry, answer },
    };
    StorageWrite::Submission(Rc::new(SubmissionRecord {
        id: SubmissionId(id),
        conversation_id: ConversationId(1),
        // A function of the id, so that replacements keep it; one in five collides with another.
        request_id: (!id.is_multiple_of(3)).then(|| {
            format!("r{}", if id.is_multiple_of(5) { 7 } else { id })
                .as_str()
                .into()
        }),
        content_hash: None,
        state: SubmissionState::Input(status),
    }))
}

fn document(random: &mut Random, id: u64) -> DocumentCreate {
    let (history, fork) = random.pick(&[
        (StoredHistory::Latest, ForkPolicy::Current),
        (StoredHistory::Rewindable, ForkPolicy::AsOf),
        (StoredHistory::Rewindable, ForkPolicy::Current),
    ]);
    let in_conversation = random.chance(80);
    DocumentCreate {
        id: DocumentId(id),
        kind: random.pick(&["x", "y"]).into(),
        key: random.chance(50).then(|| random.pick(&["k", "l", "m"]).into()),
        scope: if in_conversation {
            ConversationId(1 + random.below(3)).into()
        } else {
            Scope::Session
        },
        history: in_conversation.then_some(history),
        fork: in_conversation.then_some(fork),
    }
}

fn content(random: &mut Random) -> DocumentContent {
    let version = if random.chance(95) { 1 } else { 2 };
    if random.chance(20) {
        return DocumentContent::Base {
            version,
            value: json!({ "t": "", "base": random.below(99) }),
        };
    }
    let size = if random.chance(3) {
        20_000
    } else {
        random.below(50) as usize
    };
    let ops = vec![Op::Append(vec!["t".into()], "x".repeat(size).as_str().into())];
    DocumentContent::Delta {
        version,
        ops: ops.into(),
    }
}

fn at(random: &mut Random, head: u64) -> Point {
    if random.chance(50) {
        Point::Current
    } else {
        Point::At(Seq(random.below(head + 2)))
    }
}

/// What a run knows of its own past, for writes that have a chance to be valid.
struct Known {
    next: u64,
    head: u64,
    conversations: Vec<u64>,
    documents: Vec<u64>,
}

fn write(random: &mut Random, known: &mut Known) -> StorageWrite {
    let id = id(random, &mut known.next);
    let existing = DocumentId(random.pick(&known.documents));
    match random.below(20) {
        0 => {
            known.conversations.push(id);
            conversation(random, id, known.next)
        }
        1..=4 => entry(random, id, &known.conversations),
        5..=7 => task(random, id, &known.conversations),
        8..=9 => submission(random, id),
        10..=12 => {
            known.documents.push(id);
            StorageWrite::DocumentCreate {
                record: document(random, id),
                version: 1,
                value: json!({ "t": "" }),
            }
        }
        13..=14 => {
            known.documents.push(id);
            StorageWrite::DocumentCopy {
                record: document(random, id),
                source: existing,
                at: at(random, known.head),
            }
        }
        15..=18 => StorageWrite::DocumentChange {
            id: existing,
            content: content(random),
        },
        _ => StorageWrite::DocumentRetire { id: existing },
    }
}

/// An error by its class: texts may differ.
fn class<T>(result: Result<T, StorageError>) -> Result<T, &'static str> {
    result.map_err(|error| match error {
        StorageError::Batch(_) => "batch",
        StorageError::Request(_) => "request",
        StorageError::Corrupt(_) => "corrupt",
        other => panic!("{other}"),
    })
}

macro_rules! alike {
    ($one:expr, $other:expr, $method:ident($($argument:expr),*)) => {
        let (one, other) = (now($one.$method($($argument),*)), now($other.$method($($argument),*)));
        assert_eq!(class(one), class(other), "{}", stringify!($method($($argument),*)));
    };
}

fn compare(random: &mut Random, known: &Known, one: &dyn Storage, other: &dyn Storage) {
    let any = 1 + random.below(known.next + 3);
    let order = random.pick(&[None, Some(ScanOrder::Ascending), Some(ScanOrder::Descending)]);
    let limit = 1 + random.below(6) as usize;
    let conversation_id = ConversationId(random.pick(&known.conversations));
    alike!(one, other, conversation(ConversationId(any)));
    alike!(one, other, entry(EntryId(any)));
    alike!(one, other, visible_entry(conversation_id, EntryId(any)));
    alike!(one, other, task(TaskId(any)));
    alike!(one, other, submission(SubmissionId(any)));
    alike!(
        one,
        other,
        submission_by_request(ConversationId(1), &format!("r{any}"))
    );
    let cutoff = random.chance(50).then_some(EntryId(any));
    alike!(one, other, find_latest_head_marker(conversation_id, cutoff));
    let (id, point) = (DocumentId(random.pick(&known.documents)), at(random, known.head));
    alike!(one, other, document(id, point));
    let record = document(random, 1);
    let address = DocumentAddress {
        kind: record.kind.clone(),
        scope: record.scope,
        key: record.key,
    };
    alike!(one, other, find_document(&address, point));
    let kind = random.chance(50).then_some(record.kind);
    let query = DocumentQuery {
        scope: record.scope,
        at: at(random, known.head),
        kind,
    };
    alike!(one, other, scan_documents(&query, limit, None));
    let (min_entry_id, max_entry_id) = (None, random.chance(50).then_some(EntryId(any)));
    let query = EntryQuery {
        conversation_id,
        min_entry_id,
        max_entry_id,
        order,
    };
    let page = class(now(one.scan_entries(&query, limit, None)));
    assert_eq!(page, class(now(other.scan_entries(&query, limit, None))));
    if let Ok(Page {
        next: Some(cursor), ..
    }) = page
    {
        alike!(one, other, scan_entries(&query, limit, Some(&cursor)));
    }
    let flag = |random: &mut Random| random.chance(30).then(|| random.chance(50));
    let query = TaskQuery {
        conversation_id: random.chance(40).then_some(conversation_id),
        kind: random.chance(40).then(|| random.pick(&["a", "b"]).into()),
        status: random
            .chance(40)
            .then(|| random.pick(&[TaskStatus::Pending, TaskStatus::Terminal])),
        live: random.chance(30),
        abort_requested: flag(random),
        background: flag(random),
        order,
    };
    alike!(one, other, scan_tasks(&query, limit, None));
    let status = random
        .chance(40)
        .then(|| random.pick(&[SubmissionStatus::Queued, SubmissionStatus::Done]));
    let query = SubmissionQuery {
        conversation_id: None,
        status,
        live: random.chance(40),
        order,
    };
    alike!(one, other, scan_submissions(&query, limit, None));
    let query = ConversationQuery {
        owner_conversation_id: random.chance(50).then_some(ConversationId(1)),
        owner_task_id: random.chance(30).then_some(TaskId(any)),
        order,
    };
    alike!(one, other, scan_conversations(&query, limit, None));
}

fn run(seed: u64, rounds: u32) -> (u32, u32) {
    let mut random = Random::new(seed);
    let memory = MemoryStorage::new("test");
    let sqlite = SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap();
    let jsonl = now(JsonlStorage::open(
        MemoryFs::default(),
        options(Fsync::Off, "test"),
    ))
    .unwrap();
    let others: [&dyn Storage; 2] = [&sqlite, &jsonl];
    let mut known = Known {
        next: 1,
        head: 0,
        conversations: vec![1],
        documents: vec![1],
    };
    let first = [conversation(&mut Random::new(1), 1, 1)];
    let root = match &first[0] {
        StorageWrite::Conversation(record) => ConversationRecord {
            parent: None,
            owner: None,
            ..(**record).clone()
        },
        _ => return (0, 0),
    };
    let root = [StorageWrite::Conversation(Rc::new(root))];
    let seq = now(memory.commit(&root));
    for other in others {
        assert_eq!(now(other.commit(&root)), seq);
    }
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..rounds {
        let writes: Vec<StorageWrite> = (0..1 + random.below(4))
            .map(|_| write(&mut random, &mut known))
            .collect();
        let answer = class(now(memory.commit(&writes)));
        for other in others {
            assert_eq!(class(now(other.commit(&writes))), answer, "{writes:?}");
        }
        match answer {
            Ok(seq) => {
                accepted += 1;
                known.head = seq.0;
            }
            Err(_) => refused += 1,
        }
        let mut after = random.clone();
        for other in others {
            after = random.clone();
            compare(&mut after, &known, &memory, other);
        }
        random = after;
    }
    (accepted, refused)
}

#[test]
fn memory_sqlite_and_jsonl_agree() {
    for seed in 1..=40 {
        let (accepted, refused) = run(seed, 300);
        assert!(
            accepted > 50 && refused > 50,
            "{accepted} accepted, {refused} refused"
        );
    }
}
