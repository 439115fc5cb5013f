//! How a run ended, and how its record says so.

use super::Child;
use crate::limits::DETAIL_BYTES;
use crate::page::boundary_at_most;
use crate::redact;
use crate::transcript;
use serde::Serialize;
use tidehold_delta::{FromJson, Json, Text};
use tidehold_session::ids::EntryId;
use tidehold_session::records::{InputStatus, SubmissionRecord, SubmissionState, TaskOutcomeError};
use tidehold_session::{Session, SessionError};
use tidehold_tasks::Outcome;

/// The result that an anchor's record keeps, whatever its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct RunResult {
    #[serde(flatten)]
    pub child: Child,
    #[serde(flatten)]
    pub end: End,
}

/// How a run ended. `wrote` says whether the child wrote anything, so that lists need not look.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum End {
    Succeeded {
        /// The entry whose text is the canonical answer.
        answer: EntryId,
    },
    Failed {
        reason: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<Text>,
        #[serde(default)]
        wrote: bool,
    },
    Cancelled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
        #[serde(default)]
        wrote: bool,
    },
    TimedOut {
        #[serde(default)]
        wrote: bool,
    },
}

/// The end that a settled submission means; `None` while it is not settled.
pub(super) async fn of_submission(
    session: &Session,
    child: Child,
    submission: &SubmissionRecord,
) -> Result<Option<End>, SessionError> {
    let status = match &submission.state {
        SubmissionState::Input(status) => status,
        SubmissionState::Write(_) => return failed(session, child, "not_an_input", None).await.map(Some),
    };
    match status {
        InputStatus::Queued | InputStatus::Placed { .. } => Ok(None),
        InputStatus::Done { answer, .. } => {
            let text = transcript::answer(session, *answer).await?;
            // White space alone answers nothing.
            if text.is_some_and(|text| !text.trim().is_empty()) {
                return Ok(Some(End::Succeeded { answer: *answer }));
            }
            failed(session, child, "empty_answer", None).await.map(Some)
        }
        InputStatus::Unanswered { reason, .. } if &**reason == "aborted" => {
            let wrote = transcript::wrote(session, child.conversation).await?;
            Ok(Some(End::Cancelled { reason: None, wrote }))
        }
        InputStatus::Unanswered { reason, detail, .. } => {
            failed(session, child, reason.clone(), detail.as_ref())
                .await
                .map(Some)
        }
    }
}

async fn failed(
    session: &Session,
    child: Child,
    reason: impl Into<Text>,
    detail: Option<&Json>,
) -> Result<End, SessionError> {
    let wrote = transcript::wrote(session, child.conversation).await?;
    Ok(End::Failed {
        reason: reason.into(),
        detail: detail.map(readable),
        wrote,
    })
}

/// A detail as text, without secrets and short enough for a list row.
pub(crate) fn readable(detail: &Json) -> Text {
    let redacted = redact::value(detail).value;
    let text = redacted
        .as_str()
        .map_or_else(|| redacted.to_string(), str::to_owned);
    text.get(..boundary_at_most(&text, DETAIL_BYTES))
        .unwrap_or_default()
        .into()
}

impl End {
    /// The outcome of the anchor's record.
    pub(super) fn into_outcome(self, child: Child) -> Outcome<RunResult> {
        let failure = |message: &str| TaskOutcomeError {
            message: message.into(),
            detail: None,
        };
        match self {
            end @ Self::Succeeded { .. } => Outcome::Completed(RunResult { child, end }),
            Self::Failed { .. } => {
                let error = failure(&self.sentence());
                Outcome::Failed {
                    error,
                    result: Some(RunResult { child, end: self }),
                }
            }
            end @ Self::TimedOut { .. } => Outcome::Failed {
                error: failure("The run timed out."),
                result: Some(RunResult { child, end }),
            },
            Self::Cancelled { ref reason, .. } => {
                let reason = reason.clone();
                Outcome::Aborted {
                    reason,
                    result: Some(RunResult { child, end: self }),
                }
            }
        }
    }

    /// The end in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Succeeded { .. } => "The run succeeded.".to_owned(),
            Self::Failed {
                reason, detail: None, ..
            } => format!("The run failed: {reason}."),
            Self::Failed {
                reason,
                detail: Some(detail),
                ..
            } => format!("The run failed: {reason}: {detail}"),
            Self::Cancelled { reason: None, .. } => "The run was cancelled.".to_owned(),
            Self::Cancelled {
                reason: Some(reason), ..
            } => format!("The run was cancelled: {reason}"),
            Self::TimedOut { .. } => "The run timed out.".to_owned(),
        }
    }
}
