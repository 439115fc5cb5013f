//! Ends its object whenever it runs, until it is cured.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_tasks::{Outcome, Running, Runtime, Task, TaskFault, Wake};

pub struct Poison(pub World);

#[derive(Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct PoisonInput {
    /// Whether to end it in the very turn, or once what was noted is durable.
    at_once: bool,
}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum PoisonPhase {
    Drink,
}

impl Task for Poison {
    const NAME: &'static str = "test.poison";
    const VERSION: u32 = 1;
    type Input = PoisonInput;
    type Checkpoint = PoisonPhase;
    type Outcome = ();

    fn initial(&self, _: &PoisonInput) -> PoisonPhase {
        PoisonPhase::Drink
    }

    fn wake(&self, _: &PoisonPhase) -> Wake {
        Wake::Now
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        self.0.note(runtime.task_id(), "drunk");
        if task.input.at_once {
            self.0.end_now();
        }
        self.0.end().await;
        Ok(())
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}
