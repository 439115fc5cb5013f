//! `pi.generation` (spec 8.3): one assistant response, from prepared prompt to settled inputs.
//!
//! An ordinary task definition: the scheduler knows nothing of it. Phases are `prepare` → `request` → classification,
//! with `retry` and `poll` parked on their stored deadlines.

mod abort;
mod classify;
pub(crate) mod context;
pub(crate) mod partial;
mod poll;
mod prepare;
mod request;
mod rest;
mod retry;
mod round;

pub(crate) use classify::settle_unanswered;

use crate::settings::Settings;
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};
use tidehold_models::message::DeferredHandle;
use tidehold_models::model::ModelRef;
use tidehold_models::models::Models;
use tidehold_models::thinking::ThinkingLevel;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{JoinPolicy, TaskCreate, TaskOwnership};
use tidehold_tasks::{Next, Running, Runtime, Task, TaskFault, Wake};

/// Name of the definition and kind of its records.
pub const KIND: &str = "pi.generation";

/// The definition, with what it needs of the host.
pub struct Generation {
    pub models: Rc<dyn Models>,
    pub settings: Rc<dyn Fn() -> Settings>,
    /// Model of conversations that chose none.
    pub default_model: Rc<dyn Fn() -> Option<ModelRef>>,
}

/// The inputs of the run live in `pi.live.run`, not here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
pub struct GenerationInput {}

/// Durable phases. `attempt` counts requests of this generation from 1.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Checkpoint {
    Prepare {
        attempt: u32,
    },
    Request {
        attempt: u32,
        model: ModelRef,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_level: Option<ThinkingLevel>,
        stream_options: Json,
        /// Newest entry included in the request.
        cutoff: EntryId,
    },
    Retry {
        attempt: u32,
        until: Millis,
    },
    Poll {
        attempt: u32,
        model: ModelRef,
        cutoff: EntryId,
        handle: DeferredHandle,
        poll_at: Millis,
    },
    /// A boundary whose items one commit could not hold goes on. No answer is asked for.
    Rest,
    Tools {
        assistant: EntryId,
        tools: Vec<tidehold_session::ids::TaskId>,
        pending: Vec<String>,
    },
}

/// The entry that ended the generation; absent when it only placed what a boundary left.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct GenerationResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_id: Option<EntryId>,
}

pub(crate) type GenerationRuntime = Runtime<Generation>;

/// Parks the task at `checkpoint` until `until`: a durable sleep that holds nothing in memory.
pub(crate) fn parked(checkpoint: Checkpoint, until: Millis) -> Next<Checkpoint, GenerationResult> {
    Next::Wait {
        checkpoint,
        on: Vec::new(),
        policy: JoinPolicy::AllSettled,
        until: Some(until),
    }
}

/// A generation at its first phase, owned by the conversation.
pub(crate) fn first(conversation: ConversationId) -> TaskCreate {
    at(
        conversation,
        [("phase", Json::from("prepare")), ("attempt", Json::from(1_u64))],
    )
}

/// A generation that only places what a boundary of the conversation left.
pub(crate) fn rest(conversation: ConversationId) -> TaskCreate {
    at(conversation, [("phase", Json::from("rest"))])
}

fn at<const N: usize>(conversation: ConversationId, checkpoint: [(&'static str, Json); N]) -> TaskCreate {
    TaskCreate {
        kind: KIND.into(),
        version: Generation::VERSION,
        input: Json::empty_object(),
        checkpoint: Json::object(checkpoint),
        ownership: TaskOwnership::Conversation,
        conversation_id: Some(conversation),
        background: false,
        abandon_on_restart: false,
    }
}

impl Task for Generation {
    const NAME: &'static str = KIND;
    const VERSION: u32 = 1;
    type Input = GenerationInput;
    type Checkpoint = Checkpoint;
    type Outcome = GenerationResult;

    fn initial(&self, _: &GenerationInput) -> Checkpoint {
        Checkpoint::Prepare { attempt: 1 }
    }

    fn wake(&self, checkpoint: &Checkpoint) -> Wake {
        match checkpoint {
            Checkpoint::Prepare { .. }
            | Checkpoint::Request { .. }
            | Checkpoint::Tools { .. }
            | Checkpoint::Rest => Wake::Now,
            Checkpoint::Retry { until, .. } => Wake::At(*until),
            Checkpoint::Poll { poll_at, .. } => Wake::At(*poll_at),
        }
    }

    async fn run(&self, task: Running<Self>, runtime: GenerationRuntime) -> Result<(), TaskFault> {
        match task.checkpoint.clone() {
            Checkpoint::Prepare { attempt } => prepare::run(self, runtime, attempt).await,
            Checkpoint::Request {
                attempt,
                model,
                thinking_level,
                stream_options,
                cutoff,
            } => {
                let pinned = request::Pinned {
                    attempt,
                    model,
                    thinking_level,
                    stream_options,
                    cutoff,
                };
                request::run(self, runtime, pinned).await
            }
            Checkpoint::Retry { attempt, until } => retry::run(runtime, attempt, until).await,
            Checkpoint::Poll {
                attempt,
                model,
                cutoff,
                handle,
                poll_at,
            } => {
                let deferred = poll::Deferred {
                    attempt,
                    model,
                    cutoff,
                    handle,
                    poll_at,
                };
                poll::run(self, runtime, deferred).await
            }
            Checkpoint::Rest => rest::run(self, runtime).await,
            Checkpoint::Tools { assistant, .. } => round::finish(self, runtime, assistant).await,
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: GenerationRuntime) -> Result<(), TaskFault> {
        abort::run(self, task, runtime).await
    }
}
