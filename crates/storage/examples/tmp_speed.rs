#![allow(clippy::all, clippy::disallowed_methods)]
use futures::FutureExt;
use std::rc::Rc;
use std::time::Instant;
use tidehold_delta::{Op, json};
use tidehold_session::documents::*;
use tidehold_session::ids::*;
use tidehold_session::records::*;
use tidehold_session::storage::*;
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::native::*;
fn now<T>(f: impl Future<Output = T>) -> T { f.now_or_never().unwrap() }
fn main() {
    let path = std::path::Path::new("/dev/shm/tidehold-speed.db");
    for s in ["", "-wal", "-shm"] { let _ = std::fs::remove_file(format!("{}{s}", path.display())); }
    let storage = SqlStorage::open(NativeDriver::file(path, Durability::PowerLoss).unwrap(), "x").unwrap();
    let root = StorageWrite::Conversation(Rc::new(ConversationRecord { id: ConversationId(1), parent: None, owner: None }));
    let record = DocumentCreate { id: DocumentId(2), kind: "d".into(), key: None, scope: Scope::Session, history: None, fork: None };
    now(storage.commit(&[root, StorageWrite::DocumentCreate { record, version: 1, value: json!({"text": ""}) }])).unwrap();
    let delta = |text: &str| StorageWrite::DocumentChange { id: DocumentId(2), content: DocumentContent::Delta { version: 1, ops: vec![Op::Append(vec!["text".into()], text.into())].into() } };
    for round in 0..3 {
        let t = Instant::now();
        for _ in 0..5000 { now(storage.commit(&[delta(&"x".repeat(60))])).unwrap(); }
        println!("delta round {round}: {:?} each", t.elapsed() / 5000);
        let t = Instant::now();
        now(storage.document(DocumentId(2), Point::Current)).unwrap();
        println!("load {:?}", t.elapsed());
        now(storage.commit(&[StorageWrite::DocumentChange { id: DocumentId(2), content: DocumentContent::Base { version: 1, value: json!({"text": ""}) } }])).unwrap();
    }
    let entry = |id: u64| StorageWrite::Entry(Rc::new(EntryRecord { id: EntryId(id), conversation_id: ConversationId(1), kind: "e".into(), model: Some(vec![json!({"role":"user","content":"x".repeat(256)})]), data: None, head: None, edits: None, by_task_id: None }));
    let task = |id: u64| StorageWrite::Task(Rc::new(TaskRecord { id: TaskId(id), conversation_id: ConversationId(1), kind: "t".into(), version: 1, input: json!({}), owner: None, background: false, abort_requested: false, abort_reason: None, abandon_on_restart: false, started_at: None, ended_at: None, state: TaskState::Running { checkpoint: json!({"phase":"x"}) }, memos: Default::default() }));
    let t = Instant::now();
    for i in 0..5000u64 { now(storage.commit(&[entry(1000 + 2 * i), task(1001 + 2 * i), delta("hello")])).unwrap(); if i % 300 == 0 { now(storage.commit(&[StorageWrite::DocumentChange { id: DocumentId(2), content: DocumentContent::Base { version: 1, value: json!({"text": ""}) } }])).unwrap(); } }
    println!("entry+task+delta: {:?} each", t.elapsed() / 5000);
    let t = Instant::now();
    let q = EntryQuery { conversation_id: ConversationId(1), min_entry_id: None, max_entry_id: None, order: None };
    for _ in 0..1000 { now(storage.scan_entries(&q, 20, None)).unwrap(); }
    println!("scan 20: {:?}", t.elapsed() / 1000);
}
