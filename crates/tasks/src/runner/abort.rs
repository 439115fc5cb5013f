//! Abort marks that someone asks for (spec 5.4).

use super::Inner;
use super::stage::{Budget, as_staged};
use crate::core::forest::Place;
use crate::core::marks::is_news;
use crate::core::scope::{Boundaries, Start, live_tasks, queued_conversations};
use crate::core::state::{Mode, UnfinishedAbort};
use crate::recovery;
use crate::scheduler::{AbortReply, Reached};
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::{Rejection, SessionError, Tx};

/// Whether a mark replaces one that a restart set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkStrength {
    /// A request: it does.
    Request,
    /// An owner's own clean-up: it does not.
    Cleanup,
}

impl Inner {
    /// Marks a task, or settles it when nothing could run for it; then joins its run invocation.
    pub(crate) async fn abort_task(
        self: &Rc<Self>,
        id: TaskId,
        strength: MarkStrength,
    ) -> Result<AbortReply, SessionError> {
        let inner = Rc::clone(self);
        let reply = self
            .session
            .commit(async move |tx: Tx| inner.mark_task(&tx, id, strength).await)
            .await?;
        if reply == AbortReply::Marked {
            self.join_run(id).await?;
        }
        Ok(reply)
    }

    async fn mark_task(
        &self,
        tx: &Tx,
        id: TaskId,
        strength: MarkStrength,
    ) -> Result<AbortReply, SessionError> {
        let Some(task) = self.live(id) else {
            return match self.session.task(id).await? {
                Some(_) => Ok(AbortReply::Terminal),
                None => Err(Rejection::MissingTask(id).into()),
            };
        };
        let marked = task.record.abort_requested;
        if !is_news(&task.record, None) || (marked && strength == MarkStrength::Cleanup) {
            return Ok(AbortReply::Marked);
        }
        self.load().await?;
        let has_work = self.state.borrow().forest().is_busy_below(Place::task(id));
        let stands_still = task.invocation.is_none() && task.record.outcome().is_none() && !has_work;
        match task.blocked() {
            Some(reason) if stands_still => self.stage_orphan(tx, &task.record, reason).await?,
            _ => self.stage_mark(tx, &task.record, None).await?,
        }
        Ok(AbortReply::Marked)
    }

    async fn join_run(&self, id: TaskId) -> Result<(), SessionError> {
        self.session.health()?;
        let Some(invocation) = self
            .invocation(id)
            .filter(|invocation| invocation.mode == Mode::Run)
        else {
            return Ok(());
        };
        match invocation.joined().await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.over()),
        }
    }

    /// Why a wait ended without its event.
    pub(super) fn over(&self) -> SessionError {
        self.session.health().err().unwrap_or(SessionError::Closed)
    }

    /// Marks what a traversal from a conversation reaches, in the caller's transaction.
    pub(crate) async fn mark_aborts(
        &self,
        tx: &Tx,
        conversation: ConversationId,
        boundaries: Boundaries,
    ) -> Result<Reached, SessionError> {
        self.load().await?;
        self.load_queues().await?;
        self.load_queue_owners().await?;
        let start = Start::Conversation(conversation);
        let (marked, conversations) = {
            let state = self.state.borrow();
            let marked = live_tasks(&state, start, boundaries);
            let below = queued_conversations(&state, start, boundaries);
            (marked, std::iter::once(conversation).chain(below).collect())
        };
        let (staged, mut budget) = (tx.staged(), Budget::new());
        for id in &marked {
            let Some(task) = self.live(*id) else { continue };
            let record = as_staged(&staged, &task.record);
            if !is_news(&record, None) {
                continue;
            }
            if budget.take(&record) {
                self.stage_mark(tx, &record, None).await?;
            } else if let Some(last) = marked.last().copied() {
                // The passes that follow set the rest; the intent makes all of them one decision.
                let abort = UnfinishedAbort {
                    conversation,
                    boundaries,
                    last,
                };
                recovery::add_abort(tx, abort).await?;
                break;
            }
        }
        Ok(Reached {
            marked,
            conversations,
        })
    }
}
