//! What a task is (spec 5.1): a typed definition whose phases are one `match` on its checkpoint.

use crate::fault::TaskFault;
use crate::runtime::Runtime;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json, Text};
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{JoinPolicy, TaskOutcomeError, TaskRecord};

/// When a task at a checkpoint needs the object again if its memory is lost (invariant 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// As soon as possible: there is work to do.
    Now,
    /// Not before this time: a back-off, a poll, a timeout.
    At(Millis),
    /// Only when something outside happens: a remote call answers, a human approves. Whoever learns of it pokes the
    /// task ([`crate::Scheduler::poke_in`]), in the commit that stores what happened.
    External,
}

/// A task definition. Checkpoints are enums, tagged by `phase`, so that `run` matches exhaustively.
pub trait Task: Sized + 'static {
    /// Stored with every task of this kind.
    const NAME: &'static str;
    /// Positive; stored with every task. Raise it with any change of `Input` or `Checkpoint` that old data does not fit,
    /// and implement [`Task::migration`].
    const VERSION: u32;
    type Input: Serialize + FromJson + 'static;
    type Checkpoint: Serialize + FromJson + 'static;
    type Outcome: Serialize + FromJson + 'static;

    /// Checkpoint of a new task.
    fn initial(&self, input: &Self::Input) -> Self::Checkpoint;

    /// When the task at this checkpoint wants to run again. Pure.
    fn wake(&self, checkpoint: &Self::Checkpoint) -> Wake;

    /// One call runs one phase: it may commit several times around one effect and returns once a commit changed the
    /// checkpoint, or settled or parked the task. Returning without either faults the task, as does an error. It must be
    /// safe to start again from the committed checkpoint: after a crash it will be.
    fn run(&self, task: Running<Self>, runtime: Runtime<Self>)
    -> impl Future<Output = Result<(), TaskFault>>;

    /// Runs once after an abort mark, when everything the task owns has ended, and commits the outcome.
    fn abort(
        &self,
        task: Running<Self>,
        runtime: Runtime<Self>,
    ) -> impl Future<Output = Result<(), TaskFault>>;

    /// How data of an older version becomes data of this one; `None` where that version is not supported. Asking runs no
    /// migration, so that an inspection can tell what a task waits for. Pure.
    fn migration(&self, from_version: u32) -> Option<Migrate<Self>> {
        let _unsupported = from_version;
        None
    }
}

/// Makes input and checkpoint of the definition's version from those of the older version given last. Pure.
pub type Migrate<T> = fn(&T, Json, Json, u32) -> Migration<T>;

/// What a migration yields: input and checkpoint, or why they cannot be had.
pub type Migration<T> = Result<(<T as Task>::Input, <T as Task>::Checkpoint), String>;

/// A running task as its phase sees it.
pub struct Running<T: Task> {
    /// The committed record the phase started from.
    pub record: Rc<TaskRecord>,
    pub input: T::Input,
    pub checkpoint: T::Checkpoint,
}

/// What a task commits for itself.
pub enum Next<C, R> {
    /// Goes on at another checkpoint.
    Continue(C),
    /// Ends the invocation; goes on at `checkpoint` once every task in `on` has ended or `until` has passed. An empty
    /// `on` with an `until` is a durable sleep that a poke ends early; without one it resumes in the next pass.
    Wait {
        checkpoint: C,
        on: Vec<TaskId>,
        policy: JoinPolicy,
        until: Option<Millis>,
    },
    /// Ends the task, or holds this outcome until its owned work has ended.
    Finish(Outcome<R>),
}

impl<C, R> Next<C, R> {
    /// Goes on at `checkpoint` once all of `on` have ended.
    pub fn join(checkpoint: C, policy: JoinPolicy, on: impl IntoIterator<Item = impl Into<TaskId>>) -> Self {
        Self::Wait {
            checkpoint,
            on: on.into_iter().map(Into::into).collect(),
            policy,
            until: None,
        }
    }

    /// Goes on at `checkpoint` at `until`, or when it is poked: a sleep that holds nothing in memory.
    pub fn sleep(checkpoint: C, until: Millis) -> Self {
        Self::Wait {
            checkpoint,
            on: Vec::new(),
            policy: JoinPolicy::AllSettled,
            until: Some(until),
        }
    }
}

/// The outcomes a task can give itself.
pub enum Outcome<R> {
    Completed(R),
    Failed {
        error: TaskOutcomeError,
        result: Option<R>,
    },
    Aborted {
        reason: Option<Text>,
        result: Option<R>,
    },
}

impl<R> Outcome<R> {
    /// A failure without a result.
    pub fn failed(message: impl Into<Text>) -> Self {
        Self::Failed {
            error: TaskOutcomeError {
                message: message.into(),
                detail: None,
            },
            result: None,
        }
    }

    /// An abort without a reason or a result.
    pub fn aborted() -> Self {
        Self::Aborted {
            reason: None,
            result: None,
        }
    }
}
