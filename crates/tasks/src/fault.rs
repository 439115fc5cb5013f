//! What goes wrong inside task code.

use tidehold_delta::{ConvertError, DraftError, Text};
use tidehold_session::ids::TaskId;
use tidehold_session::signal::AbortReason;
use tidehold_session::{Rejection, SessionError};

/// Error of a runtime operation. Returned from a phase, each is an uncaught error: the task ends `faulted` with its text,
/// unless an abort mark, a committed outcome or a closing session came first.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TaskFault {
    /// The invocation is over; what it left behind cannot do anything any more.
    #[error("the task's invocation has ended")]
    Ended,
    /// The task committed an outcome or a wait; this invocation commits nothing after it.
    #[error("task {0} is no longer running")]
    NotRunning(TaskId),
    /// A run invocation commits nothing after its task's abort mark.
    #[error("task {0} carries a durable abort mark")]
    AbortRequested(TaskId),
    /// A sleep or wait ended early because the invocation was told to stop.
    #[error("the task's invocation was signalled: {0}")]
    Signalled(AbortReason),
    /// A wait that the rules of spec 5.5 refuse.
    #[error(transparent)]
    Wait(#[from] WaitRejection),
    /// An abort or outcome was asked of a task that another task owns.
    #[error("task {0} is not owned by this task")]
    NotOwned(TaskId),
    /// An outcome was asked of a live task.
    #[error("task {0} is not terminal")]
    NotTerminal(TaskId),
    /// A memo was proposed under a name of the scheduler's own.
    #[error("memo names starting with tidehold. are taken: {0}")]
    ReservedMemo(Text),
    /// A value does not fit its type or JSON.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The task's own error.
    #[error("{0}")]
    Failed(String),
}

/// Why a commit to `waiting` was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WaitRejection {
    #[error("task {0} does not exist")]
    Missing(TaskId),
    #[error("task {0} can wait failFast only on tasks it owns, not on {1}")]
    ForeignFailFast(TaskId, TaskId),
    /// The tasks on the cycle, starting and ending with the one that wants to wait.
    #[error("waiting would close a cycle: {}", path(.0))]
    Cycle(Vec<TaskId>),
    #[error("the abort handler of task {0} cannot wait")]
    InAbort(TaskId),
}

fn path(cycle: &[TaskId]) -> String {
    cycle
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" -> ")
}

impl From<Rejection> for TaskFault {
    fn from(rejection: Rejection) -> Self {
        Self::Session(rejection.into())
    }
}

impl From<DraftError> for TaskFault {
    fn from(error: DraftError) -> Self {
        Self::Session(error.into())
    }
}
