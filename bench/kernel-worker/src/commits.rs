//! Commits of three writes: an entry, a change of a running task, a delta of a text that streams in.

use crate::kernel::{Kernel, Report, Run, other};
use crate::workload::{self, PARTIAL, PARTIALS, PIECE};
use tidehold_durable_objects::platform::storage::ObjectStorage;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::records::{EntryDraft, TaskRecord};
use tidehold_session::{Session, SessionError, Tx};

pub async fn run(storage: ObjectStorage, run: Run) -> Result<Report, SessionError> {
    let kernel = Kernel::open(&storage)?;
    let task = kernel
        .session
        .commit(async |tx: Tx| {
            tx.create_root().await?;
            tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await?;
            tx.create_task(workload::task()).await
        })
        .await?;
    let task = kernel.session.task(task).await?;
    let mut task = task.ok_or_else(|| other("the task is gone".to_owned()))?;
    let entry = workload::entry();
    let commit = move |session: &Session, step| {
        task.state = workload::running(step);
        let (session, task, entry) = (session.clone(), task.clone(), entry.clone());
        Box::pin(async move { commit(session, step, task, entry).await }) as _
    };
    kernel.time(run, commit).await
}

async fn commit(
    session: Session,
    step: u64,
    task: TaskRecord,
    entry: EntryDraft,
) -> Result<(), SessionError> {
    let change = async move |tx: Tx| {
        let text = tx.doc(&PARTIAL, ROOT_CONVERSATION_ID).await?.at("text");
        if step.is_multiple_of(PARTIALS) {
            text.set("")?
        } else {
            text.append(PIECE)?
        }
        tx.append_entry(ROOT_CONVERSATION_ID, entry).await?;
        tx.stage_task(task).await
    };
    session.commit(change).await
}
