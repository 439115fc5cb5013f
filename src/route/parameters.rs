//! From an action and its query to the operation that the object is asked for. Runs after authentication, so that a
//! caller without rights learns nothing from its mistakes.

use super::Action;
use super::names::id;
use crate::error::ApiError;
use crate::limits::{PAGE_ITEMS, WAIT_SECONDS};
use tidehold_durable_objects::protocol::{Accept, Detail, EntryId, Operation, Order};

/// What of a request decides an operation, beside its path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters<'a> {
    /// Decoded; of equal names the first counts.
    pub query: &'a [(String, String)],
    pub last_event_id: Option<&'a str>,
    pub accept: Option<&'a str>,
    /// What the caller's scopes allow.
    pub detail: Detail,
}

impl<'a> Parameters<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        self.query
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    fn limit(&self) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.get("limit") else {
            return Ok(None);
        };
        let limit = text.parse().ok().filter(|limit| (1..=PAGE_ITEMS).contains(limit));
        let limit = limit.ok_or_else(|| ApiError::parameter("limit", "must be an integer from 1 to 500"))?;
        Ok(Some(limit))
    }

    fn order(&self) -> Result<Option<Order>, ApiError> {
        match self.get("order") {
            None => Ok(None),
            Some("ascending") => Ok(Some(Order::Ascending)),
            Some("descending") => Ok(Some(Order::Descending)),
            Some(_) => Err(ApiError::parameter(
                "order",
                "must be \"ascending\" or \"descending\"",
            )),
        }
    }

    /// Whole seconds, rounded up: a short wait must not become none.
    fn wait_seconds(&self) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.get("wait") else {
            return Ok(None);
        };
        let seconds = text
            .parse::<f64>()
            .ok()
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        let seconds = seconds.ok_or_else(|| ApiError::parameter("wait", "must be a number of seconds"))?;
        Ok(Some(seconds.ceil().min(f64::from(WAIT_SECONDS)) as u32))
    }

    /// An entry id.
    fn at(&self) -> Result<Option<EntryId>, ApiError> {
        let Some(text) = self.get("at") else {
            return Ok(None);
        };
        let id = id(text).ok_or_else(|| ApiError::parameter("at", "must be an entry id"))?;
        Ok(Some(EntryId(id)))
    }

    /// The position a reader of events holds. A browser repeats the address it was given and adds the header when it
    /// reconnects, so the header is the newer one.
    fn after(&self) -> Option<String> {
        self.last_event_id
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .or_else(|| self.text("after"))
    }
}

/// The operation, or the parameter that is wrong.
pub fn operation(action: Action, parameters: &Parameters<'_>) -> Result<Operation, ApiError> {
    Ok(match action {
        Action::CallTool { tool } => Operation::CallTool { tool },
        Action::Inspect => Operation::Inspect {
            detail: parameters.detail,
        },
        Action::DeleteSession => Operation::DeleteSession,
        Action::ListConversations => Operation::ListConversations {
            cursor: parameters.text("cursor"),
            limit: parameters.limit()?,
        },
        Action::CreateConversation => Operation::CreateConversation,
        Action::GetConversation { conversation } => Operation::GetConversation { conversation },
        Action::Configure { conversation } => Operation::Configure { conversation },
        Action::AbortConversation { conversation } => Operation::AbortConversation { conversation },
        Action::ResetConversation { conversation } => Operation::ResetConversation { conversation },
        Action::Submit { conversation } => Operation::Submit { conversation },
        Action::GetSubmission { submission } => Operation::GetSubmission {
            submission,
            wait_seconds: parameters.wait_seconds()?,
        },
        Action::AbortSubmission { submission } => Operation::AbortSubmission { submission },
        Action::ListEntries { conversation } => Operation::ListEntries {
            conversation,
            cursor: parameters.text("cursor"),
            limit: parameters.limit()?,
            order: parameters.order()?,
        },
        Action::GetContext { conversation } => Operation::GetContext {
            conversation,
            at: parameters.at()?,
        },
        Action::WatchEvents { conversation } => Operation::WatchEvents {
            conversation,
            after: parameters.after(),
        },
        Action::ListTasks => Operation::ListTasks {
            detail: parameters.detail,
        },
        Action::GetTask { task } => Operation::GetTask {
            task,
            detail: parameters.detail,
        },
        Action::AbortTask { task } => Operation::AbortTask { task },
        Action::Usage => Operation::Usage,
    })
}

/// The form of the answer. Event routes stream unless JSON is asked for; every other route answers JSON unless events
/// are asked for.
pub fn accept(operation: &Operation, parameters: &Parameters<'_>) -> Accept {
    let asked = parameters.accept.unwrap_or_default().to_ascii_lowercase();
    let events = asked.contains("text/event-stream");
    match operation {
        Operation::WatchEvents { .. } if events || !asked.contains("application/json") => Accept::EventStream,
        Operation::WatchEvents { .. } => Accept::Json,
        _ if events => Accept::EventStream,
        _ => Accept::Json,
    }
}
