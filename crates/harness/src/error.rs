//! What a harness call can fail with.

use tidehold_delta::{ConvertError, DraftError, Text};
use tidehold_session::ids::ConversationId;
use tidehold_session::{Rejection, SessionError, SessionFailed};
use tidehold_tasks::TaskFault;

/// Error of a harness call; nothing was written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HarnessError {
    #[error(transparent)]
    Session(#[from] SessionError),
    /// `whenBusy: "reject"` while a run is active (spec 6).
    #[error("conversation {0} is busy")]
    ConversationBusy(ConversationId),
    /// Its inbox holds as much as one may.
    #[error("conversation {0} has too much queued")]
    InboxFull(ConversationId),
    /// The request id already names another submission.
    #[error("request {0} already identifies a submission with other content")]
    RequestConflict(Text),
    /// The conversation does not exist.
    #[error("conversation {0} does not exist")]
    UnknownConversation(ConversationId),
    /// A value that cannot be admitted.
    #[error("{path}: {message}")]
    Invalid { path: Text, message: String },
}

impl From<Rejection> for HarnessError {
    fn from(rejection: Rejection) -> Self {
        Self::Session(rejection.into())
    }
}

impl From<DraftError> for HarnessError {
    fn from(error: DraftError) -> Self {
        Self::Session(error.into())
    }
}

impl From<SessionFailed> for HarnessError {
    fn from(failed: SessionFailed) -> Self {
        Self::Session(failed.into())
    }
}

impl From<HarnessError> for TaskFault {
    fn from(error: HarnessError) -> Self {
        match error {
            HarnessError::Session(error) => Self::from(error),
            other => Self::Failed(other.to_string()),
        }
    }
}

/// A stored built-in value that its own types cannot read.
pub(crate) fn malformed(what: &'static str, error: &ConvertError) -> SessionError {
    SessionError::Rejected(Rejection::Other(format!("stored {what} cannot be read: {error}")))
}
