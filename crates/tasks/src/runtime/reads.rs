//! Committed reads of a task.

use super::Runtime;
use crate::core::scope::owned_tasks;
use crate::fault::TaskFault;
use crate::task::Task;
use std::rc::Rc;
use tidehold_session::Rejection;
use tidehold_session::ids::{EntryId, TaskId};
use tidehold_session::records::{EntryRecord, TaskOutcome, TaskRecord};

impl<T: Task> Runtime<T> {
    /// The committed record of any task.
    pub async fn get_task(&self, id: TaskId) -> Result<Option<Rc<TaskRecord>>, TaskFault> {
        self.access.check()?;
        if let Some(task) = self.access.inner.live(id) {
            return Ok(Some(task.record));
        }
        let found = self.session().task(id).await?;
        self.access.check()?;
        Ok(found.map(Rc::new))
    }

    /// Outcomes of terminal tasks in the given order, for example after a wait.
    pub async fn outcomes(&self, ids: &[TaskId]) -> Result<Vec<TaskOutcome>, TaskFault> {
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            let record = self.get_task(*id).await?.ok_or(Rejection::MissingTask(*id))?;
            let outcome = record
                .outcome()
                .filter(|_| !record.is_live())
                .ok_or(TaskFault::NotTerminal(*id))?;
            outcomes.push(outcome.clone());
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
        self.access.check()?;
        let found = self.session().visible_entry(self.conversation_id(), id).await?;
        self.access.check()?;
        Ok(found.map(|stored| stored.entry))
    }
}
