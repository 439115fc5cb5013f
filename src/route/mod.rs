//! From method and path to a typed [`Endpoint`]. Pure; the table in [`table`] is the only list of routes, and the
//! OpenAPI document is made from it too.

pub mod names;
pub mod parameters;
pub mod table;

use crate::error::ApiError;
use names::Captures;
use table::{ROUTES, RouteSpec};
use tidehold_durable_objects::protocol::{ConversationKey, SubmissionId, TaskId};

/// What a path names, before its query is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Endpoint {
    Healthz,
    OpenApi,
    Session { session: String, action: Action },
}

/// What is asked of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    CallTool { tool: String },
    Inspect,
    DeleteSession,
    ListConversations,
    CreateConversation,
    GetConversation { conversation: ConversationKey },
    Configure { conversation: ConversationKey },
    AbortConversation { conversation: ConversationKey },
    ResetConversation { conversation: ConversationKey },
    Submit { conversation: ConversationKey },
    GetSubmission { submission: SubmissionId },
    AbortSubmission { submission: SubmissionId },
    ListEntries { conversation: ConversationKey },
    GetContext { conversation: ConversationKey },
    WatchEvents { conversation: ConversationKey },
    ListTasks,
    GetTask { task: TaskId },
    AbortTask { task: TaskId },
    Usage,
}

/// The route of a request, or 404, or 405 with the methods that the path takes.
pub fn find(method: &str, path: &str) -> Result<(Endpoint, &'static RouteSpec), ApiError> {
    let mut allow = Vec::new();
    for route in &ROUTES {
        let Some(endpoint) = names::capture(route.path, path).and_then(|captures| (route.build)(&captures))
        else {
            continue;
        };
        if route.method == method {
            return Ok((endpoint, route));
        }
        allow.push(route.method);
    }
    match allow.is_empty() {
        true => Err(ApiError::not_found()),
        false => Err(ApiError::method_not_allowed(&allow)),
    }
}

fn session(captures: &Captures<'_>, action: Action) -> Option<Endpoint> {
    Some(Endpoint::Session {
        session: captures.session()?,
        action,
    })
}

#[cfg(test)]
mod tests;
