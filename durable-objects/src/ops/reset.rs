//! Deletion of a whole session.

use super::errors::harness_error;
use super::{Answer, Session};
use crate::frame::Reply;
use crate::platform::storage::{describe, of_state};
use crate::protocol::{Code, OperationError};
use js_sys::futures::JsFuture;

/// Ends every stream and deletes everything, the alarm too. What still runs loses its memory with the frame's reply.
pub async fn delete(session: &Session) -> Answer {
    session.harness.events().end("deleted");
    // Seals the session, so that nothing commits or arms the alarm after the deletion.
    session
        .harness
        .session()
        .close()
        .await
        .map_err(|error| harness_error(error.into()))?;
    let failed = |message: String| OperationError::new(Code::SessionFailed, message).retry_after(1);
    session.alarm.clear().map_err(|error| failed(error.to_string()))?;
    let storage = of_state(&session.platform.state).map_err(|error| failed(error.to_string()))?;
    let deleted = storage.delete_all().map_err(|error| failed(describe(&error)))?;
    JsFuture::from(deleted)
        .await
        .map_err(|error| failed(describe(&error)))?;
    Ok(Reply::Deleted)
}
