//! `request`: stream the pinned context, publish throttled partials, classify (spec 8.3).

use super::partial::{Progress, convert_leftover};
use super::{Generation, GenerationRuntime, classify, context, prepare};
use crate::docs::{LIVE, PROVIDER};
use tidehold_delta::Json;
use tidehold_models::message::AssistantMessage;
use tidehold_models::model::ModelRef;
use tidehold_models::models::{RequestPurpose, StreamOptions, StreamRequest};
use tidehold_models::thinking::ThinkingLevel;
use tidehold_session::ids::EntryId;
use tidehold_tasks::TaskFault;

/// What `prepare` fixed for this attempt.
pub(super) struct Pinned {
    pub attempt: u32,
    pub model: ModelRef,
    pub thinking_level: Option<ThinkingLevel>,
    pub stream_options: Json,
    pub cutoff: EntryId,
}

pub(super) async fn run(
    generation: &Generation,
    runtime: GenerationRuntime,
    pinned: Pinned,
) -> Result<(), TaskFault> {
    let conversation = runtime.conversation_id();
    let attempt = pinned.attempt;
    // A partial left by an interrupted attempt becomes its own aborted entry before the request is sent again.
    runtime
        .commit(async move |tx, _| {
            convert_leftover(&tx, conversation).await?;
            let live = tx.doc(&LIVE, conversation).await?;
            live.at("generation")
                .set(Json::object([("attempt", Json::from(u64::from(attempt)))]))?;
            Ok(None)
        })
        .await?;
    let Some(model) = generation
        .models
        .model(&pinned.model.provider, &pinned.model.model_id)
    else {
        return classify::no_model(&runtime, prepare::unknown_model(&pinned.model)).await;
    };
    let session = runtime.session();
    let view = session.context(conversation, Some(pinned.cutoff)).await?;
    let mut options: StreamOptions = pinned
        .stream_options
        .to_typed()
        .map_err(|error| TaskFault::Failed(format!("stream options cannot be read: {error}")))?;
    options.reasoning = pinned.thinking_level;
    let provider = runtime.session().snapshot(&PROVIDER, conversation).await?;
    options.session_id = provider
        .as_ref()
        .and_then(|provider| provider.get("sessionId"))
        .and_then(Json::as_str)
        .map(str::to_owned);
    let request = StreamRequest {
        model,
        messages: context::messages(&view)?,
        options,
        purpose: RequestPurpose::Answer,
        ordinal: attempt,
        signal: runtime.signal(),
    };
    let progress = Progress::new(
        runtime.clone(),
        (generation.settings)().progress.partial_interval_ms,
    );
    let message: AssistantMessage = progress.follow(generation.models.stream(request)).await?;
    classify::response(
        generation,
        &runtime,
        attempt,
        pinned.model,
        pinned.cutoff,
        message,
    )
    .await
}
