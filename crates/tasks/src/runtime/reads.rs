//! Committed reads of a task. Each refuses after the invocation has ended, also when it was under way by then.

use super::Runtime;
use crate::core::scope::owned_tasks;
use crate::fault::TaskFault;
use crate::registry::RegistrySnapshot;
use crate::task::Task;
use crate::typed::TaskReference;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::Rejection;
use tidehold_session::context::ContextView;
use tidehold_session::documents::Token;
use tidehold_session::ids::{ConversationId, EntryId, TaskId};
use tidehold_session::records::{EntryRecord, TaskRecord};

impl<T: Task> Runtime<T> {
    /// What was installed when the present phase began.
    pub fn registry(&self) -> RegistrySnapshot {
        self.access.invocation.registry()
    }

    /// The committed record of any task.
    pub async fn get_task(&self, id: impl Into<TaskId>) -> Result<Option<Rc<TaskRecord>>, TaskFault> {
        self.access.get_task(id.into()).await
    }

    /// Outcomes of terminal tasks in the given order, for example after a wait. Of typed ids, with their results read.
    ///
    /// # Errors
    /// [`TaskFault::NotTerminal`] for a task that is live, also while it holds its outcome.
    pub async fn outcomes<I: TaskReference>(&self, ids: &[I]) -> Result<Vec<I::Outcome>, TaskFault> {
        self.access.check()?;
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids.iter().map(|id| id.task_id()) {
            let record = self.get_task(id).await?.ok_or(Rejection::MissingTask(id))?;
            let outcome = record.outcome().filter(|_| !record.is_live());
            outcomes.push(I::read(outcome.ok_or(TaskFault::NotTerminal(id))?.clone())?);
        }
        Ok(outcomes)
    }

    /// Live tasks this task owns directly, in id order, whichever invocation created them.
    pub async fn owned_tasks(&self) -> Result<Vec<Rc<TaskRecord>>, TaskFault> {
        self.access.check()?;
        let state = self.access.inner.state.borrow();
        let owned = owned_tasks(&state, self.task_id()).into_iter();
        Ok(owned.filter_map(|id| state.record(id).map(Rc::clone)).collect())
    }

    /// A committed entry visible from the task's conversation.
    pub async fn entry(&self, id: EntryId) -> Result<Option<EntryRecord>, TaskFault> {
        let found = self.session().visible_entry(self.conversation_id(), id);
        let found = self.access.while_it_runs(found).await??;
        Ok(found.map(|stored| stored.entry))
    }

    /// The derived context of a conversation, as of a visible entry or of now; see [`tidehold_session::Session::context`].
    pub async fn context(
        &self,
        conversation: ConversationId,
        at: Option<EntryId>,
    ) -> Result<ContextView, TaskFault> {
        let context = self.session().context(conversation, at);
        Ok(self.access.while_it_runs(context).await??)
    }

    /// The committed value of a document; see [`tidehold_session::Session::snapshot`].
    pub async fn snapshot<K: Token>(&self, token: K, at: K::At<'_>) -> Result<Option<Json>, TaskFault> {
        let snapshot = self.session().snapshot(token, at);
        Ok(self.access.while_it_runs(snapshot).await??)
    }

    /// The value of a rewindable document as of a visible entry; see [`tidehold_session::Session::snapshot_as_of`].
    pub async fn snapshot_as_of<K: Token>(
        &self,
        token: K,
        at: K::At<'_>,
        entry: EntryId,
    ) -> Result<Option<Json>, TaskFault> {
        let snapshot = self.session().snapshot_as_of(token, at, entry);
        Ok(self.access.while_it_runs(snapshot).await??)
    }
}
