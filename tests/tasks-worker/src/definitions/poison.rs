//! Ends its object whenever it runs, but for its first phase.

use crate::world::World;
use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_tasks::{JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};

pub struct Poison(pub World);

#[derive(Serialize, FromJson)]
pub struct PoisonInput {}

#[derive(Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum PoisonPhase {
    /// Waits a second: creating it must outlive its object.
    Pour,
    Drink,
}

impl Task for Poison {
    const NAME: &'static str = "test.poison";
    const VERSION: u32 = 1;
    type Input = PoisonInput;
    type Checkpoint = PoisonPhase;
    type Outcome = ();

    fn initial(&self, _: &PoisonInput) -> PoisonPhase {
        PoisonPhase::Pour
    }

    fn wake(&self, _: &PoisonPhase) -> Wake {
        Wake::Now
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        if let PoisonPhase::Pour = task.checkpoint {
            let wait = Next::Wait {
                checkpoint: PoisonPhase::Drink,
                on: Vec::new(),
                policy: JoinPolicy::AllSettled,
                until: Some(runtime.now() + 1_000),
            };
            return runtime.commit(async move |_, _| Ok(Some(wait))).await;
        }
        self.0.note(runtime.task_id(), "drunk");
        self.0.end().await;
        Ok(())
    }

    async fn abort(&self, _: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        runtime.finish(Outcome::aborted()).await
    }
}
