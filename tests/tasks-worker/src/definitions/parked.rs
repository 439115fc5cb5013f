//! Waits for what no timer brings.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_tasks::{JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};

pub struct Parked(pub World);

#[derive(Serialize, FromJson)]
pub struct ParkedInput {
    pub until: Until,
}

/// What ends the wait.
#[derive(Clone, Copy, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum Until {
    /// An answer from outside.
    Answer,
    /// The end of another task.
    Task(TaskId),
    /// So many milliseconds.
    Passed(Millis),
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum ParkedPhase {
    Start,
    Answer,
    Awake,
}

impl Task for Parked {
    const NAME: &'static str = "test.parked";
    const VERSION: u32 = 1;
    type Input = ParkedInput;
    type Checkpoint = ParkedPhase;
    type Outcome = ();

    fn initial(&self, _: &ParkedInput) -> ParkedPhase {
        ParkedPhase::Start
    }

    fn wake(&self, checkpoint: &ParkedPhase) -> Wake {
        match checkpoint {
            ParkedPhase::Start | ParkedPhase::Awake => Wake::Now,
            ParkedPhase::Answer => Wake::External,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let id = runtime.task_id();
        match (task.checkpoint, task.input.until) {
            (ParkedPhase::Start, Until::Answer) => runtime.advance(ParkedPhase::Answer).await,
            (ParkedPhase::Start, until) => {
                let (on, until) = match until {
                    Until::Task(task) => (vec![task], None),
                    Until::Passed(ms) => (Vec::new(), Some(runtime.now() + ms)),
                    Until::Answer => (Vec::new(), None),
                };
                let wait = Next::Wait {
                    checkpoint: ParkedPhase::Awake,
                    on,
                    policy: JoinPolicy::AllSettled,
                    until,
                };
                runtime.commit(async move |_, _| Ok(Some(wait))).await
            }
            (ParkedPhase::Answer, _) => {
                self.0.note(id, "looks for an answer");
                if self.0.noted(id, "answered") == 0 {
                    runtime.poked().await?;
                }
                runtime.finish(Outcome::Completed(())).await
            }
            (ParkedPhase::Awake, _) => runtime.finish(Outcome::Completed(())).await,
        }
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}
