//! Submitting and watching a submission.

use super::body::{object, optional, problem, text};
use super::errors::harness_error;
use super::{Answer, Session, written};
use crate::frame::Reply;
use crate::protocol::OperationError;
use tidehold_contract::redact;
use tidehold_delta::{Json, Text};
use tidehold_harness::entries::InputEntry;
use tidehold_harness::submissions::{InputDraft, SubmissionDraft, WhenBusy, WriteDraft};
use tidehold_harness::view;
use tidehold_session::ids::{ConversationId, SubmissionId};
use tidehold_session::records::{EntryDraft, SubmissionRecord};

/// A request id names one submission of a conversation; longer ones would be payload.
const MAX_REQUEST_ID: usize = 512;

pub async fn submit(session: &Session, conversation: ConversationId, body: &str) -> Answer {
    let draft = read_draft(&object(body)?)?;
    let record = session
        .harness
        .submit(conversation, draft)
        .await
        .map_err(harness_error)?;
    written(session, shown(&record)).await
}

/// A reset is a write of its own kind, placed like any other.
pub async fn reset(session: &Session, conversation: ConversationId, body: &str) -> Answer {
    let body = object(body)?;
    let handoff = text(&body, "handoff")?;
    session
        .harness
        .reset(conversation, handoff)
        .await
        .map_err(harness_error)?;
    written(session, Json::empty_object()).await
}

pub async fn get(session: &Session, id: SubmissionId, wait_seconds: Option<u32>) -> Answer {
    let harness = &session.harness;
    let found = match wait_seconds {
        None | Some(0) => harness
            .submission(id)
            .await
            .map_err(harness_error)?
            .map(|record| shown(&record)),
        Some(seconds) => {
            let deadline = harness.session().host().now() + u64::from(seconds) * 1000;
            let record = harness
                .wait_for_submission(id, Some(deadline))
                .await
                .map_err(harness_error)?;
            record.map(|record| shown(&record))
        }
    };
    found.map(Reply::Json).ok_or_else(OperationError::not_found)
}

/// The record as its readers may see it. Why it was not answered may be a provider's own words.
pub fn shown(record: &SubmissionRecord) -> Json {
    let shown = view::submission(record);
    let Json::Object(mut members) = shown else {
        return shown;
    };
    if let Some(detail) = members.get("detail") {
        let redacted = redact::value(detail).value;
        members.insert("detail", redacted);
    }
    Json::Object(members)
}

fn read_draft(body: &Json) -> Result<SubmissionDraft, OperationError> {
    let request_id = text(body, "requestId")?;
    if request_id.is_some_and(|id| id.is_empty() || id.len() > MAX_REQUEST_ID) {
        return Err(problem("requestId", "must have 1 to 512 bytes"));
    }
    let request_id: Option<Text> = request_id.map(Into::into);
    match text(body, "type")? {
        Some("input") => read_input(body, request_id).map(SubmissionDraft::Input),
        Some("write") => read_write(body, request_id).map(SubmissionDraft::Write),
        Some(_) => Err(problem("type", "must be \"input\" or \"write\"")),
        None => Err(problem("type", "is required: \"input\" or \"write\"")),
    }
}

fn read_input(body: &Json, request_id: Option<Text>) -> Result<InputDraft, OperationError> {
    let content = optional(body, "content").ok_or_else(|| problem("content", "is required"))?;
    let when_busy = match text(body, "whenBusy")? {
        None | Some("followUp") => WhenBusy::FollowUp,
        Some("steer") => WhenBusy::Steer,
        Some("reject") => WhenBusy::Reject,
        Some(_) => {
            return Err(problem(
                "whenBusy",
                "must be \"steer\", \"followUp\" or \"reject\"",
            ));
        }
    };
    let entry = optional(body, "entry").map(read_input_entry).transpose()?;
    Ok(InputDraft {
        request_id,
        content: content.clone(),
        when_busy,
        entry,
    })
}

fn read_input_entry(entry: &Json) -> Result<InputEntry, OperationError> {
    let kind = entry
        .get("kind")
        .and_then(Json::as_str)
        .ok_or_else(|| problem("entry.kind", "must be a string"))?;
    Ok(InputEntry {
        kind: kind.into(),
        data: entry.get("data").cloned(),
    })
}

fn read_write(body: &Json, request_id: Option<Text>) -> Result<WriteDraft, OperationError> {
    let entry = optional(body, "entry").ok_or_else(|| problem("entry", "is required"))?;
    if entry.get("kind").and_then(Json::as_str).is_none() {
        return Err(problem("entry.kind", "must be a string"));
    }
    let draft: EntryDraft = entry
        .to_typed()
        .map_err(|error| problem("entry", &error.to_string()))?;
    for message in draft.model.iter().flatten() {
        // A message the model layer cannot read would fail every later request of the conversation.
        if let Err(error) = message.to_typed::<tidehold_models::message::Message>() {
            return Err(problem("entry.model", &error.to_string()));
        }
    }
    Ok(WriteDraft {
        request_id,
        entry: draft,
    })
}
