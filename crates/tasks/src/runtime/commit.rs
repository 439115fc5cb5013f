//! What a task commits for itself: memos and its next state.

use super::{Access, Runtime};
use crate::core::finish::ending;
use crate::core::forest::{Overlay, View};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::{Mode, OWN_MEMOS, answer};
use crate::core::waits;
use crate::fault::{TaskFault, WaitRejection};
use crate::recovery;
use crate::runner::as_staged;
use crate::task::{Next, Outcome, Task};
use futures::future::LocalBoxFuture;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{ConvertError, FromJson, Json, Text};
use tidehold_session::Tx;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{JoinPolicy, TaskOutcome, TaskRecord, TaskState};
use tidehold_session::tx::payloads::check_task_size;

/// A [`Next`] without its types: the state it asks for; an outcome may still be held.
pub(super) fn erase<C: Serialize, R: Serialize>(next: Next<C, R>) -> Result<TaskState, ConvertError> {
    Ok(match next {
        Next::Continue(checkpoint) => TaskState::Running {
            checkpoint: Json::from_serialize(&checkpoint)?,
        },
        Next::Wait {
            checkpoint,
            on,
            policy,
            until,
        } => TaskState::Waiting {
            checkpoint: Json::from_serialize(&checkpoint)?,
            on,
            policy,
            until,
        },
        Next::Finish(outcome) => TaskState::Terminal {
            outcome: erase_outcome(outcome)?,
        },
    })
}

fn erase_outcome<R: Serialize>(outcome: Outcome<R>) -> Result<TaskOutcome, ConvertError> {
    let encode = |result: Option<R>| result.map(|result| Json::from_serialize(&result)).transpose();
    Ok(match outcome {
        Outcome::Completed(result) => TaskOutcome::Completed {
            result: Json::from_serialize(&result)?,
        },
        Outcome::Failed { error, result } => TaskOutcome::Failed {
            error,
            result: encode(result)?,
        },
        Outcome::Aborted { reason, result } => TaskOutcome::Aborted {
            reason,
            result: encode(result)?,
        },
    })
}

/// A task's callback without its types: the state it asks for.
pub(super) type Body =
    Box<dyn FnOnce(Tx, Rc<TaskRecord>) -> LocalBoxFuture<'static, Result<Option<TaskState>, TaskFault>>>;

