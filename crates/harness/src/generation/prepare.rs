//! `prepare`: resolve the agent, plan the system entries, pin the request (spec 7.4 and 8.3).

use super::{Checkpoint, Generation, GenerationResult, GenerationRuntime, classify, context};
use crate::agent::AgentState;
use crate::docs::AGENT;
use crate::prompt;
use tidehold_models::message::{Message, Timestamp};
use tidehold_models::model::ModelRef;
use tidehold_session::SessionError;
use tidehold_session::ids::EntryId;
use tidehold_session::records::EntryDraft;
use tidehold_tasks::{Next, TaskFault};

pub(super) async fn run(
    generation: &Generation,
    runtime: GenerationRuntime,
    attempt: u32,
) -> Result<(), TaskFault> {
    let conversation = runtime.conversation_id();
    let session = runtime.session().clone();
    let stored = session.snapshot(&AGENT, conversation).await?;
    let agent = AgentState::from_document(stored.as_ref())?;
    let Some(model) = agent.model.clone().or_else(|| (generation.default_model)()) else {
        return classify::no_model(&runtime, "No model is configured".to_owned()).await;
    };
    if generation
        .models
        .model(&model.provider, &model.model_id)
        .is_none()
    {
        return classify::no_model(&runtime, unknown_model(&model)).await;
    }
    let view = session.context(conversation, None).await?;
    let planned = prompt::plan(
        &context::messages(&view)?,
        &prompt::desired(&agent),
        timestamp(&runtime),
    );
    let tail = view.entries.iter().map(|entry| entry.id).max();
    let settings = (generation.settings)();
    runtime
        .commit(async move |tx, _| {
            let cutoff = append_planned(&tx, conversation, planned, tail).await?;
            let next = Checkpoint::Request {
                attempt,
                model,
                thinking_level: agent.thinking_level,
                stream_options: settings.stream,
                cutoff,
            };
            Ok(Some(Next::<_, GenerationResult>::Continue(next)))
        })
        .await
}

/// Text of a model that no provider names.
pub(super) fn unknown_model(model: &ModelRef) -> String {
    format!("Model {}/{} is not available", model.provider, model.model_id)
}

async fn append_planned(
    tx: &tidehold_session::Tx,
    conversation: tidehold_session::ids::ConversationId,
    planned: Option<Message>,
    tail: Option<EntryId>,
) -> Result<EntryId, SessionError> {
    let Some(message) = planned else {
        return Ok(tail.unwrap_or(EntryId(0)));
    };
    let json = tidehold_delta::Json::from_serialize(&message)
        .map_err(|error| crate::error::malformed("system message", &error))?;
    let draft = EntryDraft::of_messages(crate::entries::SYSTEM, vec![json]);
    Ok(tx.append_entry(conversation, draft).await?.id)
}

/// The clock as messages carry it.
fn timestamp(runtime: &GenerationRuntime) -> Timestamp {
    Timestamp::try_from(runtime.now()).unwrap_or(Timestamp::MAX)
}
