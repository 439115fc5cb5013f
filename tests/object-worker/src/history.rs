//! A long history under the product's own session: what opening it reads, and what paging through it keeps in memory.

use futures::FutureExt;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_durable_objects::app::{OpenSession, SessionApp};
use tidehold_durable_objects::config;
use tidehold_durable_objects::frame::{App, Platform, Reply, Request};
use tidehold_durable_objects::platform::alarm::KnownAlarm;
use tidehold_durable_objects::platform::life::Life;
use tidehold_durable_objects::platform::sql::ObjectDriver;
use tidehold_durable_objects::platform::storage::{ObjectSql, of_state};
use tidehold_durable_objects::platform::timer;
use tidehold_durable_objects::protocol::{
    Accept, Call, Caller, ConversationKey, Operation, OperationError, Order,
};
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{ConversationRecord, EntryRecord};
use tidehold_session::storage::{Storage, StorageError, StorageWrite};
use tidehold_storage::SqlStorage;
use wasm_bindgen::prelude::*;
use worker::{Env, State};

#[wasm_bindgen(module = "/src/reads.js")]
extern "C" {
    #[wasm_bindgen(js_name = countReads)]
    fn count_reads(sql: &ObjectSql);
    #[wasm_bindgen(js_name = rowsRead)]
    fn rows_read() -> f64;
    #[wasm_bindgen(js_name = forgetReads)]
    fn forget_reads();
}

/// The least that a deployment says.
const CONFIG: &str = r#"{"providers": {"scripted": {"api": "scripted", "models": {"echo": {}}}},
    "harnesses": {"default": {"model": "scripted/echo"}}}"#;

/// Entries of a page, as many as a client may ask for.
const PAGE: u32 = 200;

/// A root with so many entries of 4,000 bytes, which no session is open over.
pub fn fill(state: &State, entries: u64) -> Result<f64, StorageError> {
    let storage = of_state(state).map_err(|error| StorageError::Backend(error.to_string()))?;
    let sql = storage.sql();
    let storage = SqlStorage::open(ObjectDriver::new(storage), "history")?;
    let root = ConversationRecord {
        id: ROOT_CONVERSATION_ID,
        parent: None,
        owner: None,
    };
    commit(&storage, &[StorageWrite::Conversation(Rc::new(root))])?;
    let ids: Vec<u64> = (10..10 + entries).collect();
    for ids in ids.chunks(100) {
        let writes: Vec<StorageWrite> = ids.iter().map(|id| entry(*id)).collect();
        commit(&storage, &writes)?;
    }
    Ok(sql.database_size())
}

fn commit(storage: &SqlStorage<ObjectDriver>, writes: &[StorageWrite]) -> Result<(), StorageError> {
    let committed = storage.commit(writes).now_or_never();
    committed
        .unwrap_or_else(|| Err(StorageError::Backend("a commit waited".to_owned())))
        .map(drop)
}

fn entry(id: u64) -> StorageWrite {
    let text = format!("entry {id} {}", "words of an answer ".repeat(207));
    StorageWrite::Entry(Rc::new(EntryRecord {
        id: EntryId(id),
        conversation_id: ROOT_CONVERSATION_ID,
        kind: "pi.assistant".into(),
        model: Some(vec![json!({ "role": "assistant", "content": text })]),
        data: None,
        head: (id == 10).then_some(EntryId(10)),
        edits: None,
        by_task_id: None,
    }))
}

/// What opening took.
#[derive(Serialize)]
pub struct Opening {
    rows: f64,
    milliseconds: f64,
}

/// Opens the product's session, and reads what a client asks for first: the root, its newest head, the last page.
pub async fn open(state: &Rc<State>, env: &Env) -> Result<Opening, OperationError> {
    let storage = of_state(state).map_err(|error| failed(error.to_string()))?;
    count_reads(&storage.sql());
    let before = timer::now();
    let session = opened(state, env).await?;
    let conversation = ConversationKey::Root;
    ask(&session, Operation::GetConversation { conversation }).await?;
    let marker = session
        .harness
        .session()
        .latest_head_marker(ROOT_CONVERSATION_ID, None);
    let marker = marker.await.map_err(|error| failed(error.to_string()))?;
    if marker.map(|marker| marker.head) != Some(EntryId(10)) {
        return Err(failed("the head is another".to_owned()));
    }
    let page = list(&session, None, 10, Order::Descending).await?;
    if items(&page).len() != 10 {
        return Err(failed(format!("a last page of {}", items(&page).len())));
    }
    let opening = Opening {
        rows: rows_read(),
        milliseconds: (timer::now() - before) as f64,
    };
    forget_reads();
    Ok(opening)
}

/// What paging through everything came to.
#[derive(Serialize)]
pub struct Paging {
    entries: usize,
    /// As JSON.
    bytes: usize,
    /// Bytes of the wasm memory with nothing open, with the session open, and after the last page. It never shrinks.
    memory: [usize; 3],
    milliseconds: f64,
}

pub async fn page_through(state: &Rc<State>, env: &Env) -> Result<Paging, OperationError> {
    let empty = memory();
    let session = opened(state, env).await?;
    let open = memory();
    let before = timer::now();
    let (mut entries, mut bytes, mut cursor) = (0, 0, None);
    loop {
        let page = list(&session, cursor, PAGE, Order::Ascending).await?;
        entries += items(&page).len();
        // As the answer to the client: the text is made as well.
        bytes += page.to_string().len();
        cursor = page.get("next").and_then(Json::as_str).map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Ok(Paging {
        entries,
        bytes,
        memory: [empty, open, memory()],
        milliseconds: (timer::now() - before) as f64,
    })
}

fn memory() -> usize {
    core::arch::wasm32::memory_size(0) * 65_536
}

async fn opened(state: &Rc<State>, env: &Env) -> Result<Rc<OpenSession>, OperationError> {
    let config = config::parse(CONFIG).map_err(|error| failed(error.to_string()))?;
    let platform = Platform {
        state: Rc::clone(state),
        env: env.clone(),
        config: Rc::new(config),
        known_alarm: KnownAlarm::default(),
        life: Life::default(),
        fail: Rc::new(|message| worker::console_error!("session failed: {message}")),
    };
    SessionApp::open(platform).await.map(Rc::new)
}

async fn list(
    session: &Rc<OpenSession>,
    cursor: Option<String>,
    limit: u32,
    order: Order,
) -> Result<Json, OperationError> {
    let operation = Operation::ListEntries {
        conversation: ConversationKey::Root,
        cursor,
        limit: Some(limit),
        order: Some(order),
    };
    ask(session, operation).await
}

async fn ask(session: &Rc<OpenSession>, operation: Operation) -> Result<Json, OperationError> {
    let call = Call {
        operation,
        caller: Caller {
            project: "test".to_owned(),
            subject: None,
            rate_limited: false,
        },
        session: "history".to_owned(),
        accept: Accept::Json,
        if_incarnation: None,
        request_id: String::new(),
        traceparent: None,
    };
    let body = String::new();
    match SessionApp::perform(Rc::clone(session), Request { call, body }).await? {
        Reply::Json(json) => Ok(json),
        _ => Err(failed("an answer of another sort".to_owned())),
    }
}

fn items(page: &Json) -> Vec<Json> {
    let items = page.get("items").and_then(Json::as_array);
    items
        .map(|items| items.iter().cloned().collect())
        .unwrap_or_default()
}

fn failed(message: String) -> OperationError {
    OperationError::new(tidehold_durable_objects::protocol::Code::Internal, message)
}
