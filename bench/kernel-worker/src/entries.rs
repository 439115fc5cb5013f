//! Commits of one entry, after a history of so many.

use crate::kernel::{Commit, Kernel, Report, Run};
use crate::workload::{self, PARTIAL};
use serde::Deserialize;
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::{Session, SessionError, Tx};

#[derive(Deserialize)]
pub struct Entries {
    history: u64,
    #[serde(flatten)]
    run: Run,
}

pub async fn run(storage: ObjectStorage, entries: Entries) -> Result<Report, SessionError> {
    let kernel = Kernel::open(&storage)?;
    let root = async |tx: Tx| {
        tx.create_root().await?;
        tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await.map(drop)
    };
    kernel.session.commit(root).await?;
    for first in (0..entries.history).step_by(100) {
        append(&kernel.session, (entries.history - first).min(100)).await?;
    }
    kernel.time(entries.run.of(WARMUP), stream).await?;
    let commit = |session: &Session, _| {
        let session = session.clone();
        Box::pin(async move { append(&session, 1).await }) as _
    };
    kernel.time(entries.run, commit).await
}

/// Commits that append nothing, between the history and the clock: with them the database puts the pages of the history in
/// their place, which is no part of what an entry costs.
const WARMUP: u64 = 400;

fn stream(session: &Session, _: u64) -> Commit<'static> {
    let session = session.clone();
    let change = async |tx: Tx| {
        let text = tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await?.at("text");
        Ok(text.append("more")?)
    };
    Box::pin(async move { session.commit(change).await })
}

async fn append(session: &Session, count: u64) -> Result<(), SessionError> {
    let change = async move |tx: Tx| {
        for _ in 0..count {
            tx.append_entry(ROOT_CONVERSATION_ID, workload::entry()).await?;
        }
        Ok(())
    };
    session.commit(change).await
}
