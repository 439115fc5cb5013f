//! `poll`: a deferred answer is asked for at its stored time; nothing is held in memory for it (spec 8.3).

use super::{Checkpoint, Generation, GenerationRuntime, classify, parked, prepare};
use crate::docs::LIVE;
use tidehold_delta::Json;
use tidehold_models::message::{DeferredHandle, StopReason};
use tidehold_models::model::ModelRef;
use tidehold_session::host::Millis;
use tidehold_session::ids::EntryId;
use tidehold_tasks::TaskFault;

/// Where a deferred response stands.
pub(super) struct Deferred {
    pub attempt: u32,
    pub model: ModelRef,
    pub cutoff: EntryId,
    pub handle: DeferredHandle,
    pub poll_at: Millis,
}

/// Least wait before a deferred answer is asked for, when the provider names none.
const DEFAULT_POLL_AFTER_MS: Millis = 5000;

/// When to ask for a deferred answer next.
pub(super) fn next_poll(handle: &DeferredHandle, now: Millis) -> Millis {
    now + handle.poll_after_ms.unwrap_or(DEFAULT_POLL_AFTER_MS)
}

pub(super) async fn run(
    generation: &Generation,
    runtime: GenerationRuntime,
    deferred: Deferred,
) -> Result<(), TaskFault> {
    runtime.sleep(deferred.poll_at).await?;
    let Deferred {
        attempt,
        model,
        cutoff,
        handle,
        poll_at,
    } = deferred;
    let Some(known) = generation.models.model(&model.provider, &model.model_id) else {
        return classify::no_model(&runtime, prepare::unknown_model(&model)).await;
    };
    let message = generation
        .models
        .fetch_deferred(known, &handle, runtime.signal())
        .await;
    if message.stop_reason != StopReason::Deferred {
        return classify::response(generation, &runtime, attempt, model, cutoff, message).await;
    }
    let handle = message.deferred.unwrap_or(handle);
    // Strictly later, so that every poll is progress.
    let poll_at = next_poll(&handle, runtime.now()).max(poll_at + 1);
    let conversation = runtime.conversation_id();
    runtime
        .commit(async move |tx, _| {
            let live = tx.doc(&LIVE, conversation).await?;
            live.at("generation")
                .at("deferred")
                .set(Json::object([("pollAt", Json::from(poll_at))]))?;
            let next = Checkpoint::Poll {
                attempt,
                model,
                cutoff,
                handle,
                poll_at,
            };
            Ok(Some(parked(next, poll_at)))
        })
        .await
}
