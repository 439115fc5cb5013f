//! Waits for receipts and for idle.

use super::Inner;
use crate::core::index::IdMap;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::scope::{Start, is_idle};
use crate::core::touch::Calmed;
use futures::channel::oneshot;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskRecord;
use tidehold_session::{Rejection, SessionError};

/// Everyone who waits in memory. Dropped senders reject their waits.
#[derive(Default)]
pub(super) struct Waiters {
    tasks: IdMap<TaskId, Vec<oneshot::Sender<Rc<TaskRecord>>>>,
    idle: IdMap<Start, Vec<oneshot::Sender<()>>>,
}

impl Waiters {
    pub fn settle(&mut self, ended: &[Rc<TaskRecord>]) {
        for record in ended {
            if broken(Sabotage::LostReceipts) && record.abort_requested {
                continue;
            }
            for waiter in self.tasks.remove(&record.id).unwrap_or_default() {
                let _gone = waiter.send(Rc::clone(record));
            }
        }
    }

    pub fn reject_all(&mut self) {
        self.tasks.clear();
        self.idle.clear();
    }

    fn for_task(&mut self, id: TaskId) -> oneshot::Receiver<Rc<TaskRecord>> {
        wait(self.tasks.entry(id).or_default())
    }

    fn for_idle(&mut self, start: Start) -> oneshot::Receiver<()> {
        wait(self.idle.entry(start).or_default())
    }
}

/// One more waiter. Cancelled ones leave their sender behind.
fn wait<T>(waiters: &mut Vec<oneshot::Sender<T>>) -> oneshot::Receiver<T> {
    let (sender, receiver) = oneshot::channel();
    waiters.retain(|waiter| !waiter.is_canceled());
    waiters.push(sender);
    receiver
}

impl Inner {
    /// The terminal receipt of a task.
    pub(crate) async fn wait_for_task(&self, id: TaskId) -> Result<Rc<TaskRecord>, SessionError> {
        self.session.health()?;
        loop {
            if self.state.borrow().is_live(id) {
                let receipt = self.waiters.borrow_mut().for_task(id);
                return receipt.await.map_err(|_| self.over());
            }
            match self.session.task(id).await? {
                None => return Err(Rejection::MissingTask(id).into()),
                Some(record) if !record.is_live() => return Ok(Rc::new(record)),
                // Created between the two looks: it is in the mirror now.
                Some(_) if self.state.borrow().is_live(id) => {}
                Some(_) => {
                    return Err(SessionError::Request(format!(
                        "task {id} is unknown to the scheduler"
                    )));
                }
            }
        }
    }

    /// Resolves once the traversal contains no live task.
    pub(crate) async fn wait_for_idle(&self, start: Start) -> Result<(), SessionError> {
        self.session.health()?;
        if is_idle(&self.state.borrow(), start) {
            return Ok(());
        }
        let idle = self.waiters.borrow_mut().for_idle(start);
        idle.await.map_err(|_| self.over())
    }

    pub(crate) async fn join_invocations(&self) {
        loop {
            let first = self.invocations.borrow().values().next().cloned();
            match first {
                // Told or given up alike: look again, it may be another one's turn.
                Some(invocation) => drop(invocation.joined().await),
                None => return,
            }
        }
    }

    /// Tells those whose traversal became idle since the last time.
    pub(super) fn tell_idle(&self) {
        let Calmed { all, mut starts } = self.state.borrow_mut().take_calmed();
        if all {
            starts = self.waiters.borrow().idle.keys().copied().collect();
            starts.sort_unstable();
        }
        for start in starts {
            if is_idle(&self.state.borrow(), start) {
                let waiting = self.waiters.borrow_mut().idle.remove(&start);
                for waiter in waiting.unwrap_or_default() {
                    let _gone = waiter.send(());
                }
            }
        }
    }
}
