//! The simulated task: spawns work, has effects, sleeps, polls, parks, joins, and ends in every way.

use super::model::Model;
use super::random::Random;
use crate::{
    JoinPolicy, Migrate, Next, Outcome, Running, Runtime, Task, TaskFault, TaskOptions, Wake, create,
};
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::{ConvertError, FromJson};
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{ConversationOwnership, TaskRecord};
use tidehold_session::{SessionError, Tx};

/// Versions differ in nothing else.
#[derive(Clone)]
pub struct Actor<const V: u32>(pub Rc<Model>);

#[derive(Serialize, FromJson)]
pub struct Fate {
    pub seed: u64,
    /// Levels of work it may still create.
    pub depth: u64,
}

#[derive(Clone, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum Point {
    Spawn,
    Effect {
        n: u64,
        children: Vec<TaskId>,
    },
    Poll {
        n: u64,
        at: Millis,
        children: Vec<TaskId>,
    },
    External {
        n: u64,
        children: Vec<TaskId>,
    },
    Join {
        children: Vec<TaskId>,
    },
    End,
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
        match checkpoint {
            Point::Poll { at, .. } => Wake::At(*at),
            Point::External { .. } => Wake::External,
            Point::Spawn | Point::Effect { .. } | Point::Join { .. } | Point::End => Wake::Now,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let (id, model) = (runtime.task_id(), &self.0);
        model.phase_starts(id);
        let _active = Active::new(model, id);
        let fate = task.input;
        match task.checkpoint {
            Point::Spawn => self.spawn(&fate, &runtime).await,
            Point::Effect { n, children } => {
                model.effect(id, n);
                let mut random = Random::at(fate.seed, n);
                runtime.sleep(runtime.now() + random.below(300)).await?;
                let next = self.after_effect(&mut random, n, children, runtime.now());
                match next {
                    Point::Join { children } => self.join(&mut random, children, &runtime).await,
                    next => runtime.advance(next).await,
                }
            }
            Point::Poll { n, at, children } => {
                model.polls(id, at, runtime.now());
                runtime.sleep(at).await?;
                runtime.advance(Point::Effect { n: n + 1, children }).await
            }
            Point::External { n, children } => {
                runtime.poked().await?;
                runtime.advance(Point::Effect { n: n + 1, children }).await
            }
            Point::Join { .. } => runtime.advance(Point::End).await,
            Point::End => self.end(&fate, &runtime).await,
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        self.0.abort_starts(runtime.task_id());
        let _active = Active::new(&self.0, runtime.task_id());
        let mut random = Random::at(task.input.seed, 999);
        runtime.sleep(runtime.now() + random.below(200)).await?;
        match random.below(10) {
            0 => Err(TaskFault::Failed("abort throws".into())),
            1 => Ok(()),
            _ => runtime.finish(Outcome::aborted()).await,
        }
    }

    fn migration(&self, _: u32) -> Option<Migrate<Self>> {
        Some(|_, input, checkpoint, _| {
            let read = || Ok::<_, ConvertError>((input.to_typed()?, checkpoint.to_typed()?));
            read().map_err(|error| error.to_string())
        })
    }
}

impl<const V: u32> Actor<V> {
    async fn spawn(&self, fate: &Fate, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let (actor, mut random, depth) = (self.clone(), Random::at(fate.seed, 500), fate.depth);
        runtime
            .commit(async move |tx: Tx, record| {
                let mut children = Vec::new();
                let count = if depth == 0 { 0 } else { random.below(4) };
                for _ in 0..count {
                    let input = Fate {
                        seed: random.seed(),
                        depth: depth - 1,
                    };
                    children.extend(actor.create_below(&mut random, &tx, &record, input).await?);
                }
                Ok(Some(Next::Continue(Point::Effect { n: 0, children })))
            })
            .await
    }

    /// Child tasks are what a task may join; work in an owned conversation only holds it.
    async fn create_below(
        &self,
        random: &mut Random,
        tx: &Tx,
        record: &TaskRecord,
        input: Fate,
    ) -> Result<Option<TaskId>, SessionError> {
        if random.percent(60) {
            let options = TaskOptions::owned_by(record.id);
            let options = if random.percent(15) {
                options.abandon_on_restart()
            } else {
                options
            };
            return create(tx, self, &input, options).await.map(|id| Some(id.id()));
        }
        let owned = tx
            .create_conversation(ConversationOwnership::Task(record.id))
            .await?
            .id;
        let options = TaskOptions::in_conversation(owned);
        let options = if random.percent(40) {
            options.background()
        } else {
            options
        };
        create(tx, self, &input, options).await.map(|_| None)
    }

    fn after_effect(&self, random: &mut Random, n: u64, children: Vec<TaskId>, now: Millis) -> Point {
        match random.below(10) {
            0..3 if n < 3 => Point::Effect { n: n + 1, children },
            3..5 => Point::Poll {
                n,
                at: now + random.below(40_000),
                children,
            },
            5 => Point::External { n, children },
            6..9 if !children.is_empty() => Point::Join { children },
            _ => Point::End,
        }
    }

    async fn join(
        &self,
        random: &mut Random,
        children: Vec<TaskId>,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let policy = if random.percent(50) {
            JoinPolicy::FailFast
        } else {
            JoinPolicy::AllSettled
        };
        let until = random.percent(30).then(|| runtime.now() + random.below(20_000));
        let checkpoint = Point::Join {
            children: children.clone(),
        };
        let wait = Next::Wait {
            checkpoint,
            on: children,
            policy,
            until,
        };
        runtime.commit(async move |_, _| Ok(Some(wait))).await
    }

    async fn end(&self, fate: &Fate, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        match Random::at(fate.seed, 998).below(20) {
            0..13 => runtime.finish(Outcome::Completed("done".to_owned())).await,
            13..16 => runtime.finish(Outcome::failed("as fate decides")).await,
            16 | 17 => Err(TaskFault::Failed("thrown".into())),
            18 => panic!("fate"),
            _ => Ok(()),
        }
    }
}
