//! Loading what the mirror misses. Owner edges and outcomes never change, so reading them needs no order; callers are on
//! the line, where the mirror itself stands still.

use super::Inner;
use crate::core::finish::candidate;
use crate::core::forest::{Life, Missing, Node, node_of};
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::limits::SCAN_PAGE;
use tidehold_session::storage::{SubmissionQuery, SubmissionStatus};
use tidehold_session::{SessionError, Tx};

/// Home of a task that storage does not know: an impossible owner must not stop its session.
const NOWHERE: ConversationId = ConversationId(0);

impl Inner {
    /// Loads until every decision can be made.
    pub(super) async fn load(&self) -> Result<(), SessionError> {
        let needs_queues = self.state.borrow().needs_queues();
        if needs_queues {
            self.load_queues().await?;
        }
        loop {
            let missing = self.state.borrow().missing();
            if missing.is_empty() {
                return Ok(());
            }
            for edge in missing {
                self.load_one(edge).await?;
            }
        }
    }

    /// The same for a transaction: also what is above the records it staged.
    pub(crate) async fn load_for(&self, tx: &Tx) -> Result<(), SessionError> {
        self.load().await?;
        loop {
            let missing = {
                let (state, staged) = (self.state.borrow(), tx.staged());
                let conversations = staged.conversations.iter().map(Rc::as_ref);
                let forest = candidate(&state, &staged.tasks, conversations);
                staged.tasks.iter().find_map(|task| forest.missing(task.id))
            };
            match missing {
                Some(edge) => self.load_one(edge).await?,
                None => return Ok(()),
            }
        }
    }

    /// What is above conversations with queued inputs, for a traversal that does not come from an intent.
    pub(super) async fn load_queue_owners(&self) -> Result<(), SessionError> {
        loop {
            let missing = {
                let state = self.state.borrow();
                let mut queued = state.queues.inputs.values();
                queued.find_map(|id| state.forest.missing_above_conversation(*id))
            };
            match missing {
                Some(edge) => self.load_one(edge).await?,
                None => return Ok(()),
            }
        }
    }

    /// The places of ended tasks that someone names: what ended before the open, or long ago, is not in the mirror.
    pub(crate) async fn load_ended(&self, ids: &[TaskId]) -> Result<(), SessionError> {
        for id in ids {
            let known = self.state.borrow().forest.node(*id).is_some();
            if !known && self.session.task(*id).await?.is_some() {
                self.load_one(Missing::Task(*id)).await?;
            }
        }
        Ok(())
    }

    async fn load_one(&self, edge: Missing) -> Result<(), SessionError> {
        match edge {
            Missing::Conversation(id) => {
                let record = self.session.conversation(id).await?;
                let owner = record.and_then(|record| record.owner).map(|owner| owner.task_id);
                self.state.borrow_mut().forest.insert_conversation(id, owner);
            }
            Missing::Task(id) => {
                let record = self.session.task(id).await?;
                let mut state = self.state.borrow_mut();
                let node = record.map_or_else(
                    || {
                        state.forest.insert_conversation(NOWHERE, None);
                        Node {
                            conversation: NOWHERE,
                            owner: None,
                            background: false,
                            life: Life::Completed,
                        }
                    },
                    |record| node_of(&record),
                );
                state.forest.insert(id, node);
            }
        }
        Ok(())
    }

    /// Conversations with queued inputs from before the open; later ones are published.
    pub(super) async fn load_queues(&self) -> Result<(), SessionError> {
        if self.state.borrow().queues.loaded {
            return Ok(());
        }
        let query = SubmissionQuery {
            status: Some(SubmissionStatus::Queued),
            ..SubmissionQuery::default()
        };
        let mut cursor = None;
        loop {
            let page = self
                .session
                .scan_submissions(&query, SCAN_PAGE, cursor.as_ref())
                .await?;
            let inputs = page.items.iter().map(|item| (item.id, item.conversation_id));
            self.state.borrow_mut().queues.inputs.extend(inputs);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        self.state.borrow_mut().queues.loaded = true;
        Ok(())
    }
}
