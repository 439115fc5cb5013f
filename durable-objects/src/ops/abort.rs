//! Aborts: of a conversation's work, of a queued submission, of one task.

use super::body::{flag, object};
use super::errors::harness_error;
use super::{Answer, Session, written};
use crate::protocol::OperationError;
use tidehold_delta::Json;
use tidehold_session::ids::{ConversationId, SubmissionId, TaskId};
use tidehold_tasks::{AbortReply, AbortScope};

pub async fn conversation(session: &Session, id: ConversationId, body: &str) -> Answer {
    let scope = match flag(&object(body)?, "background")? {
        true => AbortScope::Everything,
        false => AbortScope::Foreground,
    };
    session
        .harness
        .abort_conversation(id, scope)
        .await
        .map_err(harness_error)?;
    written(session, Json::empty_object()).await
}

pub async fn submission(session: &Session, id: SubmissionId) -> Answer {
    let outcome = session
        .harness
        .abort_submission(id)
        .await
        .map_err(harness_error)?;
    let outcome = outcome.ok_or_else(OperationError::not_found)?;
    written(session, Json::object([("outcome", Json::from(outcome.name()))])).await
}

pub async fn task(session: &Session, id: TaskId) -> Answer {
    let known = session
        .harness
        .session()
        .task(id)
        .await
        .map_err(|error| harness_error(error.into()))?;
    known.ok_or_else(OperationError::not_found)?;
    session.harness.resume();
    let reply = session
        .harness
        .scheduler()
        .abort_task(id)
        .await
        .map_err(|error| harness_error(error.into()))?;
    let outcome = match reply {
        AbortReply::Marked => "marked",
        AbortReply::Terminal => "terminal",
    };
    written(session, Json::object([("outcome", Json::from(outcome))])).await
}
