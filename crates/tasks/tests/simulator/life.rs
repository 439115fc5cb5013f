//! One life of the object between two crashes. Nothing in memory survives it; storage and the alarm do.

use super::actor::{Actor, Fate};
use super::model::Model;
use crate::core::sabotage::Sabotage;
use crate::{AbortScope, Alarm, Scheduler, SchedulerOptions, Task, TaskOptions, TaskRegistry, create};
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::storage::{ConversationQuery, Storage, TaskQuery};
use tidehold_session::{Session, SessionOptions, Subscription, Tx};
use tidehold_storage::MemoryStorage;
use tidehold_storage::fault::{CommitFault, Countdown};

/// The platform's alarm.
#[derive(Default)]
pub struct Clock(pub Cell<Option<u64>>);

impl Alarm for Clock {
    fn arm(&self, at: Option<u64>) {
        self.0.set(at);
    }
}

pub struct Life {
    runtime: LocalRuntime,
    storage: Rc<Countdown<MemoryStorage>>,
    session: Session,
    scheduler: Scheduler,
    model: Rc<Model>,
    alarm: Rc<Clock>,
    sabotage: Sabotage,
    registry: TaskRegistry,
    deployed: Deployed,
    _subscription: Subscription,
}

/// The installed version of the actor's definition, if any.
pub type Deployed = Option<u32>;

fn install(registry: &TaskRegistry, model: &Rc<Model>, deployed: Deployed) {
    let model = Rc::clone(model);
    match deployed {
        None => registry.remove(Actor::<1>::NAME),
        Some(1) => registry.install(Rc::new(Actor::<1>(model))),
        Some(2) => registry.install(Rc::new(Actor::<2>(model))),
        Some(_) => registry.install(Rc::new(Actor::<LATEST>(model))),
    }
}

pub const LATEST: u32 = 3;

