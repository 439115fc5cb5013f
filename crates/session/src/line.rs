//! The mutation line: one job at a time, first in, first out.
//!
//! Jobs are owned by the line, not by their callers: an admitted commit is driven to settlement whoever still waits for
//! it. A job that finds the line idle runs in its caller's turn as far as it goes without waiting, which over a synchronous
//! storage is to its end; whatever is left then, and whatever queues meanwhile, is driven by one spawned task.

use crate::host::Host;
use futures::future::LocalBoxFuture;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Poll};

/// A queued piece of work on the line.
pub type Job = LocalBoxFuture<'static, ()>;

/// FIFO queue of jobs with at most one running.
#[derive(Default)]
pub struct Line {
    queue: RefCell<VecDeque<Job>>,
    driven: Cell<bool>,
}

impl Line {
    /// Appends a job, and begins it when none runs.
    pub fn push(self: &Rc<Self>, host: &dyn Host, mut job: Job, context: &mut Context<'_>) {
        if self.driven.replace(true) {
            self.queue.borrow_mut().push_back(job);
            return;
        }
        match poll(&mut job, context) {
            Ok(Poll::Ready(())) if self.queue.borrow().is_empty() => self.driven.set(false),
            Ok(Poll::Ready(())) => self.drive(host, None),
            Ok(Poll::Pending) => self.drive(host, Some(job)),
            // Not the caller's to catch: it goes on where every panic of the kernel ends its session. The line stays shut.
            Err(panic) => host.spawn(Box::pin(async move { resume_unwind(panic) })),
        }
    }

    fn drive(self: &Rc<Self>, host: &dyn Host, first: Option<Job>) {
        let line = Rc::clone(self);
        host.spawn(Box::pin(async move {
            let mut next = first.or_else(|| line.pop());
            while let Some(job) = next {
                job.await;
                next = line.pop();
            }
            line.driven.set(false);
        }));
    }

    fn pop(&self) -> Option<Job> {
        self.queue.borrow_mut().pop_front()
    }
}

/// Out of line like every landing pad; see [`crate::panics::caught`].
#[inline(never)]
fn poll(job: &mut Job, context: &mut Context<'_>) -> Result<Poll<()>, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| job.as_mut().poll(context)))
}
