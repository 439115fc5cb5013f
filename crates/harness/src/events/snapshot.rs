//! The `snapshot` event (spec 9.4): everything a late joiner needs; later events apply on top of it.

use crate::docs::{AGENT, INBOX, LIVE, USAGE, empty_usage};
use tidehold_delta::Json;
use tidehold_session::ids::ConversationId;
use tidehold_session::{Session, SessionError};

/// Reads the snapshot. Runs on the line, so that no commit falls between it and a registration.
pub(super) async fn read(session: &Session, conversation: ConversationId) -> Result<Json, SessionError> {
    let entries = session.context(conversation, None).await?.entries;
    let live = session
        .committed_document(&LIVE, conversation)
        .await?
        .unwrap_or_else(Json::empty_object);
    let agent = session
        .committed_document(&AGENT, conversation)
        .await?
        .unwrap_or_else(Json::empty_object);
    let usage = session
        .committed_document(&USAGE, conversation)
        .await?
        .unwrap_or_else(empty_usage);
    let inbox = session.committed_document(&INBOX, conversation).await?;
    let list = |name: &str| live.get(name).cloned().unwrap_or_else(|| Json::array([]));
    let mut members = vec![
        ("type", Json::from("snapshot")),
        (
            "entries",
            Json::array(entries.iter().map(|entry| crate::view::entry(entry))),
        ),
    ];
    if let Some(inputs) = live.get("run").and_then(|run| run.get("inputs")) {
        members.push(("run", Json::object([("inputs", inputs.clone())])));
    }
    if let Some(generation) = live.get("generation") {
        members.push(("generation", generation.clone()));
    }
    members.push(("tools", list("tools")));
    members.push(("nestedTools", list("nestedTools")));
    members.push(("compactions", list("compactions")));
    if let Some(failure) = live.get("compactionFailure") {
        members.push(("compactionFailure", failure.clone()));
    }
    members.push(("inbox", inbox_items(inbox.as_ref())));
    members.push(("agent", agent));
    members.push(("usage", usage));
    Ok(Json::object(members))
}

/// Ids and modes of queued items; what they hold stays in the inbox.
pub(super) fn inbox_items(inbox: Option<&Json>) -> Json {
    let items = inbox
        .and_then(|inbox| inbox.get("items"))
        .and_then(Json::as_array);
    let shown = items.into_iter().flat_map(|items| items.iter()).map(|item| {
        let member = |name: &'static str| (name, item.get(name).cloned().unwrap_or(Json::Null));
        Json::object([member("id"), member("mode")])
    });
    Json::array(shown)
}
