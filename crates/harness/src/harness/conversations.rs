//! Conversations: creation, lookup, abort (spec 2.2).

use super::Harness;
use crate::agent::{AgentChange, configure};
use crate::error::HarnessError;
use crate::submissions::withdraw_inputs;
use futures::future::LocalBoxFuture;
use tidehold_session::Tx;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::{ConversationOwnership, ConversationRecord};
use tidehold_session::storage::{ConversationQuery, Cursor, Page};
use tidehold_tasks::AbortScope;

/// Makes sure that the conversation exists: the root is created by the first write that names it. Whether it is new.
pub(super) async fn or_new_root(tx: &Tx, id: ConversationId) -> Result<bool, HarnessError> {
    if tx.conversation(id).await?.is_some() {
        return Ok(false);
    }
    if id != ROOT_CONVERSATION_ID {
        return Err(HarnessError::UnknownConversation(id));
    }
    tx.create_root().await?;
    Ok(true)
}

impl Harness {
    /// An ownerless conversation with its agent, in one commit.
    pub fn create_conversation<'a>(
        &'a self,
        agent: AgentChange,
    ) -> LocalBoxFuture<'a, Result<ConversationRecord, HarnessError>> {
        Box::pin(async move {
            self.session()
                .commit(async move |tx: Tx| {
                    let record = tx.create_conversation(ConversationOwnership::Ownerless).await?;
                    configure(&tx, record.id, &agent).await?;
                    Ok(record)
                })
                .await
        })
    }

    /// The root conversation, created when absent. `agent` applies to a creation only.
    pub fn root<'a>(
        &'a self,
        agent: AgentChange,
    ) -> LocalBoxFuture<'a, Result<ConversationRecord, HarnessError>> {
        Box::pin(async move {
            if let Some(root) = self.session().conversation(ROOT_CONVERSATION_ID).await? {
                return Ok(root);
            }
            self.session()
                .commit(async move |tx: Tx| {
                    if let Some(root) = tx.conversation(ROOT_CONVERSATION_ID).await? {
                        return Ok(root);
                    }
                    let root = tx.create_root().await?;
                    configure(&tx, root.id, &agent).await?;
                    Ok(root)
                })
                .await
        })
    }

    /// One change of a conversation's agent, in its own commit. The root is created by the first change that names it.
    pub fn configure<'a>(
        &'a self,
        conversation: ConversationId,
        change: AgentChange,
    ) -> LocalBoxFuture<'a, Result<(), HarnessError>> {
        Box::pin(async move {
            self.session()
                .commit(async move |tx: Tx| {
                    or_new_root(&tx, conversation).await?;
                    configure(&tx, conversation, &change).await?;
                    Ok(())
                })
                .await
        })
    }

    /// The record of a conversation.
    pub fn conversation<'a>(
        &'a self,
        id: ConversationId,
    ) -> LocalBoxFuture<'a, Result<Option<ConversationRecord>, HarnessError>> {
        Box::pin(async move { Ok(self.session().conversation(id).await?) })
    }

    /// Conversations in id order.
    pub fn conversations<'a>(
        &'a self,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<ConversationRecord>, HarnessError>> {
        Box::pin(async move {
            Ok(self
                .session()
                .scan_conversations(&ConversationQuery::default(), limit, cursor)
                .await?)
        })
    }

    /// Withdraws queued inputs and marks the conversation's live work; returns once both are durable.
    pub fn abort_conversation<'a>(
        &'a self,
        conversation: ConversationId,
        scope: AbortScope,
    ) -> LocalBoxFuture<'a, Result<(), HarnessError>> {
        Box::pin(async move { self.mark_conversation(conversation, scope).await.map(drop) })
    }

    /// The same, and returns once every task it marked has ended and the conversation is idle (spec 5.4). Dropping the call
    /// ends only the wait. Work that is created in the background meanwhile is neither marked nor waited for.
    pub fn abort_conversation_and_wait<'a>(
        &'a self,
        conversation: ConversationId,
        scope: AbortScope,
    ) -> LocalBoxFuture<'a, Result<(), HarnessError>> {
        Box::pin(async move {
            for task in self.mark_conversation(conversation, scope).await? {
                self.scheduler().wait_for_task(task).await?;
            }
            Ok(self.scheduler().wait_for_idle(Some(conversation)).await?)
        })
    }

    /// Returns the tasks that the abort reached.
    fn mark_conversation(
        &self,
        conversation: ConversationId,
        scope: AbortScope,
    ) -> LocalBoxFuture<'_, Result<Vec<TaskId>, HarnessError>> {
        Box::pin(async move {
            let scheduler = self.scheduler().clone();
            let marked = self
                .session()
                .commit(async move |tx: Tx| {
                    if or_new_root(&tx, conversation).await? {
                        return Ok::<_, HarnessError>(Vec::new());
                    }
                    let reached = scheduler.mark_aborts(&tx, conversation, scope).await?;
                    for conversation in reached.conversations {
                        withdraw_inputs(&tx, conversation).await?;
                    }
                    Ok(reached.marked)
                })
                .await?;
            self.resume();
            Ok(marked)
        })
    }
}
