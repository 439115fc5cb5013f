//! Waits held in memory, for as long as the invocation lives and is not told to stop.

use super::{Runtime, SettledTask};
use crate::core::state::{pokes, unanswered};
use crate::fault::{TaskFault, WaitRejection};
use crate::runner::MarkStrength;
use crate::task::Task;
use crate::typed::TaskReference;
use tidehold_session::Rejection;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;

impl<T: Task> Runtime<T> {
    /// Resolves once the clock has reached `until`, however it moves meanwhile. After a crash the wake of the checkpoint
    /// governs.
    ///
    /// # Errors
    /// [`TaskFault::Signalled`] once the invocation was told to stop.
    pub async fn sleep(&self, until: Millis) -> Result<(), TaskFault> {
        loop {
            let timer = self.session().host().sleep_until(until);
            self.access.unless_signalled(timer).await?;
            // Timers may be capped, and clocks set back: what counts is what the clock says now.
            if self.now() >= until {
                return Ok(());
            }
        }
    }

    /// The terminal receipt of any task. Held in memory only: it is no edge in the wait graph. Of a typed id, with the result
    /// read.
    ///
    /// # Errors
    /// [`TaskFault::Signalled`] once the invocation was told to stop: whoever joins it must not wait for another task.
    pub async fn wait_for_task<I: TaskReference>(&self, id: I) -> Result<SettledTask<I::Outcome>, TaskFault> {
        let id = id.task_id();
        self.access.check()?;
        if id == self.task_id() {
            // It would never end.
            return Err(WaitRejection::Cycle(vec![id, id]).into());
        }
        let record = self
            .access
            .unless_signalled(self.access.inner.wait_for_task(id))
            .await??;
        let outcome = record.outcome().cloned().ok_or(TaskFault::NotTerminal(id))?;
        let outcome = I::read(outcome)?;
        Ok(SettledTask { record, outcome })
    }

    /// Aborts a task that this task owns; resolves once it is terminal. Clean-up, not a request: a `restart` mark stays one.
    pub async fn abort_owned(&self, id: impl Into<TaskId>) -> Result<(), TaskFault> {
        let id = id.into();
        let record = self.get_task(id).await?.ok_or(Rejection::MissingTask(id))?;
        if record.owner != Some(self.task_id()) {
            return Err(TaskFault::NotOwned(id));
        }
        let inner = &self.access.inner;
        self.access
            .unless_signalled(inner.abort_task(id, MarkStrength::Cleanup))
            .await??;
        self.wait_for_task(id).await.map(drop)
    }

    /// Resolves at the next poke since the invocation began or this last resolved, so that code which looks for what it
    /// waits for and then waits again misses none. Earlier pokes are answered thereby: after a crash they do not start the
    /// task again.
    pub async fn poked(&self) -> Result<(), TaskFault> {
        let invocation = &self.access.invocation;
        loop {
            self.access.check()?;
            // Before the look, so that no poke falls in between.
            let notice = invocation.next_poke();
            let record = self.access.inner.live(self.task_id()).map(|task| task.record);
            let count = record.as_deref().map_or(0, pokes);
            if count > invocation.seen_pokes.get() {
                invocation.seen_pokes.set(count);
                return Ok(());
            }
            if record.as_deref().is_some_and(|record| unanswered(record) > 0) {
                // Refused after an abort mark or a close, of which the wait below tells.
                drop(self.access.answer_pokes().await);
            }
            // A cancelled notice means that the session is over, which the next check tells.
            let _notice = self.access.unless_signalled(notice).await?;
        }
    }
}
