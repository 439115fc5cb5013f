//! The simulated task: spawns work, has effects, sleeps, polls, parks, joins, and ends in every way.

mod abort;
mod effect;
mod fate;
mod spawn;

use super::model::Model;
use crate::{JoinPolicy, Migrate, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};
pub use fate::{Fate, Migrates, migration_of};
use serde::Serialize;
use std::panic::resume_unwind;
use std::rc::Rc;
use tidehold_delta::{ConvertError, FromJson};
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_simulator::Random;

/// Versions differ in nothing else.
#[derive(Clone)]
pub struct Actor<const V: u32>(pub Rc<Model>);

/// What a task made for itself.
#[derive(Clone, Debug, Default, Serialize, FromJson)]
pub struct Own {
    pub children: Vec<TaskId>,
    pub rooms: Vec<ConversationId>,
}

#[derive(Clone, Debug, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum Point {
    Spawn,
    Effect { n: u64, own: Own },
    Poll { n: u64, at: Millis, own: Own },
    External { n: u64, own: Own },
    Join { n: u64, on: Vec<TaskId>, own: Own },
    Slept { n: u64, own: Own },
    End { own: Own },
}

impl Point {
    pub fn wake(&self) -> Wake {
        match self {
            Self::Poll { at, .. } => Wake::At(*at),
            Self::External { .. } => Wake::External,
            _ => Wake::Now,
        }
    }
}

/// Tells the model that a handler is active.
struct Active(Rc<Model>, TaskId);

impl Active {
    fn new(model: &Rc<Model>, id: TaskId) -> Self {
        model.enter(id);
        Self(Rc::clone(model), id)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

impl<const V: u32> Task for Actor<V> {
    const NAME: &'static str = "actor";
    const VERSION: u32 = V;
    type Input = Fate;
    type Checkpoint = Point;
    type Outcome = String;

    fn initial(&self, _: &Fate) -> Point {
        Point::Spawn
    }

    fn wake(&self, checkpoint: &Point) -> Wake {
        checkpoint.wake()
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let (id, model) = (runtime.task_id(), &self.0);
        model.phase_starts(id, &task.record, V);
        if model.is_broken() {
            // The story is over, and a decision broken on purpose might call this for ever.
            return std::future::pending().await;
        }
        let _active = Active::new(model, id);
        let fate = task.input;
        match task.checkpoint {
            Point::Spawn => self.spawn(&fate, &runtime).await,
            Point::Effect { n, own } => self.effect(&fate, n, own, &runtime).await,
            Point::Poll { n, at, own } => {
                runtime.sleep(at).await?;
                self.advance(&runtime, Point::Effect { n: n + 1, own }).await
            }
            Point::External { n, own } => {
                runtime.poked().await?;
                model.answered(id);
                self.advance(&runtime, Point::Effect { n: n + 1, own }).await
            }
            Point::Join { n, on, own } => {
                // Only a deadline resumes a join before its time.
                match runtime.outcomes(&on).await {
                    Ok(outcomes) => model.joined(&on, &outcomes),
                    Err(TaskFault::NotTerminal(_)) => {}
                    Err(other) => return Err(other),
                }
                self.advance(&runtime, Point::Effect { n: n + 1, own }).await
            }
            Point::Slept { n, own } => self.advance(&runtime, Point::Effect { n: n + 1, own }).await,
            Point::End { own } => self.end(&fate, own, &runtime).await,
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        self.0.abort_starts(runtime.task_id());
        let _active = Active::new(&self.0, runtime.task_id());
        self.clean_up(&task.input, task.checkpoint, &runtime).await
    }

    fn migration(&self, _: u32) -> Option<Migrate<Self>> {
        if V == 3 {
            return None;
        }
        Some(|_, input, checkpoint, _| {
            let read = || Ok::<(Fate, Point), ConvertError>((input.to_typed()?, checkpoint.to_typed()?));
            let (fate, point) = read().map_err(|error| error.to_string())?;
            match migration_of(&fate, V) {
                Migrates::Yes => Ok((fate, point)),
                Migrates::Unsupported | Migrates::Fails => Err("as fate decides".to_owned()),
                Migrates::Panics => resume_unwind(Box::new("fate")),
            }
        })
    }
}

impl<const V: u32> Actor<V> {
    /// A commit of the task and nothing else.
    async fn commit(
        &self,
        runtime: &Runtime<Self>,
        next: Option<Next<Point, String>>,
    ) -> Result<(), TaskFault> {
        let model = Rc::clone(&self.0);
        runtime
            .commit(async move |_, record| {
                model.gated(&record);
                Ok(next)
            })
            .await
    }

    async fn advance(&self, runtime: &Runtime<Self>, point: Point) -> Result<(), TaskFault> {
        self.commit(runtime, Some(Next::Continue(point))).await
    }

    /// A durable wait. One that the rules refuse is left out.
    async fn wait(
        &self,
        runtime: &Runtime<Self>,
        (n, own): (u64, Own),
        on: Vec<TaskId>,
        policy: JoinPolicy,
        until: Option<Millis>,
    ) -> Result<(), TaskFault> {
        let checkpoint = Point::Join {
            n,
            on: on.clone(),
            own: own.clone(),
        };
        let wait = Next::Wait {
            checkpoint,
            on: on.clone(),
            policy,
            until,
        };
        match self.commit(runtime, Some(wait)).await {
            Err(TaskFault::Wait(rejection)) => {
                self.0.refused(runtime.task_id(), &on, &rejection);
                self.advance(runtime, Point::Effect { n: n + 1, own }).await
            }
            other => other,
        }
    }

    async fn end(&self, fate: &Fate, own: Own, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let random = Random::at(fate.seed, 998);
        if fate.plain {
            return self.finish(runtime, Outcome::Completed("done".to_owned())).await;
        }
        match random.below(20) {
            0..10 => self.finish(runtime, Outcome::Completed("done".to_owned())).await,
            10..12 => self.finish_with_more_work(fate, own, &random, runtime).await,
            12..16 => self.finish(runtime, Outcome::failed("as fate decides")).await,
            16 | 17 => Err(TaskFault::Failed("thrown".into())),
            18 => resume_unwind(Box::new("fate")),
            _ => Ok(()),
        }
    }

    async fn finish(&self, runtime: &Runtime<Self>, outcome: Outcome<String>) -> Result<(), TaskFault> {
        self.commit(runtime, Some(Next::Finish(outcome))).await
    }
}
