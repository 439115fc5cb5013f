//! Public JSON of records.

use tidehold_delta::Json;
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};

/// The record as the spec writes it. Records are JSON by construction, so the conversion has no failing case.
fn record<T: serde::Serialize>(value: &T) -> Json {
    Json::from_serialize(value).unwrap_or(Json::Null)
}

/// An entry.
pub fn entry(value: &EntryRecord) -> Json {
    record(value)
}

/// A conversation.
pub fn conversation(value: &ConversationRecord) -> Json {
    record(value)
}

/// A task.
pub fn task(value: &TaskRecord) -> Json {
    record(value)
}

/// A submission, without the digest kept beside its request id.
pub fn submission(value: &SubmissionRecord) -> Json {
    let public = SubmissionRecord {
        content_hash: None,
        ..value.clone()
    };
    record(&public)
}
