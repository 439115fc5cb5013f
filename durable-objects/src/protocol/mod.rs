//! What the Worker and the object say to each other: the one vocabulary both sides compile.
//!
//! The Worker builds a fresh request for each call, so no header of the client reaches the object by itself:
//!
//! - the header [`CALL`] holds a [`Call`] as JSON, ASCII only; the body is the client's body, already checked to be
//!   JSON within its limits, and empty where there was none;
//! - the answer carries the header [`OUTCOME`]: `ok` with the finished JSON body, `stream` with a body that is passed
//!   on as it is, or `error` with an [`OperationError`] as body. The object never speaks in status codes; only the
//!   Worker knows those (invariant 9).

mod call;
mod error;
mod operation;

pub use call::{Accept, Call, Caller, from_json_text, to_ascii_json};
pub use error::{Code, OperationError, PathProblem};
pub use operation::{ConversationKey, Detail, Operation, Order};
pub use tidehold_session::ids::{ConversationId, EntryId, SubmissionId, TaskId};

/// Request header with the [`Call`].
pub const CALL: &str = "x-tidehold-call";
/// Response header with the [`Outcome`].
pub const OUTCOME: &str = "x-tidehold-outcome";
/// Response header of writes, passed on to the client: the head after the write's commit.
pub const STREAM_ID: &str = "x-stream-id";

/// How the body of an answer is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The JSON result.
    Ok,
    /// Done, and nothing to say.
    Empty,
    /// A body that may take its time, of the answer's own content type.
    Stream,
    /// An [`OperationError`].
    Error,
}

impl Outcome {
    /// Value of the header [`OUTCOME`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Empty => "empty",
            Self::Stream => "stream",
            Self::Error => "error",
        }
    }

    /// The outcome of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Ok, Self::Empty, Self::Stream, Self::Error]
            .into_iter()
            .find(|outcome| outcome.name() == name)
    }
}
