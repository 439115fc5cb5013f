//! Creating tasks in a transaction.

use crate::task::Task;
use crate::typed::TypedTaskId;
use tidehold_delta::{ConvertError, Json};
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskCreate, TaskOwnership};
use tidehold_session::{Rejection, SessionError, Tx};

/// How a new task is owned (spec 5.1). A task always names its owner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskOptions {
    pub ownership: TaskOwnership,
    /// `None`: the owner task's conversation, or the transaction's bound conversation.
    pub conversation_id: Option<ConversationId>,
    /// Conversation-owned tasks only: outside of conversation abort, idle and cascades.
    pub background: bool,
    /// Its creator awaits it only in memory and does not resume after a restart.
    pub abandon_on_restart: bool,
}

impl TaskOptions {
    /// A top-level task of a conversation.
    pub fn in_conversation(conversation: ConversationId) -> Self {
        let ownership = TaskOwnership::Conversation;
        Self {
            ownership,
            conversation_id: Some(conversation),
            background: false,
            abandon_on_restart: false,
        }
    }

    /// A top-level task of the transaction's bound conversation.
    pub fn in_bound_conversation() -> Self {
        let ownership = TaskOwnership::Conversation;
        Self {
            ownership,
            conversation_id: None,
            background: false,
            abandon_on_restart: false,
        }
    }

    /// A child task, in its owner's conversation.
    pub fn owned_by(owner: impl Into<TaskId>) -> Self {
        let ownership = TaskOwnership::Task(owner.into());
        Self {
            ownership,
            conversation_id: None,
            background: false,
            abandon_on_restart: false,
        }
    }

    /// The same, in the background.
    pub fn background(self) -> Self {
        Self {
            background: true,
            ..self
        }
    }

    /// The same, abandoned when the object restarts.
    pub fn abandon_on_restart(self) -> Self {
        Self {
            abandon_on_restart: true,
            ..self
        }
    }
}

/// The untyped request for [`Tx::create_task`].
pub fn create_task_request<T: Task>(
    definition: &T,
    input: &T::Input,
    options: TaskOptions,
) -> Result<TaskCreate, ConvertError> {
    Ok(TaskCreate {
        kind: T::NAME.into(),
        version: T::VERSION,
        input: Json::from_serialize(input)?,
        checkpoint: Json::from_serialize(&definition.initial(input))?,
        ownership: options.ownership,
        conversation_id: options.conversation_id,
        background: options.background,
        abandon_on_restart: options.abandon_on_restart,
    })
}

/// Creates a task, pending at its initial checkpoint.
///
/// # Errors
/// Those of [`Tx::create_task`]: no conversation is named or bound, the conversation or the owner does not exist, a child would
/// live elsewhere than its owner or in the background. Whether the owner may own new work is judged when the transaction ends.
pub async fn create<T: Task>(
    tx: &Tx,
    definition: &T,
    input: &T::Input,
    options: TaskOptions,
) -> Result<TypedTaskId<T::Outcome>, SessionError> {
    let request = create_task_request(definition, input, options);
    let request = request.map_err(|error| Rejection::Other(error.to_string()))?;
    Ok(TypedTaskId::assume(tx.create_task(request).await?))
}
