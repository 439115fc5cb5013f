//! What the session spent.

use super::errors::harness_error;
use super::{Answer, Session};
use crate::frame::Reply;
use tidehold_delta::Json;

pub async fn usage(session: &Session) -> Answer {
    let usage = session.harness.usage().await.map_err(harness_error)?;
    let own = usage
        .conversations
        .into_iter()
        .map(|(id, usage)| (id.to_string(), usage));
    Ok(Reply::Json(Json::object([
        ("total", usage.total),
        ("conversations", Json::object(own)),
    ])))
}
