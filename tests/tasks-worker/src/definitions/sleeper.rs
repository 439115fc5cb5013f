//! Sleeps, in one durable wait or from poll to poll.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_session::host::Millis;
use tidehold_tasks::{JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};

pub struct Sleeper(pub World);

#[derive(Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct SleeperInput {
    ms: Millis,
    /// Polls on the way; 0 for one durable wait.
    polls: u64,
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum SleeperPhase {
    Start,
    /// In the record's own `until`.
    Due {
        at: Millis,
    },
    /// In `Wake::At`.
    Poll {
        at: Millis,
        due: Millis,
        left: u64,
    },
}

#[derive(Serialize, FromJson)]
pub struct Slept {
    due: Millis,
}

impl Task for Sleeper {
    const NAME: &'static str = "test.sleeper";
    const VERSION: u32 = 1;
    type Input = SleeperInput;
    type Checkpoint = SleeperPhase;
    type Outcome = Slept;

    fn initial(&self, _: &SleeperInput) -> SleeperPhase {
        SleeperPhase::Start
    }

    fn wake(&self, checkpoint: &SleeperPhase) -> Wake {
        match checkpoint {
            SleeperPhase::Start => Wake::Now,
            SleeperPhase::Due { at } | SleeperPhase::Poll { at, .. } => Wake::At(*at),
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let SleeperInput { ms, polls } = task.input;
        match task.checkpoint {
            SleeperPhase::Start if polls == 0 => {
                let at = runtime.now() + ms;
                let wait = Next::Wait {
                    checkpoint: SleeperPhase::Due { at },
                    on: Vec::new(),
                    policy: JoinPolicy::AllSettled,
                    until: Some(at),
                };
                runtime.commit(async move |_, _| Ok(Some(wait))).await
            }
            SleeperPhase::Start => {
                let now = runtime.now();
                let (at, due, left) = (now + ms / polls, now + ms, polls);
                runtime.advance(SleeperPhase::Poll { at, due, left }).await
            }
            SleeperPhase::Poll { at, due, left } => {
                runtime.sleep(at).await?;
                self.0.note(runtime.task_id(), "polled");
                if left > 1 {
                    let at = at + ms / polls;
                    let left = left - 1;
                    runtime.advance(SleeperPhase::Poll { at, due, left }).await
                } else {
                    runtime.finish(Outcome::Completed(Slept { due })).await
                }
            }
            SleeperPhase::Due { at } => {
                self.0.note(runtime.task_id(), "slept");
                runtime.finish(Outcome::Completed(Slept { due: at })).await
            }
        }
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}
