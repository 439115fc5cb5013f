//! The scheduler's public handle (spec 5.4).

use crate::core::inspect::inspect;
use crate::core::reserve::readiness;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::scope::{Boundaries, Start, tasks_in};
use crate::core::state::{POKES, Stage, pokes};
use crate::inspection::{Scheduling, TaskInspection};
use crate::options::SchedulerOptions;
use crate::registry::TaskRegistry;
use crate::runner::{Inner, MarkStrength, as_staged};
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskRecord, TaskState};
use tidehold_session::{Session, SessionError, Tx};

/// Runs the tasks of one open session. Clones share it; it ends with the session, or with its last handle once no
/// invocation runs.
#[derive(Clone)]
pub struct Scheduler(pub(crate) Rc<Inner>);

/// What an abort found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortReply {
    /// The mark is committed and no run code of the task is left, or the task was settled `orphaned`.
    Marked,
    /// The task had ended.
    Terminal,
}

/// How far a conversation abort reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbortScope {
    /// Ordinary traversal: background tasks are boundaries.
    Foreground,
    /// Also across background tasks.
    Everything,
}

/// What a conversation abort reached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reached {
    /// Live tasks that carry an abort mark, or will: what does not fit one commit is marked by the scheduler's next ones,
    /// also after a crash, and no phase of it starts before.
    pub marked: Vec<TaskId>,
    /// The conversation itself and those below it that may hold queued inputs.
    pub conversations: Vec<ConversationId>,
}

