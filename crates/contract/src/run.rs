//! `external.run`: the durable anchor of a run (an ordinary task definition).
//!
//! The anchor lives in the parent's conversation, in the background, and owns the child's conversation. It waits without an
//! invocation for the child's generation, and until its deadline. Its record, the child's entries and `pi.usage` are all
//! the evidence there is: receipts, references and pages are derived from them. The prompt is stored once, as the child's
//! first entry.

mod cancel;
mod end;
mod stop;
mod watch;

pub(crate) use cancel::keep_reason;
pub(crate) use end::readable;
pub use end::{End, RunResult};

use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Text};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, SubmissionId};
use tidehold_tasks::{Running, Runtime, Task, TaskFault, TaskRegistry, Wake};

/// Name of the definition and kind of its records.
pub const KIND: &str = "external.run";

/// The definition. It needs nothing of the host.
pub struct Run;

/// Adds the contract's tasks to a harness that is being opened.
pub fn install(registry: &mut TaskRegistry) {
    registry.install(Rc::new(Run));
}

/// What was asked for, redacted; without the prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", default)]
pub struct RunInput {
    pub description: Text,
    pub role: Text,
    pub harness: Text,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<Millis>,
    /// When it was launched: a task record says when it started and ended, not when it was created.
    pub queued_at: Millis,
}

/// The child of a run and the submission it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    pub conversation: ConversationId,
    pub submission: SubmissionId,
}

/// Durable phases.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum Checkpoint {
    /// Without a child: what a task is created with. The launch replaces it in the same commit, once the child exists.
    Launch,
    /// The child works.
    Watch {
        #[serde(flatten)]
        child: Child,
        /// When it has had its time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Millis>,
    },
}

impl Task for Run {
    const NAME: &'static str = KIND;
    const VERSION: u32 = 1;
    type Input = RunInput;
    type Checkpoint = Checkpoint;
    type Outcome = RunResult;

    fn initial(&self, _: &RunInput) -> Checkpoint {
        Checkpoint::Launch
    }

    /// The wait itself is a state of the record, with its deadline; a run that is not waiting has something to do.
    fn wake(&self, checkpoint: &Checkpoint) -> Wake {
        match checkpoint {
            Checkpoint::Launch | Checkpoint::Watch { .. } => Wake::Now,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            Checkpoint::Launch => Err(TaskFault::Failed(
                "the run was created without a child".to_owned(),
            )),
            Checkpoint::Watch { child, deadline } => watch::run(runtime, child, deadline).await,
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            Checkpoint::Launch => runtime.finish(tidehold_tasks::Outcome::aborted()).await,
            Checkpoint::Watch { child, .. } => stop::run(runtime, child).await,
        }
    }
}
