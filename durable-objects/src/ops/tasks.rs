//! Tasks as they stand.

use super::errors::harness_error;
use super::{Answer, Session, page};
use crate::frame::Reply;
use crate::protocol::{Code, OperationError};
use tidehold_delta::Json;
use tidehold_harness::view;
use tidehold_session::ids::TaskId;

pub fn list(session: &Session) -> Answer {
    Ok(Reply::Json(page(inspections(session)?, None)))
}

pub async fn get(session: &Session, id: TaskId) -> Answer {
    let record = session
        .harness
        .session()
        .task(id)
        .await
        .map_err(|error| harness_error(error.into()))?;
    let record = record.ok_or_else(OperationError::not_found)?;
    Ok(Reply::Json(view::task(&record)))
}

/// Live tasks with their state under the current registry.
pub fn inspections(session: &Session) -> Result<Vec<Json>, OperationError> {
    let live = session.harness.scheduler().inspect();
    let shown = live
        .iter()
        .map(Json::from_serialize)
        .collect::<Result<Vec<_>, _>>();
    shown.map_err(|error| OperationError::new(Code::Internal, error.to_string()))
}
