//! The untyped half of a runtime: the gate in front of every operation.

use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::Mode;
use crate::fault::TaskFault;
use crate::runner::Inner;
use crate::runner::invocation::Invocation;
use futures::future::{Either, LocalBoxFuture, select};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskRecord, TaskState};

/// One invocation's access to the scheduler.
pub(crate) struct Access {
    pub inner: Rc<Inner>,
    pub invocation: Rc<Invocation>,
}

impl Access {
    pub fn new(inner: Rc<Inner>, invocation: Rc<Invocation>) -> Self {
        Self { inner, invocation }
    }

    /// Every operation starts here.
    pub fn check(&self) -> Result<(), TaskFault> {
        if self.invocation.has_ended() && !broken(Sabotage::GateIgnoresEnd) {
            return Err(TaskFault::Ended);
        }
        Ok(self.inner.session.health()?)
    }

    /// On the line: the committed record, if this invocation may still commit.
    pub fn gate(&self) -> Result<Rc<TaskRecord>, TaskFault> {
        self.check()?;
        let id = self.invocation.id;
        let record = self
            .inner
            .live(id)
            .map(|task| task.record)
            .ok_or(TaskFault::NotRunning(id))?;
        if !matches!(record.state, TaskState::Running { .. }) {
            return Err(TaskFault::NotRunning(id));
        }
        let marked = record.abort_requested && !broken(Sabotage::GateIgnoresMark);
        if self.invocation.mode == Mode::Run && marked {
            return Err(TaskFault::AbortRequested(id));
        }
        Ok(record)
    }

    /// The result of an operation, unless the invocation has ended by then.
    pub async fn while_it_runs<V>(&self, operation: impl Future<Output = V>) -> Result<V, TaskFault> {
        self.check()?;
        let result = operation.await;
        self.check()?;
        Ok(result)
    }

    /// The committed record of any task.
    pub fn get_task(&self, id: TaskId) -> LocalBoxFuture<'_, Result<Option<Rc<TaskRecord>>, TaskFault>> {
        Box::pin(async move {
            self.check()?;
            if let Some(task) = self.inner.live(id) {
                return Ok(Some(task.record));
            }
            let found = self.while_it_runs(self.inner.session.task(id)).await??;
            Ok(found.map(Rc::new))
        })
    }

    /// A wait that ends early when the invocation is told to stop, or ends.
    pub async fn unless_signalled<V>(&self, wait: impl Future<Output = V>) -> Result<V, TaskFault> {
        self.check()?;
        let signal = self.invocation.controller.signal();
        if let Some(reason) = signal.reason() {
            return Err(TaskFault::Signalled(reason));
        }
        let done = match select(pin!(wait), signal.aborted()).await {
            Either::Left((value, _)) => Ok(value),
            Either::Right((reason, _)) => Err(reason),
        };
        self.check()?;
        done.map_err(TaskFault::Signalled)
    }
}
