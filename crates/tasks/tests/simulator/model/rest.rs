//! When nothing can run at this instant, everything that had to follow has followed.

use super::{Inner, Known, Model, Point};
use tidehold_session::ids::TaskId;
use tidehold_session::records::{AbortMarkReason, TaskState};

impl Model {
    /// The session is open, tasks are being started, and storage has answered everything.
    pub fn at_rest(&self) {
        let said = self.inner.borrow().left_undone();
        said.into_iter().for_each(|text| self.breach(text));
    }

    /// The session has ended, and everything it left has run.
    pub fn session_is_over(&self) {
        for call in self.open_calls() {
            self.breach(format!("{call} did not settle with the session"));
        }
    }

    /// The session closed: no code of it runs.
    pub fn is_closed(&self) {
        let active: Vec<TaskId> = {
            let inner = self.inner.borrow();
            inner
                .tasks
                .iter()
                .filter(|(_, task)| task.active)
                .map(|(id, _)| *id)
                .collect()
        };
        if !active.is_empty() {
            self.breach(format!("code of tasks {active:?} runs after the close"));
        }
    }
}

impl Inner {
    fn left_undone(&self) -> Vec<String> {
        let mut undone: Vec<String> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.is_live())
            .filter_map(|(id, task)| self.left_undone_of(*id, task))
            .collect();
        undone.extend(
            self.overdue_waits()
                .iter()
                .map(|wait| format!("{wait} is over and was not told")),
        );
        undone
    }

    fn left_undone_of(&self, id: TaskId, task: &Known) -> Option<String> {
        let record = &task.record;
        if !record.abort_requested && self.is_below_intent(id) {
            return Some(format!("task {id} below a cancelled owner has no mark"));
        }
        if !record.abort_requested && record.outcome().is_none() && self.loses_a_join(id) {
            return Some(format!("task {id} lost a join and has no mark"));
        }
        let waits = !self.live_below(id).is_empty();
        if record.outcome().is_some() {
            return (!waits).then(|| format!("task {id} holds its outcome above nothing"));
        }
        let blocked = !task.fits(self.deployed());
        if task.active {
            return None;
        }
        if record.abort_requested {
            let waits_for_code = blocked && record.abort_reason == Some(AbortMarkReason::Restart);
            return (!waits && !waits_for_code)
                .then(|| format!("the abort handler of task {id} was not started"));
        }
        if matches!(record.state, TaskState::Running { .. }) {
            return Some(format!("task {id} is running, and no code of it is"));
        }
        if blocked {
            return None;
        }
        let parked = match &record.state {
            TaskState::Waiting { on, until, .. } => {
                // One whose time had come was left to it, and the clock may have stepped back since.
                let slept = until.is_some_and(|until| !task.owed || until <= self.latest);
                on.iter().any(|on| self.is_live(*on)) || (on.is_empty() && slept)
            }
            _ => match &task.point {
                Some(Point::Poll { .. } | Point::External { .. }) => !task.owed,
                _ => false,
            },
        };
        (!parked).then(|| format!("task {id} can go on, and was not started"))
    }
}
