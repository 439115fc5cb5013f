//! Why an operation was refused or failed.

use serde::Serialize;
use tidehold_delta::{FromJson, Json};

/// Transport error codes that an object can answer with. They are part of the HTTP contract (http.md); the status of
/// each is the Worker's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    JsonInvalid,
    TextInvalid,
    CursorInvalid,
    ParameterInvalid,
    NotFound,
    ConversationBusy,
    RequestConflict,
    CallSettled,
    IncarnationChanged,
    StreamCursorGone,
    ArgumentsInvalid,
    RateLimited,
    Internal,
    ConfigurationInvalid,
    SessionFailed,
}

/// An error answer of the object. `message` is for people; programs go by `code`.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{code:?}: {message}")]
pub struct OperationError {
    pub code: Code,
    pub message: String,
    /// Where the arguments are wrong, for `arguments_invalid`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathProblem>,
    /// For `rate_limited` and `session_failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// Further members of the error object, such as `head` of `stream_cursor_gone`. An object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// One wrong place in a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, FromJson)]
pub struct PathProblem {
    /// Member names and indexes joined by dots or slashes, as the checker that found it writes them.
    pub path: String,
    pub message: String,
}

impl OperationError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            paths: Vec::new(),
            retry_after_seconds: None,
            extra: None,
        }
    }

    /// Unknown, foreign and pruned are answered alike, so there is nothing to say about the difference.
    pub fn not_found() -> Self {
        Self::new(Code::NotFound, "not found")
    }

    /// Wrong members of a body.
    pub fn arguments(paths: Vec<PathProblem>) -> Self {
        let message = match paths.first() {
            Some(first) => format!("{}: {}", first.path, first.message),
            None => "the arguments are invalid".to_owned(),
        };
        Self {
            paths,
            ..Self::new(Code::ArgumentsInvalid, message)
        }
    }

    pub fn retry_after(self, seconds: u32) -> Self {
        Self {
            retry_after_seconds: Some(seconds),
            ..self
        }
    }

    /// Adds members to the error object.
    pub fn with_extra(self, extra: Json) -> Self {
        Self {
            extra: Some(extra),
            ..self
        }
    }
}
