//! Durable waits in the mirror (spec 5.5): who waits for whom, how many of them are live, and whether one of them failed.

use crate::core::forest::{Life, Place};
use crate::core::state::{Join, LiveTask, State, has_failed};
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{JoinPolicy, TaskRecord, TaskState};

/// A wait that still counts: an abort mark ends it.
pub(super) fn wait_of(record: &TaskRecord) -> Option<(&[TaskId], JoinPolicy)> {
    match &record.state {
        TaskState::Waiting { on, policy, .. } if !record.abort_requested => Some((on, *policy)),
        _ => None,
    }
}

impl State {
    /// The wait of a task begins, if it has one.
    pub(super) fn enter_wait(&mut self, record: &TaskRecord) {
        let mut join = Join::default();
        if let Some((on, policy)) = wait_of(record) {
            for target in on {
                // `on` may name a task twice.
                if !self.waits.insert(target.0, record.id.0) {
                    continue;
                }
                join.open += u32::from(self.forest.is_live(*target));
                if policy == JoinPolicy::FailFast {
                    self.forest.pin(Place::task(*target));
                    join.lost |= self.is_failure(*target);
                }
            }
            if join.lost {
                self.touch_all(on);
            }
        }
        if let Some(task) = self.tasks.get_mut(&record.id) {
            task.join = join;
        }
    }

    /// The wait of a task is over, if it had one.
    pub(super) fn leave_wait(&mut self, task: &LiveTask) {
        let Some((on, policy)) = wait_of(&task.record) else {
            return;
        };
        for target in on {
            let was_there = self.waits.remove(target.0, task.record.id.0);
            if was_there && policy == JoinPolicy::FailFast {
                self.forest.unpin(Place::task(*target));
            }
        }
        if task.join.lost {
            self.touch_all(on);
        }
    }

    fn touch_all(&mut self, tasks: &[TaskId]) {
        for id in tasks {
            self.touch(Place::task(*id));
        }
    }

    /// A task became live: at an open those that wait for it may have come first.
    pub(super) fn open_waits(&mut self, id: TaskId) {
        for waiter in self.waits.under(id.0) {
            if let Some(task) = self.tasks.get_mut(&TaskId(waiter)) {
                task.join.open += 1;
                self.touched.places.push(Place::task(TaskId(waiter)));
            }
        }
    }

    /// A task ended: whoever waited for nothing else goes on.
    pub(super) fn close_waits(&mut self, id: TaskId) {
        for waiter in self.waits.under(id.0) {
            if let Some(task) = self.tasks.get_mut(&TaskId(waiter)) {
                task.join.open = task.join.open.saturating_sub(1);
                if task.join.open == 0 {
                    self.touched.places.push(Place::task(TaskId(waiter)));
                }
            }
        }
    }

    /// Whether a task failed, or holds a failure.
    fn is_failure(&self, id: TaskId) -> bool {
        match self.record(id) {
            Some(record) => has_failed(record),
            None => self
                .forest
                .node(id)
                .is_some_and(|node| node.life == Life::Unsuccessful),
        }
    }

    /// A task may have failed: then a failFast wait on it is lost, and its other members share that fate.
    pub(super) fn lose_wait_on(&mut self, id: TaskId) {
        if !self.is_failure(id) {
            return;
        }
        // Only what a task owns itself can be in such a wait of it.
        let Some(owner) = self.forest.node(id).and_then(|node| node.owner) else {
            return;
        };
        if !self.waits.contains(id.0, owner.0) {
            return;
        }
        let Some(waiter) = self.tasks.get_mut(&owner) else {
            return;
        };
        let record = Rc::clone(&waiter.record);
        if let Some((on, JoinPolicy::FailFast)) = wait_of(&record)
            && !std::mem::replace(&mut waiter.join.lost, true)
        {
            self.touch_all(on);
        }
    }

    /// Whether a wait of its owner is lost with this task in it, which has not failed itself.
    pub(super) fn shares_a_loss(&self, task: &LiveTask) -> bool {
        let Some(owner) = task.record.owner else {
            return false;
        };
        self.task(owner).is_some_and(|waiter| waiter.join.lost)
            && self.waits.contains(task.record.id.0, owner.0)
            && !has_failed(&task.record)
    }
}
