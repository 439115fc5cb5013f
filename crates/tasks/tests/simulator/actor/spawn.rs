//! Making work.

use super::{Actor, Fate, Own, Point};
use crate::{Next, Outcome, Runtime, TaskFault, TaskOptions, create};
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::ConversationOwnership;
use tidehold_session::{SessionError, Tx};
use tidehold_simulator::Random;

impl<const V: u32> Actor<V> {
    pub(super) async fn spawn(&self, fate: &Fate, runtime: &Runtime<Self>) -> Result<(), TaskFault> {
        let (actor, random, depth) = (self.clone(), Random::at(fate.seed, 500), fate.depth);
        let count = if depth == 0 || fate.plain {
            0
        } else {
            random.below(4)
        };
        runtime
            .commit(async move |tx: Tx, record| {
                actor.0.gated(&record);
                let mut own = Own::default();
                for _ in 0..count {
                    let input = Fate {
                        seed: random.seed(),
                        depth: depth - 1,
                        plain: random.percent(15),
                    };
                    actor
                        .create_below(&random, &tx, record.id, input, &mut own)
                        .await?;
                }
                Ok(Some(Next::Continue(Point::Effect { n: 0, own })))
            })
            .await
    }

    /// Child tasks are what a task may join failFast; work in an owned conversation only holds it.
    async fn create_below(
        &self,
        random: &Random,
        tx: &Tx,
        owner: TaskId,
        input: Fate,
        own: &mut Own,
    ) -> Result<(), SessionError> {
        if random.percent(60) {
            let options = TaskOptions::owned_by(owner);
            let options = if random.percent(20) {
                options.abandon_on_restart()
            } else {
                options
            };
            own.children.push(create(tx, self, &input, options).await?.id());
            return Ok(());
        }
        let room = tx
            .create_conversation(ConversationOwnership::Task(owner))
            .await?
            .id;
        own.rooms.push(room);
        self.create_in(random, tx, room, &input).await
    }

    async fn create_in(
        &self,
        random: &Random,
        tx: &Tx,
        room: ConversationId,
        input: &Fate,
    ) -> Result<(), SessionError> {
        let options = TaskOptions::in_conversation(room);
        let options = if random.percent(40) {
            options.background()
        } else {
            options
        };
        create(tx, self, input, options).await.map(drop)
    }

    /// Work that the finishing commit itself creates holds the outcome; a child of it is refused.
    pub(super) async fn finish_with_more_work(
        &self,
        fate: &Fate,
        own: Own,
        random: &Random,
        runtime: &Runtime<Self>,
    ) -> Result<(), TaskFault> {
        let actor = self.clone();
        let input = Fate {
            seed: random.seed(),
            depth: fate.depth.saturating_sub(1),
            plain: false,
        };
        let refused = random.percent(20);
        let stream = Random::new(random.seed());
        let (model, id) = (Rc::clone(&self.0), runtime.task_id());
        let done = runtime
            .commit(async move |tx: Tx, record| {
                actor.0.gated(&record);
                match own.rooms.last() {
                    _ if refused => drop(create(&tx, &actor, &input, TaskOptions::owned_by(id)).await?),
                    Some(room) => actor.create_in(&stream, &tx, *room, &input).await?,
                    None => {}
                }
                Ok(Some(Next::Finish(Outcome::Completed("and more".to_owned()))))
            })
            .await;
        if refused && done.is_ok() {
            model.breach(format!("task {id} ended with a new child"));
        }
        done
    }
}
