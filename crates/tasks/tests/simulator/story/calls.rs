//! What callers do. A call runs with everything else, and nobody waits for it.

use super::{Life, Story};
use crate::simulator::actor::{Actor, Fate};
use crate::simulator::model::{Awaits, Calling, Reach};
use crate::{AbortReply, AbortScope, TaskOptions, create};
use futures::future::abortable;
use std::future::Future;
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::ConversationOwnership;
use tidehold_session::{SessionError, Tx};

/// Levels of work below a new task.
const DEPTH: u64 = 3;

impl Story {
    /// A life that takes calls.
    fn open_life(&self) -> Option<&Life> {
        self.life()
            .filter(|life| life.scheduler().is_some() && !life.is_over())
    }

    fn call<T: 'static>(
        &self,
        name: String,
        awaits: Awaits,
        call: impl Future<Output = Result<T, SessionError>> + 'static,
        then: impl FnOnce(T) + 'static,
    ) {
        let Some(life) = self.open_life() else { return };
        let calling = self.ground.model.call_begins(name, awaits);
        self.spawn(life, calling, call, then);
    }

    fn spawn<T: 'static>(
        &self,
        life: &Life,
        calling: Calling,
        call: impl Future<Output = Result<T, SessionError>> + 'static,
        then: impl FnOnce(T) + 'static,
    ) {
        let (model, session) = (Rc::clone(&self.ground.model), life.session.clone());
        self.ground.world.spawn(async move {
            model.call_starts(&calling);
            let outcome = call.await;
            model.call_ends(&calling, &outcome, session.health().is_err());
            drop(calling);
            if let Ok(value) = outcome {
                then(value);
            }
        });
    }

    /// A new tree of tasks, mostly at the root, sometimes in a conversation that a task owns or owned.
    pub(super) fn create(&mut self) {
        let Some(life) = self.open_life() else { return };
        self.tally.count("trees");
        let rooms = self.ground.model.rooms();
        let room = self
            .random
            .pick(&rooms)
            .copied()
            .filter(|_| self.random.percent(20));
        let room = room.unwrap_or(ROOT_CONVERSATION_ID);
        let fresh = self.random.percent(5);
        let fate = Fate {
            seed: self.random.seed(),
            depth: DEPTH,
            plain: false,
        };
        let background = self.random.percent(15);
        let (session, actor) = (life.session.clone(), Actor::<1>(Rc::clone(&self.ground.model)));
        let resume = life.scheduler().cloned();
        let made = async move {
            if let Some(scheduler) = resume {
                scheduler.resume_by_call();
            }
            session
                .commit(async move |tx: Tx| {
                    let room = place(&tx, room, fresh).await?;
                    let options = TaskOptions::in_conversation(room);
                    let options = if background { options.background() } else { options };
                    create(&tx, &actor, &fate, options).await
                })
                .await
        };
        self.call(format!("create in {room}"), Awaits::Nothing, made, |_| {});
    }

    pub(super) fn abort(&mut self) {
        let (live, known) = (self.ground.model.live(), self.ground.model.known());
        let from = if self.random.percent(90) { live } else { known };
        let Some(id) = self.random.pick(&from).copied() else {
            return;
        };
        let Some(scheduler) = self.open_life().and_then(Life::scheduler).cloned() else {
            return;
        };
        self.tally.count("aborts");
        let model = Rc::clone(&self.ground.model);
        model.asks_to_abort(id);
        let abort = async move {
            scheduler.resume_by_call();
            scheduler.abort_task(id).await
        };
        self.call(
            format!("abort {id}"),
            Awaits::Nothing,
            abort,
            move |reply| match reply {
                AbortReply::Marked => model.was_marked(id),
                AbortReply::Terminal => model.was_terminal(id),
            },
        );
    }

    pub(super) fn abort_all(&mut self) {
        let Some(life) = self.open_life() else { return };
        let Some(scheduler) = life.scheduler().cloned() else {
            return;
        };
        let rooms = self.ground.model.rooms();
        let Some(room) = self.random.pick(&rooms).copied() else {
            return;
        };
        let (scope, reach) = if self.random.percent(60) {
            (AbortScope::Foreground, Reach::Foreground)
        } else {
            (AbortScope::Everything, Reach::Everything)
        };
        self.tally.count("aborts");
        let model = &self.ground.model;
        let calling = model.call_begins(format!("abort all in {room}, {scope:?}"), Awaits::Nothing);
        model.asks_to_abort_all(&calling, room, reach);
        let session = life.session.clone();
        let abort = async move {
            scheduler.resume_by_call();
            session
                .commit(async move |tx: Tx| scheduler.mark_aborts(&tx, room, scope).await)
                .await
        };
        self.spawn(life, calling, abort, |_| {});
    }

    pub(super) fn poke(&mut self) {
        let live = self.ground.model.live();
        if let Some(id) = self.random.pick(&live).copied() {
            self.poke_task(id);
        }
    }

    pub(super) fn poke_task(&mut self, id: TaskId) {
        let Some(scheduler) = self.open_life().and_then(Life::scheduler).cloned() else {
            return;
        };
        self.tally.count("pokes");
        let model = Rc::clone(&self.ground.model);
        model.poke(id);
        let poke = async move { scheduler.poke(id).await };
        self.call(format!("poke {id}"), Awaits::Nothing, poke, move |live| {
            if live {
                model.poke_taken(id);
            }
        });
    }

    /// A receipt, or idle of everything or of one conversation.
    pub(super) fn wait(&mut self) {
        let Some(life) = self.open_life() else { return };
        let Some(scheduler) = life.scheduler().cloned() else {
            return;
        };
        self.tally.count("waits");
        let (known, rooms) = (self.ground.model.known(), self.ground.model.rooms());
        if self.random.percent(60) {
            let Some(id) = self.random.pick(&known).copied() else {
                return;
            };
            let calling = self
                .ground
                .model
                .call_begins(format!("wait for {id}"), Awaits::Receipt(id));
            let (wait, handle) = abortable(async move { scheduler.wait_for_task(id).await });
            let model = Rc::clone(&self.ground.model);
            let session = life.session.clone();
            self.waits.push(handle);
            self.ground.world.spawn(async move {
                model.call_starts(&calling);
                if let Ok(outcome) = wait.await {
                    model.call_ends(&calling, &outcome, session.health().is_err());
                    if let Ok(record) = outcome {
                        model.got_receipt(id, &record);
                    }
                }
                drop(calling);
            });
            return;
        }
        let room = self
            .random
            .pick(&rooms)
            .copied()
            .filter(|_| self.random.percent(60));
        let calling = self
            .ground
            .model
            .call_begins(format!("wait for idle of {room:?}"), Awaits::Idle(room));
        let (wait, handle) = abortable(async move { scheduler.wait_for_idle(room).await });
        let (model, session) = (Rc::clone(&self.ground.model), life.session.clone());
        self.waits.push(handle);
        self.ground.world.spawn(async move {
            model.call_starts(&calling);
            if let Ok(outcome) = wait.await {
                model.call_ends(&calling, &outcome, session.health().is_err());
            }
            drop(calling);
        });
    }

    /// Somebody does not wait any more. That changes nothing else.
    pub(super) fn cancel_a_wait(&mut self) {
        if let Some(at) = self.random.index(self.waits.len()) {
            self.waits.swap_remove(at).abort();
        }
    }

    pub(super) fn close(&mut self) {
        let Some(life) = self.open_life() else { return };
        self.tally.count("closes");
        let (session, model) = (life.session.clone(), Rc::clone(&self.ground.model));
        let close = async move { session.close().await };
        self.call("close".to_owned(), Awaits::Nothing, close, move |()| {
            model.is_closed()
        });
    }
}

/// The root is made by who first needs it.
async fn place(tx: &Tx, room: ConversationId, fresh: bool) -> Result<ConversationId, SessionError> {
    if tx.conversation(ROOT_CONVERSATION_ID).await?.is_none() {
        return Ok(tx.create_root().await?.id);
    }
    if fresh {
        return Ok(tx.create_conversation(ConversationOwnership::Ownerless).await?.id);
    }
    Ok(room)
}
