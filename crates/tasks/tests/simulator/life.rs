//! One life of the object between two crashes. Nothing in memory survives it; storage and the alarm do.

use super::actor::Actor;
use super::model::{Model, Survived, WayIn};
use crate::recovery::{self, RECOVERY};
use crate::{Alarm, Scheduler, SchedulerOptions, Task, TaskRegistry};
use futures::FutureExt;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use tidehold_session::documents::{Point, TheSession, Token};
use tidehold_session::storage::{ConversationQuery, Storage, TaskQuery};
use tidehold_session::{Session, SessionOptions, Subscription};
use tidehold_simulator::{AlarmClock, Rough, Weather, World};
use tidehold_storage::MemoryStorage;

/// The installed version of the actor's definition, if any.
pub type Deployed = Option<u32>;

/// The one that takes every task.
pub const LATEST: u32 = 4;

struct ObjectAlarm(Rc<AlarmClock>, Rc<Model>);

impl Alarm for ObjectAlarm {
    fn arm(&self, at: Option<u64>) {
        self.1.trace.line(|| format!("alarm: {at:?}"));
        self.1.touch();
        self.0.set(at);
    }
}

pub struct Life {
    pub storage: Rc<Rough<MemoryStorage>>,
    pub session: Session,
    pub scheduler: Rc<OnceCell<Scheduler>>,
    /// The open failed.
    pub stillborn: Rc<Cell<bool>>,
    pub registry: TaskRegistry,
    subscription: RefCell<Option<Subscription>>,
}

/// What a life starts from.
pub struct Ground {
    pub world: World,
    pub model: Rc<Model>,
    pub alarm: Rc<AlarmClock>,
    pub deployed: Deployed,
    pub weather: Weather,
    pub seed: u64,
}

pub fn install(registry: &TaskRegistry, model: &Rc<Model>, deployed: Deployed) {
    let model = Rc::clone(model);
    match deployed {
        None => registry.remove(Actor::<1>::NAME),
        Some(1) => registry.install(Rc::new(Actor::<1>(model))),
        Some(2) => registry.install(Rc::new(Actor::<2>(model))),
        Some(3) => registry.install(Rc::new(Actor::<3>(model))),
        Some(_) => registry.install(Rc::new(Actor::<LATEST>(model))),
    }
}

impl Life {
    /// Opens what is stored. It takes as long as storage does.
    pub fn begin(ground: &Ground, storage: MemoryStorage, way_in: WayIn) -> Self {
        let Ground {
            world,
            model,
            deployed,
            weather,
            seed,
            ..
        } = ground;
        let storage = Rc::new(Rough::new(storage, world, *weather, *seed));
        let reported = Rc::clone(model);
        let options = SessionOptions {
            on_report: Some(Rc::new(move |text| reported.session_reported(text))),
            ..SessionOptions::default()
        };
        let session = Session::open(storage.clone(), world.host(), options);
        let committed = Rc::clone(model);
        let subscription = session.subscribe_commits(move |publication| committed.publish(publication));
        let registry = TaskRegistry::new();
        install(&registry, model, *deployed);
        let life = Self {
            storage,
            session,
            scheduler: Rc::default(),
            stillborn: Rc::default(),
            registry,
            subscription: RefCell::new(Some(subscription)),
        };
        life.open(ground, way_in);
        life
    }

    fn open(&self, ground: &Ground, way_in: WayIn) {
        // No timer in memory for parked tasks: only the alarm brings them back.
        let options = SchedulerOptions {
            alarm: Rc::new(ObjectAlarm(Rc::clone(&ground.alarm), Rc::clone(&ground.model))),
            timer_horizon_ms: 0,
            ..SchedulerOptions::default()
        };
        let (session, registry) = (self.session.clone(), self.registry.clone());
        let (slot, stillborn) = (Rc::clone(&self.scheduler), Rc::clone(&self.stillborn));
        let (model, alarm) = (Rc::clone(&ground.model), Rc::clone(&ground.alarm));
        ground.world.spawn(async move {
            let Ok(scheduler) = Scheduler::open(&session, registry, options).await else {
                if session.health().is_ok() {
                    model.breach("the open failed, and the session did not".to_owned());
                }
                stillborn.set(true);
                return;
            };
            model.opened(way_in, alarm.at());
            match way_in {
                WayIn::Alarm => {
                    scheduler.on_alarm();
                    alarm.handled();
                }
                WayIn::Call => scheduler.resume_by_call(),
                WayIn::Look => {}
            }
            let _empty = slot.set(scheduler);
        });
    }

    pub fn is_over(&self) -> bool {
        self.session.health().is_err()
    }

    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.scheduler.get()
    }

    /// Whether everything that follows from what is known should follow.
    pub fn is_scheduling(&self) -> bool {
        !self.is_over() && self.scheduler().is_some_and(Scheduler::is_scheduling)
    }

    /// Loses the memory.
    pub fn end(self, world: &World) -> MemoryStorage {
        world.crash();
        drop(self.subscription.take());
        self.storage.inner().reopen()
    }
}

/// Everything in storage.
pub fn survived(storage: &MemoryStorage) -> Survived {
    let read = async {
        let (tasks, rooms) = (TaskQuery::default(), ConversationQuery::default());
        let tasks = storage.scan_tasks(&tasks, usize::MAX, None).await?;
        let rooms = storage.scan_conversations(&rooms, usize::MAX, None).await?;
        let recovery = storage
            .find_document(&(&RECOVERY).address(TheSession), Point::Current)
            .await?;
        let recovery = match recovery {
            Some(record) => storage.document(record.id, Point::Current).await?,
            None => None,
        };
        Ok::<_, tidehold_session::storage::StorageError>(Survived {
            tasks: tasks.items,
            rooms: rooms.items,
            head: storage.head().await?,
            opens: recovery.map_or(0, |document| recovery::read(&document.value)),
        })
    };
    let read = read.now_or_never().expect("memory answers at once");
    read.expect("memory answers")
}
