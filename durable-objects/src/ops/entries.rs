//! Stored history and the derived context.

use super::errors::harness_error;
use super::{Answer, Session, cursor, page};
use crate::frame::Reply;
use crate::protocol::{OperationError, Order};
use tidehold_delta::Json;
use tidehold_harness::view;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::storage::ScanOrder;

/// Entries of a page when the client names no limit.
const DEFAULT_LIMIT: u32 = 50;

pub async fn list(
    session: &Session,
    id: ConversationId,
    from: Option<&str>,
    limit: Option<u32>,
    order: Option<Order>,
) -> Answer {
    expect_conversation(session, id).await?;
    let from = from.map(cursor::decode).transpose()?;
    let order = order.map(|order| match order {
        Order::Ascending => ScanOrder::Ascending,
        Order::Descending => ScanOrder::Descending,
    });
    let limit = limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let found = session
        .harness
        .entries(id, order, limit, from)
        .await
        .map_err(harness_error)?;
    Ok(Reply::Json(page(
        found.items,
        found.next.as_ref().map(cursor::encode),
    )))
}

pub async fn context(session: &Session, id: ConversationId, at: Option<EntryId>) -> Answer {
    expect_conversation(session, id).await?;
    if let Some(at) = at {
        let visible = session.harness.session().visible_entry(id, at).await;
        visible
            .map_err(|error| harness_error(error.into()))?
            .ok_or_else(OperationError::not_found)?;
    }
    let context = session.harness.context(id, at).await.map_err(harness_error)?;
    let head = context.head.as_ref().map(|head| ("head", view::entry(head)));
    let entries = Json::array(context.entries.iter().map(|entry| view::entry(entry)));
    let contributions = Json::array(
        context
            .contributions
            .iter()
            .map(|it| Json::array(it.iter().cloned())),
    );
    let rest = [
        ("entries", entries),
        ("contributions", contributions),
        ("messages", Json::array(context.messages.iter().cloned())),
    ];
    Ok(Reply::Json(Json::object(head.into_iter().chain(rest))))
}

async fn expect_conversation(session: &Session, id: ConversationId) -> Result<(), OperationError> {
    let known = session.harness.conversation(id).await.map_err(harness_error)?;
    known.map(drop).ok_or_else(OperationError::not_found)
}
