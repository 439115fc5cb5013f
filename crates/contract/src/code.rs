//! Error codes. They are contract: none may change its meaning within version 1.

use crate::redact;
use crate::wire::wire_enum;

wire_enum! {
    /// Why a tool could not do what was asked.
    pub enum Code {
        ConfigurationInvalid = "configuration_invalid",
        HarnessUnavailable = "harness_unavailable",
        SelectionInvalid = "selection_invalid",
        ModelUnavailable = "model_unavailable",
        ContextInvalid = "context_invalid",
        SessionClosed = "session_closed",
        Failed = "failed",
        Cancelled = "cancelled",
        TimedOut = "timed_out",
        RequestInvalid = "request_invalid",
        RunUnavailable = "run_unavailable",
        RunNotLive = "run_not_live",
        CursorInvalid = "cursor_invalid",
        CursorStale = "cursor_stale",
        PageTooSmall = "page_too_small",
        SessionUnavailable = "session_unavailable",
        ScriptInvalid = "script_invalid",
        StorageUnavailable = "storage_unavailable",
    }
}

/// A refusal: a code, and a sentence for whoever reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
}

impl Refusal {
    /// The sentence may quote arguments and model errors, so it is redacted here, whatever it quotes.
    pub fn new(code: Code, message: impl AsRef<str>) -> Self {
        Self {
            code,
            message: redact::text(message.as_ref()).into_owned(),
        }
    }
}
