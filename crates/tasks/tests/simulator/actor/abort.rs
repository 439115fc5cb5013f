//! Cleaning up after an abort mark.

use super::{Actor, Fate, Point};
use crate::{JoinPolicy, Next, Outcome, Runtime, TaskFault, TaskOptions, create};
use std::rc::Rc;
use tidehold_session::Tx;
use tidehold_simulator::Random;

impl<const V: u32> Actor<V> {
    pub(super) async fn clean_up(
        &self,
        fate: &Fate,
        checkpoint: Point,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let random = Random::at(fate.seed, 999);
        runtime.sleep(runtime.now() + random.below(200)).await?;
        match random.below(12) {
            0 => return Err(TaskFault::Failed("abort throws".into())),
            1 => return Ok(()),
            2 => self.try_to_wait(checkpoint, runtime).await?,
            3 | 4 if !fate.plain => self.compensate(&random, runtime).await?,
            5 => {
                return self
                    .finish(runtime, Outcome::Completed("as if nothing had been".into()))
                    .await;
            }
            _ => {}
        }
        self.finish(runtime, Outcome::aborted()).await
    }

    async fn try_to_wait(&self, checkpoint: Point, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let wait = Next::Wait {
            checkpoint,
            on: Vec::new(),
            policy: JoinPolicy::AllSettled,
            until: None,
        };
        match self.commit(runtime, Some(wait)).await {
            Err(TaskFault::Wait(_)) => {}
            Ok(()) => self
                .0
                .breach(format!("the abort handler of {} waits", runtime.task_id())),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Background work, which no cascade reaches, awaited in memory.
    async fn compensate(&self, random: &Random, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let actor = self.clone();
        let input = Fate {
            seed: random.seed(),
            depth: 0,
            plain: true,
        };
        let model = Rc::clone(&self.0);
        let id = runtime
            .commit_with(async move |tx: Tx, record| {
                actor.0.gated(&record);
                let options = TaskOptions::in_bound_conversation().background();
                Ok((None, create(&tx, &actor, &input, options).await?.id()))
            })
            .await?;
        let settled = runtime.wait_for_task(id).await?;
        model.receipt(id, &settled.record);
        Ok(())
    }
}
