//! `GET /`: what the session is doing, when it wakes, how large it is.

use super::errors::harness_error;
use super::{Answer, Session, submissions, tasks};
use crate::frame::Reply;
use crate::protocol::{Code, Detail, OperationError};
use tidehold_delta::Json;

pub async fn inspect(session: &Session, detail: Detail) -> Answer {
    let scheduler = session.harness.scheduler();
    let scheduling = Json::from_serialize(&scheduler.scheduling())
        .map_err(|error| OperationError::new(Code::Internal, error.to_string()))?;
    let live = session.harness.live_submissions().await.map_err(harness_error)?;
    let incarnation = session.harness.session().incarnation().await;
    let incarnation = incarnation.map_err(|error| harness_error(error.into()))?;
    let sizes = Json::object([(
        "databaseBytes",
        Json::from(session.storage.driver().database_size()),
    )]);
    Ok(Reply::Json(Json::object([
        ("scheduling", scheduling),
        ("tasks", Json::array(tasks::inspections(session, detail)?)),
        ("submissions", Json::array(live.iter().map(submissions::shown))),
        ("alarm", session.alarm.stored().map_or(Json::Null, Json::from)),
        (
            "opensWithoutProgress",
            Json::from(u64::from(scheduler.opens_without_progress())),
        ),
        ("sizes", sizes),
        ("incarnation", incarnation.map_or(Json::Null, Json::String)),
    ])))
}
