//! What a session can be asked, one verb per file. This file only chooses the verb.

use crate::app::OpenSession;
use crate::frame::{Reply, Request};
use crate::protocol::{Operation, OperationError};
use std::rc::Rc;

/// Performs one operation on an open session.
pub async fn perform(_session: Rc<OpenSession>, request: Request<Operation>) -> Result<Reply, OperationError> {
    match request.call.operation {
        Operation::CallTool { .. }
        | Operation::Inspect
        | Operation::ListConversations { .. }
        | Operation::CreateConversation
        | Operation::GetConversation { .. }
        | Operation::Submit { .. }
        | Operation::GetSubmission { .. }
        | Operation::ListEntries { .. }
        | Operation::WatchEvents { .. } => Err(OperationError::not_found()),
    }
}
