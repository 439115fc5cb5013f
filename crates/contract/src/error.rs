//! What a call can fail with besides a receipt.

use crate::code::Refusal;
use crate::cursor::BadCursor;
use crate::schema::Problem;
use tidehold_session::SessionError;

/// A call that got no receipt.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No tool has this name.
    #[error("unknown tool")]
    UnknownTool,
    /// The arguments do not match the input schema.
    #[error("the arguments do not match the input schema")]
    ArgumentsInvalid(Vec<Problem>),
    /// The session ended or failed under the call; reopen it and ask again.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// How a tool's own code ends early.
pub(crate) enum Stop {
    Refused(Refusal),
    Session(SessionError),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<BadCursor> for Stop {
    fn from(cursor: BadCursor) -> Self {
        Self::Refused(cursor.into())
    }
}

impl From<SessionError> for Stop {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}
