//! Conversations: list, create, look, configure.

use super::body::{object, optional, problem};
use super::errors::harness_error;
use super::{Answer, Session, cursor, page, written};
use crate::frame::Reply;
use crate::protocol::OperationError;
use tidehold_delta::Json;
use tidehold_harness::agent::AgentChange;
use tidehold_harness::view;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::ConversationRecord;

/// Rows of a page when the client names no limit.
const DEFAULT_LIMIT: u32 = 50;

pub async fn list(session: &Session, from: Option<&str>, limit: Option<u32>) -> Answer {
    let from = from.map(cursor::decode).transpose()?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let found = session
        .harness
        .conversations(limit, from.as_ref())
        .await
        .map_err(harness_error)?;
    let items = found.items.iter().map(view::conversation).collect();
    Ok(Reply::Json(page(items, found.next.as_ref().map(cursor::encode))))
}

pub async fn create(session: &Session, body: &str) -> Answer {
    let body = object(body)?;
    if optional(&body, "remoteTools").is_some() {
        return Err(problem("remoteTools", "is not supported yet"));
    }
    let agent = optional(&body, "agent")
        .map(AgentChange::from_request)
        .transpose()
        .map_err(harness_error)?;
    let record = session
        .harness
        .create_conversation(agent.unwrap_or_default())
        .await
        .map_err(harness_error)?;
    let shown = describe(session, &record).await?;
    written(session, shown).await
}

pub async fn get(session: &Session, id: ConversationId) -> Answer {
    let record = session.harness.conversation(id).await.map_err(harness_error)?;
    let record = record.ok_or_else(OperationError::not_found)?;
    Ok(Reply::Json(describe(session, &record).await?))
}

pub async fn configure(session: &Session, id: ConversationId, body: &str) -> Answer {
    let body = object(body)?;
    if optional(&body, "remoteTools").is_some() {
        return Err(problem("remoteTools", "is not supported yet"));
    }
    let change = AgentChange::from_request(&body).map_err(harness_error)?;
    session
        .harness
        .configure(id, change)
        .await
        .map_err(harness_error)?;
    let agent = resolved_agent(session, id).await?;
    written(session, agent).await
}

/// The record with its resolved agent and its spend.
async fn describe(session: &Session, record: &ConversationRecord) -> Result<Json, OperationError> {
    let agent = resolved_agent(session, record.id).await?;
    let usage = session
        .harness
        .conversation_usage(record.id)
        .await
        .map_err(harness_error)?;
    let shown = view::conversation(record);
    let members = shown.as_object().into_iter().flat_map(|members| members.iter());
    let members = members.map(|(name, value)| (name.clone(), value.clone()));
    Ok(Json::object(
        members.chain([("agent".into(), agent), ("usage".into(), usage)]),
    ))
}

/// What the conversation's next request would use: its own choices over the host's defaults.
async fn resolved_agent(session: &Session, id: ConversationId) -> Result<Json, OperationError> {
    let stored = session.harness.agent_state(id).await.map_err(harness_error)?;
    let default = session.platform.config.harnesses.get("default");
    let model = stored
        .model
        .clone()
        .or_else(|| default.map(|harness| harness.model.clone()));
    let level = stored.thinking_level.map_or("off", |level| level.name());
    let mut members: Vec<(&str, Json)> = Vec::new();
    if let Some(model) = model {
        members.push((
            "model",
            Json::from(format!("{}/{}", model.provider, model.model_id)),
        ));
    }
    members.push(("thinkingLevel", Json::from(level)));
    for list in ["extensions", "tools", "callable", "deferred"] {
        members.push((list, Json::array([])));
    }
    if let Some(instructions) = stored.instructions {
        members.push(("instructions", Json::from(instructions)));
    }
    if let Some(cwd) = stored.cwd {
        members.push(("cwd", Json::from(cwd)));
    }
    Ok(Json::object(members))
}
