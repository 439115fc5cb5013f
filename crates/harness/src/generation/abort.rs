//! The abort handler of a generation (spec 8.3).

use super::partial::convert_leftover;
use super::{Checkpoint, Generation, GenerationRuntime, classify};
use tidehold_tasks::{Next, Outcome, Running, TaskFault};

pub(super) async fn run(
    generation: &Generation,
    task: Running<Generation>,
    runtime: GenerationRuntime,
) -> Result<(), TaskFault> {
    if let Checkpoint::Poll { model, handle, .. } = &task.checkpoint
        && let Some(model) = generation.models.model(&model.provider, &model.model_id)
        && let Err(error) = generation
            .models
            .cancel_deferred(model, handle, runtime.signal())
            .await
    {
        runtime.report(format!("the deferred response could not be cancelled: {error}"));
    }
    if task.checkpoint == Checkpoint::Rest {
        // A run of the conversation is another task's.
        return runtime.finish(Outcome::aborted()).await;
    }
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| {
            convert_leftover(&tx, conversation).await?;
            classify::settle_unanswered(&tx, conversation, "aborted", None).await?;
            Ok(Some(Next::Finish(Outcome::Aborted {
                reason: None,
                result: None,
            })))
        })
        .await
}
