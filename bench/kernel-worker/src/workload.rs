//! What one commit writes: an entry, a change of a running task, and a delta of a text that streams in.

use serde::Serialize;
use tidehold_delta::{Json, Op, json};
use tidehold_session::documents::{CheckpointInfo, ConversationDoc, DocToken, History, LatestFork};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::records::{EntryDraft, TaskCreate, TaskOwnership, TaskState};
use tidehold_storage::sql::statements::{self as sql, Statement};

/// Deltas between two bases of the document, as of an answer that streams for ten seconds.
pub const PARTIALS: u64 = 100;

/// What a delta appends.
pub const PIECE: &str = "The tide comes in twice a day, and so does the next of our words. ";

/// The document: like `pi.live`, a base whenever nothing runs, deltas in between.
pub static PARTIAL: ConversationDoc = DocToken::of_conversation(
    "bench.partial",
    1,
    History::Latest {
        fork: LatestFork::Initial,
    },
    empty,
)
.checkpoint_when(is_empty);

fn empty() -> Json {
    json!({ "text": "" })
}

fn is_empty(value: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    value.get("text").and_then(Json::as_str) == Some("")
}

/// A message of some 250 characters.
pub fn entry() -> EntryDraft {
    EntryDraft::of_messages("bench.message", vec![message()])
}

fn message() -> Json {
    json!({
        "role": "assistant",
        "content": [{ "type": "text", "text": PIECE.repeat(2) }],
        "stopReason": "stop",
        "usage": { "input": 1200, "output": 48 },
    })
}

pub fn task() -> TaskCreate {
    TaskCreate {
        kind: "bench.generation".into(),
        version: 1,
        input: json!({ "model": "scripted/echo", "reason": "input" }),
        checkpoint: json!({ "phase": "prepare" }),
        ownership: TaskOwnership::Conversation,
        conversation_id: Some(ROOT_CONVERSATION_ID),
        background: false,
        abandon_on_restart: false,
    }
}

pub fn running(step: u64) -> TaskState {
    TaskState::Running {
        checkpoint: json!({ "phase": "request", "attempt": 1, "step": step }),
    }
}

/// The same for an object that knows no kernel: its tables with their indexes, its statements, and what goes in.
#[derive(Serialize)]
pub struct Description {
    schema: Vec<&'static str>,
    insert_entry: &'static str,
    insert_task: &'static str,
    update_task: &'static str,
    insert_document: &'static str,
    append_to_document: &'static str,
    rebase_document: &'static str,
    message: Json,
    piece: &'static str,
    partials: u64,
}

pub fn describe() -> Description {
    let schema: [&Statement; 8] = [
        &sql::CREATE_ENTRIES,
        &sql::CREATE_ENTRIES_BY_CONVERSATION,
        &sql::CREATE_ENTRIES_WITH_HEAD,
        &sql::CREATE_TASKS,
        &sql::CREATE_TASKS_LIVE,
        &sql::CREATE_TASKS_ENDED,
        &sql::CREATE_DOCUMENTS,
        &sql::CREATE_DOCUMENTS_BY_ADDRESS,
    ];
    Description {
        schema: schema.map(|statement| statement.sql).to_vec(),
        insert_entry: sql::INSERT_ENTRY.sql,
        insert_task: sql::INSERT_TASK.sql,
        update_task: sql::UPDATE_TASK.sql,
        insert_document: sql::INSERT_DOCUMENT.sql,
        append_to_document: sql::APPEND_TO_DOCUMENT.sql,
        rebase_document: sql::REBASE_DOCUMENT.sql,
        message: message(),
        piece: PIECE,
        partials: PARTIALS,
    }
}