impl Scheduler {
    /// Takes over the live tasks of a session: at most one commit, which makes interrupted `running` tasks `pending` and
    /// counts the open when work is due. Runs no task code, writes nothing when nothing is live, and sets the alarm.
    pub fn open<'a>(
        session: &'a Session,
        registry: TaskRegistry,
        options: SchedulerOptions,
    ) -> LocalBoxFuture<'a, Result<Self, SessionError>> {
        Box::pin(async move { Inner::open(session, registry, options).await.map(Self) })
    }

    /// Enables scheduling. Idempotent; nothing after the session ended.
    pub fn resume(&self) {
        let paused = self.0.state.borrow().stage == Stage::Paused;
        if paused {
            self.0.state.borrow_mut().stage = Stage::Running;
            self.0.replan();
        }
    }

    /// The same, for whoever must know whether it had an effect.
    ///
    /// # Errors
    /// [`SessionError::Closed`] or [`SessionError::Failed`] once the session has ended.
    pub fn try_resume(&self) -> Result<(), SessionError> {
        self.0.session.health()?;
        self.resume();
        Ok(())
    }

    /// Enables scheduling for a call from outside, which also forgives opens without progress.
    pub fn resume_by_call(&self) {
        self.0.forgive();
        self.resume();
    }

    /// What the platform's alarm handler calls: passes the next alarm on, since this one is used up, and resumes. Returns at
    /// once; awaiting work here would delay the next alarm.
    pub fn on_alarm(&self) {
        self.resume();
        if !broken(Sabotage::NoRearm) {
            self.0.rearm();
        }
    }

    /// The same where the handler, before anything that can fail, has set the next alarm itself: it stays if it serves.
    pub fn on_alarm_with(&self, next: Option<Millis>) {
        self.0.is_armed(next);
        self.on_alarm();
    }

    pub fn is_scheduling(&self) -> bool {
        self.0.state.borrow().is_scheduling()
    }

    pub fn scheduling(&self) -> Scheduling {
        match self.0.state.borrow().stage {
            Stage::Paused => Scheduling::Paused,
            Stage::Running => Scheduling::Running,
            Stage::Ended => Scheduling::Closing,
        }
    }

    pub fn registry(&self) -> &TaskRegistry {
        &self.0.registry
    }

    /// Marks a task for abort, and resolves once the mark is committed and its run invocation has ended. The abort handler
    /// runs later, when what the task owns has ended. Unknown ids are rejected.
    pub fn abort_task<'a>(
        &'a self,
        id: impl Into<TaskId>,
    ) -> LocalBoxFuture<'a, Result<AbortReply, SessionError>> {
        let id = id.into();
        Box::pin(async move { self.0.abort_task(id, MarkStrength::Request).await })
    }

    /// Aborts, in the caller's transaction, every live task that a traversal from the conversation reaches. The caller
    /// withdraws the inputs of the conversations it names.
    pub fn mark_aborts<'a>(
        &'a self,
        tx: &'a Tx,
        conversation: ConversationId,
        scope: AbortScope,
    ) -> LocalBoxFuture<'a, Result<Reached, SessionError>> {
        Box::pin(async move {
            let boundaries = match scope {
                AbortScope::Foreground => Boundaries::Background,
                AbortScope::Everything => Boundaries::Ignored,
            };
            self.0.mark_aborts(tx, conversation, boundaries).await
        })
    }

    /// The terminal receipt of a task. Asks for progress, so it enables scheduling; unknown ids are rejected.
    pub fn wait_for_task<'a>(
        &'a self,
        id: impl Into<TaskId>,
    ) -> LocalBoxFuture<'a, Result<Rc<TaskRecord>, SessionError>> {
        let id = id.into();
        Box::pin(async move {
            self.resume_by_call();
            self.0.wait_for_task(id).await
        })
    }

    /// Resolves once ordinary traversal from the conversation, or from every ownerless one, reaches no live task. Asks for
    /// progress, so it enables scheduling.
    pub fn wait_for_idle<'a>(
        &'a self,
        conversation: Option<ConversationId>,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(async move {
            self.resume_by_call();
            self.0
                .wait_for_idle(conversation.map_or(Start::Roots, Start::Conversation))
                .await
        })
    }

    /// Live tasks with their state under the current registry, in id order. Writes nothing and runs no task code.
    pub fn inspect(&self) -> Vec<TaskInspection> {
        inspect(&self.0.state.borrow(), self.0.now())
    }

    /// The time the alarm is set to.
    pub fn next_wake(&self) -> Option<Millis> {
        self.0.next_wake()
    }

    /// Opens with due work since a task last committed.
    pub fn opens_without_progress(&self) -> u32 {
        self.0.state.borrow().opens
    }

    /// Live tasks of a conversation in id order, background ones included.
    pub fn live_tasks(&self, conversation: ConversationId) -> Vec<Rc<TaskRecord>> {
        let state = self.0.state.borrow();
        let live = tasks_in(&state, conversation).into_iter();
        live.filter_map(|id| state.record(id).map(Rc::clone)).collect()
    }

    pub fn is_live(&self, id: impl Into<TaskId>) -> bool {
        self.0.state.borrow().is_live(id.into())
    }

    /// The committed record of a live task.
    pub fn live_task(&self, id: impl Into<TaskId>) -> Option<Rc<TaskRecord>> {
        self.0.live(id.into()).map(|task| task.record)
    }

    /// Wakes a task that is parked for something outside; see [`Scheduler::poke_in`].
    pub fn poke<'a>(&'a self, id: impl Into<TaskId>) -> LocalBoxFuture<'a, Result<bool, SessionError>> {
        let id = id.into();
        Box::pin(async move {
            self.resume_by_call();
            let scheduler = self.clone();
            self.0
                .session
                .commit(async move |tx: Tx| scheduler.poke_in(&tx, id).await)
                .await
        })
    }

    /// Pokes a task in the commit that stores what happened, so that a crash loses neither: a parked task runs again, a
    /// running one sees it in [`crate::Runtime::poked`]. Whether the task is live; one that will run anyway, or waits for
    /// other tasks, is left alone.
    pub fn poke_in<'a>(&'a self, tx: &'a Tx, id: TaskId) -> LocalBoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(async move {
            let Some(task) = self.0.live(id) else {
                return Ok(false);
            };
            let answers = match &task.record.state {
                TaskState::Running { .. } => true,
                TaskState::Pending { .. } => {
                    let lost = broken(Sabotage::LostPokes);
                    !(task.will_run() || (lost && task.wake.is_none()))
                }
                TaskState::Waiting { on, .. } => on.is_empty() && self.is_parked(id),
                TaskState::Completing { .. } | TaskState::Terminal { .. } => false,
            };
            if !answers {
                return Ok(true);
            }
            let mut record = as_staged(&tx.staged(), &task.record);
            if record.outcome().is_none() {
                let count = pokes(&record) + 1;
                record.memos.insert(POKES, count.into());
                tx.stage_task(record).await?;
            }
            Ok(true)
        })
    }

    fn is_parked(&self, id: TaskId) -> bool {
        let state = self.0.state.borrow();
        state
            .task(id)
            .is_some_and(|task| !readiness(task).is_ready(self.0.now()))
    }

    /// Resolves once no invocation runs any more: after the session closed or failed, when all task code has returned.
    pub async fn join_invocations(&self) {
        self.0.join_invocations().await;
    }
}
