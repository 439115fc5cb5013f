//! Errors of the harness as operation errors.

use crate::protocol::{Code, OperationError, PathProblem};
use tidehold_contract::redact;
use tidehold_harness::HarnessError;
use tidehold_session::{Rejection, SessionError};

/// One mapping for every verb.
pub fn harness_error(error: HarnessError) -> OperationError {
    let message = told(&error);
    match error {
        HarnessError::Session(error) => session_error(&error),
        HarnessError::ConversationBusy(_) | HarnessError::InboxFull(_) => {
            OperationError::new(Code::ConversationBusy, message)
        }
        HarnessError::RequestConflict(_) => OperationError::new(Code::RequestConflict, message),
        HarnessError::UnknownConversation(_) => OperationError::not_found(),
        HarnessError::Invalid { path, message } => OperationError::arguments(vec![PathProblem {
            path: path.to_string(),
            message,
        }]),
    }
}

/// What a client is told. Messages may quote what is stored.
fn told(error: &dyn std::error::Error) -> String {
    redact::text(&error.to_string()).into_owned()
}

fn session_error(error: &SessionError) -> OperationError {
    let message = told(error);
    match error {
        SessionError::Storage(_) | SessionError::Failed(_) | SessionError::Closed => {
            OperationError::new(Code::SessionFailed, message).retry_after(crate::limits::REOPEN_AFTER_SECONDS)
        }
        // The scans behind the routes are given ids that exist, so what is left to be invalid is the cursor.
        SessionError::Request(_) => OperationError::new(Code::CursorInvalid, message),
        SessionError::Rejected(Rejection::BatchTooLarge { .. } | Rejection::TaskTooLarge { .. }) => {
            OperationError::arguments(vec![PathProblem {
                path: String::new(),
                message,
            }])
        }
        SessionError::Draft(tidehold_delta::DraftError::Depth) => {
            OperationError::arguments(vec![PathProblem {
                path: String::new(),
                message,
            }])
        }
        SessionError::ReadAfterWrite(_)
        | SessionError::Revoked
        | SessionError::PendingAcquisition
        | SessionError::Draft(_)
        | SessionError::Rejected(_)
        | SessionError::CallbackPanicked(_)
        | SessionError::DefinitionPanicked { .. } => OperationError::new(Code::Internal, message),
    }
}
