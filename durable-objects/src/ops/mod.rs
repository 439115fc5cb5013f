//! What a session can be asked, one verb per file. This file only chooses the verb.

mod abort;
mod body;
mod conversations;
mod cursor;
mod entries;
mod errors;
mod events;
mod inspect;
mod submissions;
mod tasks;
pub mod tool;
mod usage;

use crate::app::OpenSession;
use crate::frame::{Reply, Request};
use crate::protocol::{Code, Operation, OperationError};
use errors::harness_error;
use std::rc::Rc;
use tidehold_delta::{Json, Text};

type Session = Rc<OpenSession>;
type Answer = Result<Reply, OperationError>;

/// Performs one operation on an open session.
pub async fn perform(session: Session, request: Request<Operation>) -> Answer {
    let exists = session
        .harness
        .session()
        .incarnation()
        .await
        .map_err(|e| harness_error(e.into()))?;
    check_incarnation(&request, exists.as_ref())?;
    if exists.is_none() && !may_create(&request.call.operation) {
        return match &request.call.operation {
            // Deleting what is not there is done, whoever asks.
            Operation::DeleteSession => Ok(Reply::Empty),
            _ => Err(OperationError::not_found()),
        };
    }
    match request.call.operation.clone() {
        Operation::CallTool { tool } => tool::call(session, &request, &tool).await,
        Operation::Inspect { detail } => inspect::inspect(&session, detail).await,
        Operation::DeleteSession => Ok(Reply::Delete),
        Operation::ListConversations { cursor, limit } => {
            conversations::list(&session, cursor.as_deref(), limit).await
        }
        Operation::CreateConversation => conversations::create(&session, &request.body).await,
        Operation::GetConversation { conversation } => conversations::get(&session, conversation.id()).await,
        Operation::Configure { conversation } => {
            conversations::configure(&session, conversation.id(), &request.body).await
        }
        Operation::AbortConversation { conversation } => {
            abort::conversation(&session, conversation.id(), &request.body).await
        }
        Operation::ResetConversation { conversation } => {
            submissions::reset(&session, conversation.id(), &request.body).await
        }
        Operation::Submit { conversation } => {
            submissions::submit(&session, conversation.id(), &request.body).await
        }
        Operation::GetSubmission {
            submission,
            wait_seconds,
        } => submissions::get(&session, submission, wait_seconds).await,
        Operation::AbortSubmission { submission } => abort::submission(&session, submission).await,
        Operation::ListEntries {
            conversation,
            cursor,
            limit,
            order,
        } => entries::list(&session, conversation.id(), cursor.as_deref(), limit, order).await,
        Operation::GetContext { conversation, at } => entries::context(&session, conversation.id(), at).await,
        Operation::WatchEvents { conversation, after } => {
            events::watch(session, conversation.id(), after.as_deref(), request.call.accept).await
        }
        Operation::ListTasks { detail } => tasks::list(&session, detail),
        Operation::GetTask { task, detail } => tasks::get(&session, task, detail).await,
        Operation::AbortTask { task } => abort::task(&session, task).await,
        Operation::Usage => usage::usage(&session).await,
    }
}

/// Only an accepted `POST` creates a session; the tools that only look answer for an absent one too.
fn may_create(operation: &Operation) -> bool {
    match operation {
        Operation::CallTool { .. } | Operation::CreateConversation | Operation::Submit { .. } => true,
        Operation::Configure { conversation } | Operation::ResetConversation { conversation } => {
            conversation.is_root()
        }
        _ => false,
    }
}

/// A write meant for another lifetime of this session must not happen in this one.
fn check_incarnation(request: &Request<Operation>, current: Option<&Text>) -> Result<(), OperationError> {
    match &request.call.if_incarnation {
        Some(meant) if current.map(|current| &**current) != Some(meant.as_str()) => Err(OperationError::new(
            Code::IncarnationChanged,
            "the session has another incarnation",
        )),
        Some(_) | None => Ok(()),
    }
}

/// `<incarnation>-<seq>`: the head after whatever the caller just wrote; `None` in a session that does not exist.
async fn head(session: &OpenSession) -> Result<Option<String>, OperationError> {
    let kernel = session.harness.session();
    let incarnation = kernel.incarnation().await.map_err(|e| harness_error(e.into()))?;
    let seq = session
        .harness
        .events()
        .head()
        .await
        .map_err(|e| harness_error(e.into()))?;
    let both = incarnation.zip(seq);
    Ok(both.map(|(incarnation, seq)| format!("{incarnation}-{seq}")))
}

/// The answer to a write.
async fn written(session: &OpenSession, body: Json) -> Answer {
    let head = head(session).await?;
    Ok(Reply::Written { body, head })
}

/// A page of a list.
fn page(items: Vec<Json>, next: Option<Json>) -> Json {
    let next = next.map(|next| ("next", next));
    Json::object(std::iter::once(("items", Json::array(items))).chain(next))
}
