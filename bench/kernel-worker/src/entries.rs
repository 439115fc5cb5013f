//! Commits of one entry, after a history of so many.

use crate::kernel::{Kernel, Report, Run};
use crate::workload;
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
    let root = async |tx: Tx| tx.create_root().await.map(drop);
    kernel.session.commit(root).await?;
    for first in (0..entries.history).step_by(100) {
        append(&kernel.session, (entries.history - first).min(100)).await?;
    }
    let commit = |session: &Session, _| {
        let session = session.clone();
        Box::pin(async move { append(&session, 1).await }) as _
    };
    kernel.time(entries.run, commit).await
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
