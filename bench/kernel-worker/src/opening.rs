//! Opening a session over a history, again and again.

use crate::kernel::{Kernel, other};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use tidehold_delta::json;
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_durable_objects::platform::timer;
use tidehold_session::SessionError;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{ConversationRecord, EntryRecord};
use tidehold_session::storage::{EntryQuery, Storage, StorageWrite};

#[derive(Deserialize)]
pub struct Fill {
    entries: u64,
}

#[derive(Deserialize)]
pub struct Open {
    openings: u64,
}

#[derive(Serialize)]
pub struct Opened {
    milliseconds: u64,
}

/// Stores a root with so many entries of 4,000 bytes.
pub async fn fill(storage: ObjectStorage, fill: Fill) -> Result<(), SessionError> {
    let database = Kernel::open(&storage)?.database;
    let root = ConversationRecord {
        id: ROOT_CONVERSATION_ID,
        parent: None,
        owner: None,
    };
    let commit = async |writes: &[StorageWrite]| {
        let committed = database.commit(writes).await;
        committed.map(drop).map_err(|error| other(error.to_string()))
    };
    commit(&[StorageWrite::Conversation(Rc::new(root))]).await?;
    let ids: Vec<u64> = (10..10 + fill.entries).collect();
    for ids in ids.chunks(100) {
        let writes: Vec<StorageWrite> = ids.iter().map(|id| entry(*id)).collect();
        commit(&writes).await?;
    }
    Ok(())
}

/// Opens the session so often, each time as after an eviction, and reads its root, its newest head and its last ten entries.
pub async fn open(storage: ObjectStorage, open: Open) -> Result<Opened, SessionError> {
    let query = EntryQuery {
        conversation_id: ROOT_CONVERSATION_ID,
        min_entry_id: None,
        max_entry_id: None,
        order: None,
    };
    let start = timer::now();
    for _ in 0..open.openings {
        let session = Kernel::open(&storage)?.session;
        let root = session.conversation(ROOT_CONVERSATION_ID).await?;
        let head = session.latest_head_marker(ROOT_CONVERSATION_ID, None).await?;
        let last = session.scan_entries(&query, 10, None).await?;
        if root.is_none() || head.is_none() || last.items.len() != 10 {
            return Err(other("the history is another".to_owned()));
        }
    }
    Ok(Opened {
        milliseconds: timer::now() - start,
    })
}

fn entry(id: u64) -> StorageWrite {
    let text = format!("entry {id} {}", "words of an answer ".repeat(207));
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ROOT_CONVERSATION_ID,
        kind: "bench.message".into(),
        model: Some(vec![json!({ "role": "assistant", "content": text })]),
        data: None,
        head: (id == 10).then_some(EntryId(10)),
        edits: None,
        by_task_id: None,
    }))
}
