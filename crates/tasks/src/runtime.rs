//! What a phase works with (spec 5.1, `TaskRuntime`): gated commits, memos, reads and waits of one invocation.

mod access;
mod commit;
mod observe;
mod reads;
mod waits;

use crate::fault::TaskFault;
use crate::task::{Next, Task};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskOutcome, TaskRecord};
use tidehold_session::signal::AbortSignal;
use tidehold_session::{Session, Tx};

pub(crate) use access::Access;

/// The runtime of one invocation. Clones share it. Once the invocation has ended, every operation answers
/// [`TaskFault::Ended`], also one that was under way.
pub struct Runtime<T: Task> {
    access: Rc<Access>,
    task: PhantomData<fn() -> T>,
}

impl<T: Task> Clone for Runtime<T> {
    fn clone(&self) -> Self {
        Self::new(Rc::clone(&self.access))
    }
}

/// A terminal receipt.
#[derive(Clone, Debug)]
pub struct SettledTask<O = TaskOutcome> {
    pub record: Rc<TaskRecord>,
    pub outcome: O,
}

impl<T: Task> Runtime<T> {
    pub(crate) fn new(access: Rc<Access>) -> Self {
        Self {
            access,
            task: PhantomData,
        }
    }

    pub fn task_id(&self) -> TaskId {
        self.access.invocation.id
    }

    pub fn conversation_id(&self) -> ConversationId {
        self.access.invocation.conversation
    }

    /// Raised by an abort mark, by the end of the session and by the end of the invocation.
    pub fn signal(&self) -> AbortSignal {
        self.access.invocation.controller.signal()
    }

    /// The session's clock.
    pub fn now(&self) -> Millis {
        self.access.inner.now()
    }

    /// The open session, for reads. What is committed through it is not gated and not attributed to the task.
    pub fn session(&self) -> &Session {
        &self.access.inner.session
    }

    /// Forwards a failure that stops nothing.
    pub fn report(&self, text: String) {
        if !self.access.invocation.has_ended() {
            self.access.inner.report(text);
        }
    }

    /// One commit of this task. The callback gets the record as committed at its turn on the line; the transaction is
    /// bound to the task's conversation and attributes entries to the task. What it returns replaces the task's state in
    /// the same commit; `None` leaves the state as it is.
    ///
    /// # Errors
    /// Rejected without running the callback when the invocation has ended, the session closes, the task is no longer
    /// running, or a run invocation's task carries an abort mark. A commit that ran says so even when the invocation has ended
    /// meanwhile: what it wrote stands.
    pub async fn commit<F>(&self, change: F) -> Result<(), TaskFault>
    where
        F: AsyncFnOnce(Tx, Rc<TaskRecord>) -> Result<Option<Next<T::Checkpoint, T::Outcome>>, TaskFault>
            + 'static,
    {
        let body: commit::Body = Box::new(move |tx, record| {
            Box::pin(async move {
                let next = change(tx, record).await?;
                Ok(next.map(commit::erase).transpose()?)
            })
        });
        self.access.commit(body).await
    }

    /// The same, for a callback that also has something to say.
    pub async fn commit_with<V, F>(&self, change: F) -> Result<V, TaskFault>
    where
        V: 'static,
        F: AsyncFnOnce(Tx, Rc<TaskRecord>) -> Result<(Option<Next<T::Checkpoint, T::Outcome>>, V), TaskFault>
            + 'static,
    {
        let slot = Rc::new(RefCell::new(None));
        let filled = Rc::clone(&slot);
        let body: commit::Body = Box::new(move |tx, record| {
            Box::pin(async move {
                let (next, value) = change(tx, record).await?;
                *filled.borrow_mut() = Some(value);
                Ok(next.map(commit::erase).transpose()?)
            })
        });
        self.access.commit(body).await?;
        let value = slot.borrow_mut().take();
        value.ok_or(TaskFault::Ended)
    }

    /// Goes on at another checkpoint, with nothing else in the commit.
    pub async fn advance(&self, checkpoint: T::Checkpoint) -> Result<(), TaskFault> {
        self.commit(async move |_, _| Ok(Some(Next::Continue(checkpoint))))
            .await
    }

    /// Ends the task, with nothing else in the commit.
    pub async fn finish(&self, outcome: crate::task::Outcome<T::Outcome>) -> Result<(), TaskFault> {
        self.commit(async move |_, _| Ok(Some(Next::Finish(outcome))))
            .await
    }
}