impl Access {
    /// One gated commit of the task. Compiled once, whatever the task's types are.
    pub(super) fn commit(self: &Rc<Self>, body: Body) -> LocalBoxFuture<'static, Result<(), TaskFault>> {
        Box::pin(Rc::clone(self).run_commit(body))
    }

    async fn run_commit(self: Rc<Self>, body: Body) -> Result<(), TaskFault> {
        self.check()?;
        let access = Rc::clone(&self);
        let session = self.inner.session.clone();
        session
            .commit(async move |tx: Tx| {
                let record = access.gate()?;
                tx.bind(record.conversation_id);
                tx.attribute_to(record.id);
                if let Some(next) = body(tx.clone(), Rc::clone(&record)).await? {
                    access.stage_next(&tx, &record, next).await?;
                }
                Ok(())
            })
            .await
    }

    /// Stages the task's new state, judged on the records this transaction would leave.
    pub(super) async fn stage_next(
        &self,
        tx: &Tx,
        record: &Rc<TaskRecord>,
        next: TaskState,
    ) -> Result<(), TaskFault> {
        let state = match next {
            TaskState::Terminal { outcome } => {
                self.inner.load_for(tx).await?;
                let state = self.inner.state.borrow();
                let staged = tx.staged();
                let overlay = Overlay::new(&staged.tasks, staged.conversations.iter().map(Rc::as_ref));
                let candidate = View::candidate(state.forest(), &overlay);
                ending(candidate, record.id, outcome)
            }
            waiting @ TaskState::Waiting { .. } => self.checked_wait(tx, record.id, waiting).await?,
            other => other,
        };
        // The callback may have poked or marked this very task.
        let mut record = as_staged(&tx.staged(), record);
        answer(&mut record, self.invocation.seen_pokes.get());
        let record = TaskRecord { state, ..record };
        check_task_size(&record)?;
        tx.stage_task(record).await?;
        self.progressed(tx).await
    }

    /// The task looked after its pokes, changed nothing and waits again.
    pub(super) fn answer_pokes(self: &Rc<Self>) -> LocalBoxFuture<'static, Result<(), TaskFault>> {
        let access = Rc::clone(self);
        self.commit(Box::new(move |tx, record| {
            Box::pin(async move {
                let mut record = record.as_ref().clone();
                answer(&mut record, access.invocation.seen_pokes.get());
                tx.stage_task(record).await?;
                access.progressed(&tx).await?;
                Ok(None)
            })
        }))
    }

    /// The session makes progress: opens no longer count against it.
    pub(super) async fn progressed(&self, tx: &Tx) -> Result<(), TaskFault> {
        if self.inner.state.borrow().opens > 0 {
            recovery::write(tx, 0).await?;
        }
        Ok(())
    }

    async fn checked_wait(&self, tx: &Tx, id: TaskId, waiting: TaskState) -> Result<TaskState, TaskFault> {
        if self.invocation.mode == Mode::Abort {
            return Err(WaitRejection::InAbort(id).into());
        }
        let TaskState::Waiting { on, policy, .. } = &waiting else {
            return Ok(waiting);
        };
        self.inner.load_for(tx).await?;
        let mut missing = Vec::new();
        for target in on {
            if self.inner.state.borrow().is_live(*target) {
                continue;
            }
            match tx.candidate_task(*target).await? {
                None => missing.push(*target),
                Some(record) if *policy == JoinPolicy::FailFast && !record.is_live() => {
                    self.inner.know_ended(&record);
                }
                Some(_) => {}
            }
        }
        let state = self.inner.state.borrow();
        let staged = tx.staged();
        let overlay = Overlay::new(&staged.tasks, staged.conversations.iter().map(Rc::as_ref));
        let candidate = View::candidate(state.forest(), &overlay);
        waits::check(&state, candidate, id, on, *policy, |target| {
            !missing.contains(&target)
        })?;
        Ok(waiting)
    }
}

impl<T: Task> Runtime<T> {
    /// Says that this commit is progress although it leaves the checkpoint as it is: a published part of a long effect. A
    /// session that gets so far each time it is opened is interrupted, not broken, and must not back off.
    pub async fn note_progress(&self, tx: &Tx) -> Result<(), TaskFault> {
        self.access.progressed(tx).await
    }

    /// The first value ever proposed under this name: the candidate, or an earlier one. One gated commit; memos outlive
    /// checkpoints and reopens and end with the outcome. Names starting with `tidehold.` are refused.
    pub async fn memo<V>(&self, name: &str, candidate: &V) -> Result<V, TaskFault>
    where
        V: Serialize + FromJson,
    {
        let access = Rc::clone(&self.access);
        access.check()?;
        if name.starts_with(OWN_MEMOS) {
            return Err(TaskFault::ReservedMemo(name.into()));
        }
        let (name, candidate): (Text, Json) = (name.into(), Json::from_serialize(candidate)?);
        let session = access.inner.session.clone();
        let winner = session
            .commit(async move |tx: Tx| {
                let record = access.gate()?;
                if let Some(winner) = record.memos.get(&name)
                    && !broken(Sabotage::MemosChange)
                {
                    return Ok::<Json, TaskFault>(winner.clone());
                }
                let mut record = record.as_ref().clone();
                record.memos.insert(name, candidate.clone());
                check_task_size(&record)?;
                tx.stage_task(record).await?;
                Ok(candidate)
            })
            .await?;
        Ok(winner.to_typed()?)
    }

    /// The committed memo of this name.
    pub async fn memo_get<V: FromJson>(&self, name: &str) -> Result<Option<V>, TaskFault> {
        self.access.check()?;
        let id = self.task_id();
        let record = self
            .access
            .inner
            .live(id)
            .map(|task| task.record)
            .ok_or(TaskFault::NotRunning(id))?;
        Ok(record.memos.get(name).map(Json::to_typed).transpose()?)
    }
}
