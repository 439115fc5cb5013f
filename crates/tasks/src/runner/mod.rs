//! The runner: performs what the core decides. Commits, invocations, waits, the alarm and the timer in memory.

mod abort;
mod arm;
mod assess;
mod drive;
pub(crate) mod invocation;
mod listen;
mod load;
mod open;
mod pass;
mod stage;
mod wait;

use crate::core::index::IdMap;
use crate::core::plan::Due;
use crate::core::state::{LiveTask, State};
use crate::erased::ErasedTask;
use crate::options::SchedulerOptions;
use crate::registry::TaskRegistry;
use crate::runner::arm::Timer;
use crate::runner::assess::FailedMigration;
use crate::runner::invocation::Invocation;
use crate::runner::wait::Waiters;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::panics::report;
use tidehold_session::session::SchedulingClaim;
use tidehold_session::{Session, Subscription};

pub(crate) use abort::MarkStrength;
pub(crate) use stage::as_staged;

/// The scheduler of one open session. Held by its handles and by running invocations.
pub(crate) struct Inner {
    pub session: Session,
    pub registry: TaskRegistry,
    pub options: SchedulerOptions,
    pub state: RefCell<State>,
    pub invocations: RefCell<IdMap<TaskId, Rc<Invocation>>>,
    /// Definitions of the reservation commit under way: the invocation runs what its task was judged by.
    starting: RefCell<IdMap<TaskId, Rc<dyn ErasedTask>>>,
    /// The newest failed migration of each task that met one.
    failed_migrations: RefCell<IdMap<TaskId, FailedMigration>>,
    waiters: RefCell<Waiters>,
    /// Publications count once the open scan has been taken.
    following: Cell<bool>,
    passing: Cell<bool>,
    dirty: Cell<bool>,
    /// A call from outside forgave the opens without progress.
    forgiven: Cell<bool>,
    armed: Cell<Option<Millis>>,
    due: Cell<Due>,
    timer: RefCell<Option<Timer>>,
    subscriptions: RefCell<Vec<Subscription>>,
    _claim: SchedulingClaim,
}

impl Inner {
    pub fn now(&self) -> Millis {
        self.session.host().now()
    }

    /// Reports a failure that stops nothing.
    pub fn report(&self, text: String) {
        report(self.options.on_report.as_ref(), text);
    }

    /// The mirror's entry of a live task.
    pub fn live(&self, id: TaskId) -> Option<LiveTask> {
        self.state.borrow().task(id).cloned()
    }
}
