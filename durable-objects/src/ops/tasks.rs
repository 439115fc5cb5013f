//! Tasks as they stand.
//!
//! What a task works on is raw text: prompts and scripts, options of requests, answers and errors of providers. That is
//! for whoever may read transcripts; everyone else is shown members of a list, so that a new member is hidden until someone
//! decides otherwise. Secrets are for nobody.

use super::errors::harness_error;
use super::{Answer, Session, page};
use crate::frame::Reply;
use crate::protocol::{Code, Detail, OperationError};
use tidehold_contract::redact;
use tidehold_delta::Json;
use tidehold_harness::view;
use tidehold_session::ids::TaskId;

/// Members of a record that tell how it stands.
const RECORD: [&str; 11] = [
    "id",
    "conversationId",
    "kind",
    "version",
    "owner",
    "background",
    "abortRequested",
    "abortReason",
    "abandonOnRestart",
    "startedAt",
    "endedAt",
];

/// The same of its state.
const STATE: [&str; 4] = ["status", "on", "policy", "until"];

/// The same of its checkpoint; shown beside those of the state.
const CHECKPOINT: [&str; 4] = ["phase", "attempt", "pollAt", "deadline"];

/// The same of its outcome.
const OUTCOME: [&str; 1] = ["status"];

pub fn list(session: &Session, detail: Detail) -> Answer {
    Ok(Reply::Json(page(inspections(session, detail)?, None)))
}

pub async fn get(session: &Session, id: TaskId, detail: Detail) -> Answer {
    let record = session
        .harness
        .session()
        .task(id)
        .await
        .map_err(|error| harness_error(error.into()))?;
    let record = record.ok_or_else(OperationError::not_found)?;
    Ok(Reply::Json(shown(&view::task(&record), detail)))
}

/// Live tasks with their state under the current registry.
pub fn inspections(session: &Session, detail: Detail) -> Result<Vec<Json>, OperationError> {
    let live = session.harness.scheduler().inspect();
    let inspection = |task| {
        let task = Json::from_serialize(task)
            .map_err(|error| OperationError::new(Code::Internal, error.to_string()))?;
        let member = |name: &str| task.get(name).cloned().unwrap_or(Json::Null);
        Ok(Json::object([
            ("record", shown(&member("record"), detail)),
            // Why a task is blocked may quote what is stored of it.
            ("state", redact::value(&member("state")).value),
        ]))
    };
    live.iter().map(inspection).collect()
}

fn shown(record: &Json, detail: Detail) -> Json {
    match detail {
        Detail::Whole => redact::value(record).value,
        Detail::Status => status(record),
    }
}

fn status(record: &Json) -> Json {
    let state = record.get("state").unwrap_or(&Json::Null);
    let outcome = state
        .get("outcome")
        .map(|outcome| Json::object(listed(outcome, &OUTCOME)));
    let progress = state.get("checkpoint").into_iter().flat_map(|checkpoint| {
        let members = listed(checkpoint, &CHECKPOINT);
        members.filter(|(_, value)| matches!(value, Json::String(_) | Json::Number(_)))
    });
    let state = listed(state, &STATE)
        .chain(progress)
        .chain(outcome.map(|outcome| ("outcome", outcome)));
    Json::object(listed(record, &RECORD).chain([("state", Json::object(state))]))
}

fn listed<'a>(value: &'a Json, names: &'a [&'static str]) -> impl Iterator<Item = (&'static str, Json)> + 'a {
    names
        .iter()
        .filter_map(|name| Some((*name, value.get(name)?.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidehold_delta::json;

    #[test]
    fn raw_text_is_for_the_scope_that_reads_transcripts() {
        let record = json!({
            "id": 7, "conversationId": 1, "kind": "pi.generation", "version": 1, "input": { "prompt": "raw" },
            "background": false, "abortRequested": false, "startedAt": 5, "memos": { "m": "raw" }, "later": "raw",
            "state": {
                "status": "waiting", "on": [], "policy": "allSettled", "until": 9,
                "checkpoint": {
                    "phase": "poll", "attempt": 2, "pollAt": 9, "deadline": ["raw"],
                    "handle": { "data": { "script": "raw" } },
                    "streamOptions": { "headers": { "authorization": "Bearer abcdef123456" } },
                },
            },
        });
        let expected = json!({
            "id": 7, "conversationId": 1, "kind": "pi.generation", "version": 1,
            "background": false, "abortRequested": false, "startedAt": 5,
            "state": {
                "status": "waiting", "on": [], "policy": "allSettled", "until": 9,
                "phase": "poll", "attempt": 2, "pollAt": 9,
            },
        });
        assert_eq!(shown(&record, Detail::Status), expected);
        let whole = shown(&record, Detail::Whole).to_string();
        assert!(
            whole.contains(r#""script":"raw""#) && !whole.contains("abcdef123456"),
            "{whole}"
        );

        let failed = json!({
            "id": 7,
            "state": { "status": "terminal", "outcome": { "status": "failed", "error": { "message": "raw" }, "result": "raw" } },
        });
        let expected =
            json!({ "id": 7, "state": { "status": "terminal", "outcome": { "status": "failed" } } });
        assert_eq!(shown(&failed, Detail::Status), expected);
    }
}
