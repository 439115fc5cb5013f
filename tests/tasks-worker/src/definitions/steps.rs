//! Works step by step, counts its failed attempts itself, and loses its object in the middle of steps.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_session::host::Millis;
use tidehold_tasks::{JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};

pub struct Steps(pub World);

#[derive(Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct StepsInput {
    steps: u64,
    /// The first so many steps lose the object once each.
    resets: u64,
    /// The step whose effect fails once.
    fails: u64,
    /// Milliseconds that a step takes.
    pace: Millis,
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum StepsPhase {
    /// Waits half a second: creating it must outlive its object.
    Rest,
    Work {
        step: u64,
        attempt: u64,
        sum: u64,
    },
}

#[derive(Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct StepsResult {
    sum: u64,
    attempts: u64,
}

impl Task for Steps {
    const NAME: &'static str = "test.steps";
    const VERSION: u32 = 1;
    type Input = StepsInput;
    type Checkpoint = StepsPhase;
    type Outcome = StepsResult;

    fn initial(&self, _: &StepsInput) -> StepsPhase {
        StepsPhase::Rest
    }

    fn wake(&self, _: &StepsPhase) -> Wake {
        Wake::Now
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let (id, world) = (runtime.task_id(), &self.0);
        let StepsPhase::Work { step, attempt, sum } = task.checkpoint else {
            let wait = Next::Wait {
                checkpoint: StepsPhase::Work {
                    step: 0,
                    attempt: 1,
                    sum: 0,
                },
                on: Vec::new(),
                policy: JoinPolicy::AllSettled,
                until: Some(runtime.now() + 500),
            };
            return runtime.commit(async move |_, _| Ok(Some(wait))).await;
        };
        if step == task.input.steps {
            let result = StepsResult {
                sum,
                attempts: attempt,
            };
            return runtime.finish(Outcome::Completed(result)).await;
        }
        let begins = format!("step {step} begins");
        world.note(id, &begins);
        runtime.sleep(runtime.now() + task.input.pace).await?;
        if step < task.input.resets && world.noted(id, &begins) == 1 {
            world.end().await;
        }
        let failed = format!("step {step} failed");
        if step == task.input.fails && world.noted(id, &failed) == 0 {
            world.note(id, &failed);
            let attempt = attempt + 1;
            return runtime.advance(StepsPhase::Work { step, attempt, sum }).await;
        }
        let (step, sum) = (step + 1, sum + step);
        runtime.advance(StepsPhase::Work { step, attempt, sum }).await
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}
