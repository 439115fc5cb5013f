//! `retry`: a durable backoff, then a new preparation, so that changes made meanwhile apply (spec 8.3).

use super::{Checkpoint, GenerationResult, GenerationRuntime};
use tidehold_session::host::Millis;
use tidehold_tasks::{Next, TaskFault};

pub(super) async fn run(runtime: GenerationRuntime, attempt: u32, until: Millis) -> Result<(), TaskFault> {
    runtime.sleep(until).await?;
    runtime
        .commit(async move |_, _| {
            Ok(Some(Next::<_, GenerationResult>::Continue(Checkpoint::Prepare {
                attempt: attempt + 1,
            })))
        })
        .await
}
