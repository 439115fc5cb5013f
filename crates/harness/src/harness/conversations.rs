//! Conversations: creation, lookup, abort (spec 2.2).

use super::Harness;
use crate::agent::{AgentChange, configure};
use crate::error::HarnessError;
use crate::submissions::withdraw_inputs;
use tidehold_session::Tx;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{ConversationOwnership, ConversationRecord};
use tidehold_session::storage::{ConversationQuery, Cursor, Page};
use tidehold_tasks::AbortScope;

impl Harness {
    /// An ownerless conversation with its agent, in one commit.
    pub async fn create_conversation(&self, agent: AgentChange) -> Result<ConversationRecord, HarnessError> {
        self.session()
            .commit(async move |tx: Tx| {
                let record = tx.create_conversation(ConversationOwnership::Ownerless).await?;
                configure(&tx, record.id, &agent).await?;
                Ok(record)
            })
            .await
    }

    /// The root conversation, created when absent. `agent` applies to a creation only.
    pub async fn root(&self, agent: AgentChange) -> Result<ConversationRecord, HarnessError> {
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
    }

    /// One change of a conversation's agent, in its own commit. The root is created by the first change that names it.
    pub async fn configure(
        &self,
        conversation: ConversationId,
        change: AgentChange,
    ) -> Result<(), HarnessError> {
        self.session()
            .commit(async move |tx: Tx| {
                if tx.conversation(conversation).await?.is_none() {
                    if conversation != ROOT_CONVERSATION_ID {
                        return Err(HarnessError::UnknownConversation(conversation));
                    }
                    tx.create_root().await?;
                }
                configure(&tx, conversation, &change).await?;
                Ok(())
            })
            .await
    }

    /// The record of a conversation.
    pub async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRecord>, HarnessError> {
        Ok(self.session().conversation(id).await?)
    }

    /// Conversations in id order.
    pub async fn conversations(
        &self,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<ConversationRecord>, HarnessError> {
        Ok(self
            .session()
            .scan_conversations(&ConversationQuery::default(), limit, cursor)
            .await?)
    }

    /// Withdraws queued inputs and marks the conversation's live work; returns once both are durable.
    pub async fn abort_conversation(
        &self,
        conversation: ConversationId,
        scope: AbortScope,
    ) -> Result<(), HarnessError> {
        let scheduler = self.scheduler().clone();
        self.session()
            .commit(async move |tx: Tx| {
                if tx.conversation(conversation).await?.is_none() {
                    return Err(HarnessError::UnknownConversation(conversation));
                }
                let reached = scheduler.mark_aborts(&tx, conversation, scope).await?;
                for conversation in reached.conversations {
                    withdraw_inputs(&tx, conversation).await?;
                }
                Ok(())
            })
            .await?;
        self.resume();
        Ok(())
    }
}
