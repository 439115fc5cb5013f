//! Ids and outcomes that know what a task yields (spec 5.1, `TaskId<R>`).

use crate::fault::TaskFault;
use serde::{Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use tidehold_delta::{ConvertError, FromJson, Json, Text};
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskOutcomeError};

/// The id of a task whose results are of type `R`: the plain number at rest and on the wire, and a [`TaskId`] wherever the
/// result does not matter. Waits and outcomes asked for with it are typed.
pub struct TypedTaskId<R> {
    id: TaskId,
    result: PhantomData<fn() -> R>,
}

impl<R> TypedTaskId<R> {
    /// Says what the task with this id yields, where the id comes from elsewhere. Wrong, it makes reading the outcome fail, and
    /// nothing else.
    pub fn assume(id: TaskId) -> Self {
        Self {
            id,
            result: PhantomData,
        }
    }

    /// The plain id.
    pub fn id(self) -> TaskId {
        self.id
    }
}

impl<R> Clone for TypedTaskId<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for TypedTaskId<R> {}

impl<R> PartialEq for TypedTaskId<R> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<R> Eq for TypedTaskId<R> {}

impl<R> fmt::Debug for TypedTaskId<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl<R> fmt::Display for TypedTaskId<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)
    }
}

impl<R> Deref for TypedTaskId<R> {
    type Target = TaskId;

    fn deref(&self) -> &TaskId {
        &self.id
    }
}

impl<R> From<TypedTaskId<R>> for TaskId {
    fn from(typed: TypedTaskId<R>) -> Self {
        typed.id
    }
}

impl<R> From<TypedTaskId<R>> for Json {
    fn from(typed: TypedTaskId<R>) -> Self {
        typed.id.into()
    }
}

impl<R> Serialize for TypedTaskId<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.id.serialize(serializer)
    }
}

impl<R> FromJson for TypedTaskId<R> {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        TaskId::from_json(json).map(Self::assume)
    }
}

/// An outcome with its result read (spec 5.1). What a task commits for itself is [`crate::Outcome`].
#[derive(Clone, Debug, PartialEq)]
pub enum TypedOutcome<R> {
    Completed(R),
    Failed {
        error: TaskOutcomeError,
        result: Option<R>,
    },
    Aborted {
        reason: Option<Text>,
        result: Option<R>,
    },
    /// No task code ran to end it: what it did outside may be left.
    Orphaned {
        reason: Text,
    },
    Faulted {
        error: TaskOutcomeError,
    },
}

impl<R: FromJson> TypedOutcome<R> {
    fn read(outcome: TaskOutcome) -> Result<Self, ConvertError> {
        let read = |result: Option<Json>| result.map(|result| result.to_typed()).transpose();
        Ok(match outcome {
            TaskOutcome::Completed { result } => Self::Completed(result.to_typed()?),
            TaskOutcome::Failed { error, result } => Self::Failed {
                error,
                result: read(result)?,
            },
            TaskOutcome::Aborted { reason, result } => Self::Aborted {
                reason,
                result: read(result)?,
            },
            TaskOutcome::Orphaned { reason } => Self::Orphaned { reason },
            TaskOutcome::Faulted { error } => Self::Faulted { error },
        })
    }
}

/// What names a task in waits: a [`TypedTaskId`], whose outcomes are read, or a plain [`TaskId`], whose outcomes are as stored.
pub trait TaskReference: Copy {
    type Outcome;

    fn task_id(self) -> TaskId;

    /// # Errors
    /// A result of another shape than the id says.
    fn read(outcome: TaskOutcome) -> Result<Self::Outcome, TaskFault>;
}

impl TaskReference for TaskId {
    type Outcome = TaskOutcome;

    fn task_id(self) -> TaskId {
        self
    }

    fn read(outcome: TaskOutcome) -> Result<TaskOutcome, TaskFault> {
        Ok(outcome)
    }
}

impl<R: FromJson> TaskReference for TypedTaskId<R> {
    type Outcome = TypedOutcome<R>;

    fn task_id(self) -> TaskId {
        self.id
    }

    fn read(outcome: TaskOutcome) -> Result<TypedOutcome<R>, TaskFault> {
        Ok(TypedOutcome::read(outcome)?)
    }
}
