//! The mutation line: one job at a time, first in, first out.
//!
//! Jobs are owned by the line, not by their callers: an admitted commit is driven to settlement whoever still waits for
//! it. The driver is one spawned task, alive only while jobs are queued.

use crate::host::Host;
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// A queued piece of work on the line.
pub type Job = LocalBoxFuture<'static, ()>;

/// FIFO queue of jobs with at most one running.
#[derive(Default)]
pub struct Line {
    queue: RefCell<VecDeque<Job>>,
    driven: Cell<bool>,
}

impl Line {
    /// Appends a job; starts a driver when none runs.
    pub fn push(self: &Rc<Self>, host: &dyn Host, job: Job) {
        self.queue.borrow_mut().push_back(job);
        if self.driven.replace(true) {
            return;
        }
        let line = Rc::clone(self);
        host.spawn(Box::pin(async move {
            while let Some(job) = line.pop() {
                job.await;
            }
            line.driven.set(false);
        }));
    }

    fn pop(&self) -> Option<Job> {
        self.queue.borrow_mut().pop_front()
    }
}
