//! A JSONL directory in memory, and batches that touch all of its files.

#![allow(clippy::unwrap_used)]

use super::{now, options};
use tidehold_delta::json;
use tidehold_session::ids::Seq;
use tidehold_session::storage::{Storage, StorageError, StorageWrite};
use tidehold_storage::JsonlStorage;
use tidehold_storage::conformance::build::*;
use tidehold_storage::conformance::dump::{Item, dump};
use tidehold_storage::jsonl::fs::memory::{Call, MemoryFs};
use tidehold_storage::jsonl::{Fsync, JsonlOpenError};

pub type Jsonl = JsonlStorage<MemoryFs>;

/// What [`first`] and [`second`] write besides `main.jsonl`.
pub const SIDECARS: [&str; 3] = ["doc-20.jsonl", "doc-21.jsonl", "task-10.jsonl"];

pub fn try_open(fs: &MemoryFs, fsync: Fsync) -> Result<Jsonl, JsonlOpenError> {
    now(JsonlStorage::open(fs.clone(), options(fsync, "test")))
}

pub fn open(fs: &MemoryFs, fsync: Fsync) -> Jsonl {
    try_open(fs, fsync).unwrap()
}

/// A new directory with the first commit, opened again, so that with fsync everything is flushed.
pub fn opened_after_first(fsync: Fsync) -> (MemoryFs, Jsonl) {
    let fs = MemoryFs::default();
    commit(&open(&fs, fsync), &first()).unwrap();
    let storage = open(&fs, fsync);
    fs.take_log();
    (fs, storage)
}

pub fn commit(storage: &Jsonl, writes: &[StorageWrite]) -> Result<Seq, StorageError> {
    now(storage.commit(writes))
}

/// Root, a live task 10, a latest document 20 and a rewindable one 21, with text of several bytes a character.
pub fn first() -> Vec<StorageWrite> {
    vec![
        conv(1),
        put_task(task(10, 1, "t", pending())),
        doc::create(doc::latest(20, 1, "l"), 1, json!({ "t": "é😀" })),
        doc::create(doc::rewindable(21, 1, "r"), 1, json!({ "t": "é😀" })),
    ]
}

/// Touches all three sidecars, in another order, and makes nothing unnecessary that the first commit wrote.
pub fn second() -> Vec<StorageWrite> {
    vec![
        doc::delta(21, 1, vec![doc::append("t", "ü€𝄞")]),
        entry_with(30, 1, json!("ü€𝄞")),
        put_task(task(10, 1, "t", running())),
        doc::delta(20, 1, vec![doc::append("t", "ü€𝄞")]),
    ]
}

/// Everything a storage answers, for up to eight commits.
pub fn all(storage: &Jsonl) -> Vec<Item> {
    let moments: Vec<Seq> = (1..=8).map(Seq).collect();
    now(dump(storage, &moments)).unwrap()
}

/// What the first `count` of these batches leave.
pub fn after(batches: &[Vec<StorageWrite>], count: usize) -> Vec<Item> {
    let storage = open(&MemoryFs::default(), Fsync::Off);
    for batch in batches.iter().take(count) {
        commit(&storage, batch).unwrap();
    }
    all(&storage)
}

pub fn lines(fs: &MemoryFs, file: &str) -> Vec<String> {
    let content = String::from_utf8(fs.get(file).unwrap_or_default()).unwrap();
    assert!(content.is_empty() || content.ends_with('\n'), "{file}: {content}");
    content.lines().map(str::to_owned).collect()
}

/// Calls as `operation file`.
pub fn log(fs: &MemoryFs) -> Vec<String> {
    let text = |call: Call| format!("{} {}", call.operation, call.file).trim().to_owned();
    fs.take_log().into_iter().map(text).collect()
}
