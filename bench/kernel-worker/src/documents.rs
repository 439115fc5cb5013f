//! Commits of one small change to a document, which began with so many rows or with a long text.

use crate::kernel::{Kernel, Report, Run};
use serde::Deserialize;
use tidehold_delta::{Draft, DraftError, Json, json};
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_session::documents::{ConversationDoc, DocToken, History, LatestFork};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::{Session, SessionError, Tx};

/// Never a base after the first: the deltas are what is measured.
static DOCUMENT: ConversationDoc = DocToken::of_conversation(
    "bench.document",
    1,
    History::Latest {
        fork: LatestFork::Initial,
    },
    || json!({}),
);

/// Bytes of the text at first.
const TEXT: usize = 1024 * 1024;

/// As `bench/subjects/chord.mjs` makes the same changes.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Edit {
    /// A member of the last row.
    Field,
    /// The first row goes, another comes at the end.
    Shift,
    /// 32 bytes more of the text.
    Text,
}

#[derive(Deserialize)]
pub struct Documents {
    edit: Edit,
    rows: usize,
    #[serde(flatten)]
    run: Run,
}

pub async fn run(storage: ObjectStorage, documents: Documents) -> Result<Report, SessionError> {
    let Documents { edit, rows, run } = documents;
    let kernel = Kernel::open(&storage)?;
    let create = async move |tx: Tx| {
        tx.create_root().await?;
        let document = tx.doc(&DOCUMENT, ROOT_CONVERSATION_ID).await?;
        match edit {
            Edit::Field | Edit::Shift => document.at("rows").set(Json::array((0..rows as u64).map(row)))?,
            Edit::Text => document.at("text").set("t".repeat(TEXT))?,
        }
        Ok::<_, SessionError>(())
    };
    kernel.session.commit(create).await?;
    let commit = move |session: &Session, step| {
        let session = session.clone();
        let change = async move |tx: Tx| {
            let document = tx.doc(&DOCUMENT, ROOT_CONVERSATION_ID).await?;
            Ok(make(&document, edit, step)?)
        };
        Box::pin(async move { session.commit(change).await }) as _
    };
    kernel.time(run, commit).await
}

fn make(document: &Draft, edit: Edit, step: u64) -> Result<(), DraftError> {
    let rows = document.at("rows");
    match edit {
        Edit::Field => {
            let last = rows.len()?.saturating_sub(1);
            rows.at(last).at("count").set(step + 1)
        }
        Edit::Shift => {
            rows.splice(0, 1, Vec::new())?;
            rows.push(row(10_000 + step))
        }
        Edit::Text => document.at("text").append(&"x".repeat(32)),
    }
}

fn row(id: u64) -> Json {
    json!({
        "id": id,
        "name": format!("row number {id}"),
        "state": "open",
        "count": 0,
        "note": "n".repeat(60),
    })
}