impl Life {
    pub fn begin(
        storage: MemoryStorage,
        model: Rc<Model>,
        alarm: Rc<Clock>,
        now: u64,
        sabotage: Sabotage,
        deployed: Deployed,
    ) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(now, 3);
        let storage = Rc::new(Countdown::new(storage));
        let reported = Rc::clone(&model);
        let options = SessionOptions {
            on_report: Some(Rc::new(move |text| reported.session_reported(text))),
            ..SessionOptions::default()
        };
        let session = Session::open(storage.clone(), runtime.host(), options);
        let committed = Rc::clone(&model);
        let subscription = session.subscribe_commits(move |publication| committed.publish(publication));
        let registry = TaskRegistry::new();
        install(&registry, &model, deployed);
        // No timer in memory for parked tasks: only the alarm brings them back.
        let options = SchedulerOptions {
            alarm: alarm.clone(),
            timer_horizon_ms: 0,
            ..SchedulerOptions::default()
        };
        let (opening, known) = (session.clone(), registry.clone());
        let scheduler = runtime.run(async move { Scheduler::open(&opening, known, options).await });
        let scheduler = scheduler.expect("open settles").expect("open succeeds");
        scheduler.0.state.borrow_mut().sabotage(sabotage);
        Self {
            runtime,
            storage,
            session,
            scheduler,
            model,
            alarm,
            sabotage,
            registry,
            deployed,
            _subscription: subscription,
        }
    }

    pub fn now(&self) -> u64 {
        self.runtime.host().now()
    }

    pub fn has_failed(&self) -> bool {
        self.session.health().is_err()
    }

    /// Loses the memory and opens the storage again.
    pub fn crash(self) -> Self {
        let now = self.now();
        let Self {
            runtime,
            storage,
            model,
            alarm,
            sabotage,
            deployed,
            session,
            scheduler,
            ..
        } = self;
        drop((scheduler, session));
        drop(runtime);
        let survivor = storage.inner().reopen();
        let (tasks, conversations) = stored(&survivor);
        model.restart(tasks, conversations);
        Self::begin(survivor, model, alarm, now, sabotage, deployed)
    }

    /// Another definition from here on; the next life starts with it.
    pub fn deploy(&mut self, deployed: Deployed) {
        self.deployed = deployed;
        install(&self.registry, &self.model, deployed);
        self.settle();
    }

    /// Lets a commit fail: the `commits`-th from now, before or after it was stored.
    pub fn arm_crash(&self, commits: u64, fault: CommitFault) {
        self.storage.allow_commits(Some(commits), fault);
    }

    pub fn create(&mut self, seed: u64) {
        let (session, actor) = (self.session.clone(), Actor::<1>(Rc::clone(&self.model)));
        self.call(async move {
            let created = session.commit(async move |tx: Tx| {
                if tx.conversation(ROOT_CONVERSATION_ID).await?.is_none() {
                    tx.create_root().await?;
                }
                let input = Fate { seed, depth: 3 };
                create(
                    &tx,
                    &actor,
                    &input,
                    TaskOptions::in_conversation(ROOT_CONVERSATION_ID),
                )
                .await
            });
            drop(created.await);
        });
    }

    pub fn abort(&mut self, id: TaskId) {
        let scheduler = self.scheduler.clone();
        self.call(async move { drop(scheduler.abort_task(id).await) });
    }

    pub fn abort_all(&mut self, scope: AbortScope) {
        let (session, scheduler) = (self.session.clone(), self.scheduler.clone());
        self.call(async move {
            let marked = session
                .commit(async move |tx: Tx| scheduler.mark_aborts(&tx, ROOT_CONVERSATION_ID, scope).await);
            drop(marked.await);
        });
    }

    pub fn poke(&mut self, id: TaskId) {
        self.model.poke(id);
        let (scheduler, model) = (self.scheduler.clone(), Rc::clone(&self.model));
        self.call(async move {
            if scheduler.poke(id).await.is_ok_and(|live| live) {
                model.poke_taken(id);
            }
        });
    }

    pub fn resume_by_call(&mut self) {
        self.scheduler.resume_by_call();
        self.settle();
    }

    /// A call runs without waiting for its end: only what can run now runs.
    fn call(&mut self, call: impl Future<Output = ()> + 'static) {
        self.scheduler.resume_by_call();
        self.session.spawn(call);
        self.settle();
    }

    fn settle(&mut self) {
        self.runtime.settle();
        if !self.has_failed() && self.scheduler.is_scheduling() {
            self.model.settled();
        }
    }

    /// Lets time pass; the alarm rings when it is due.
    pub fn advance(&mut self, millis: u64) {
        let until = self.now() + millis;
        while !self.has_failed() {
            match self.alarm.0.get().filter(|at| *at <= until) {
                Some(at) => {
                    self.runtime.advance(at.saturating_sub(self.now()));
                    // Work in memory may have moved it meanwhile.
                    if self.alarm.0.get().is_some_and(|at| at <= self.now()) {
                        self.alarm.0.set(None);
                        self.scheduler.on_alarm();
                    }
                }
                None => {
                    self.runtime.advance(until.saturating_sub(self.now()));
                    break;
                }
            }
            self.settle();
        }
        self.settle();
    }

    /// How long until the alarm rings.
    pub fn until_alarm(&self) -> Option<u64> {
        self.alarm.0.get().map(|at| at.saturating_sub(self.now()))
    }
}

fn stored(
    storage: &MemoryStorage,
) -> (
    Vec<tidehold_session::records::TaskRecord>,
    Vec<tidehold_session::records::ConversationRecord>,
) {
    let (tasks, conversations) = (TaskQuery::default(), ConversationQuery::default());
    let both = async {
        let tasks = storage.scan_tasks(&tasks, usize::MAX, None).await;
        (
            tasks,
            storage.scan_conversations(&conversations, usize::MAX, None).await,
        )
    };
    let (tasks, conversations) = futures::executor::block_on(both);
    (tasks.expect("memory").items, conversations.expect("memory").items)
}
