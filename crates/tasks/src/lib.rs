//! Durable tasks (spec 5): a pure scheduling core and a thin runner over the session.
//!
//! Here lives what decides when a task runs, how it ends and when the object must wake: [`core`] holds pure functions
//! from a state to a list of actions (no async, no clock, no I/O), [`runner`] performs the actions as commits and
//! drives the invocations. Here may not live: any task kind (`pi.generation` is an ordinary [`Task`]), any platform
//! (only the `Host` of the session and the [`Alarm`] supplied by it), submissions, runs, or anything that is not task
//! state; what else must happen in a scheduler's commit is behind [`SchedulerHooks`].
//!
//! Start reading at [`task`] (what a task is), then [`core`] (`state`, `enter`, `touch`, `stand`, `step`, `wake`), then
//! `runner` (`pass`, `drive`). The tests under `tests/simulator` crash sessions at any step and check the invariants.

pub mod core;
pub mod create;
mod erased;
pub mod fault;
pub mod inspection;
pub mod limits;
pub mod options;
pub mod recovery;
pub mod registry;
mod runner;
pub mod runtime;
pub mod scheduler;
pub mod task;
pub mod typed;

pub use create::{TaskOptions, create, create_task_request};
pub use fault::TaskFault;
pub use inspection::{Scheduling, TaskInspection, TaskInspectionState};
pub use options::{Alarm, NoAlarm, NoHooks, SchedulerHooks, SchedulerOptions};
pub use registry::{RegistrySnapshot, TaskRegistry};
pub use runtime::{Runtime, SettledTask};
pub use scheduler::{AbortReply, AbortScope, Reached, Scheduler};
pub use task::{Migrate, Migration, Next, Outcome, Running, Task, Wake};
pub use tidehold_session::records::{JoinPolicy, TaskOutcomeError, TaskOwnership, TaskRecord};
pub use typed::{TaskReference, TypedOutcome, TypedTaskId};

#[cfg(test)]
#[path = "../tests/simulator/mod.rs"]
mod simulator;
