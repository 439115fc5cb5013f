//! One life of the object between two crashes.

use crate::model::{Model, Survived};
use crate::support;
use futures::FutureExt;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use tidehold_harness::{Harness, HarnessOptions, Settings};
use tidehold_session::Subscription;
use tidehold_session::host::Host;
use tidehold_session::records::EntryRecord;
use tidehold_session::storage::{
    ConversationQuery, EntryQuery, ScanOrder, Storage, StorageError, SubmissionQuery, TaskQuery,
};
use tidehold_simulator::{AlarmClock, Rough, Weather, World};
use tidehold_storage::MemoryStorage;
use tidehold_tasks::Alarm;

/// What opened the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayIn {
    Alarm,
    Call,
}

struct ObjectAlarm(Rc<AlarmClock>, Rc<Model>);

impl Alarm for ObjectAlarm {
    fn arm(&self, at: Option<u64>) {
        self.1.trace.line(|| format!("alarm: {at:?}"));
        self.1.touch();
        self.0.set(at);
    }
}

/// What a life starts from.
pub struct Ground {
    pub world: World,
    pub model: Rc<Model>,
    pub alarm: Rc<AlarmClock>,
    pub weather: Weather,
    pub seed: u64,
}

pub struct Life {
    pub storage: Rc<Rough<MemoryStorage>>,
    harness: Rc<OnceCell<Harness>>,
    stillborn: Rc<Cell<bool>>,
    subscription: Rc<RefCell<Option<Subscription>>>,
}

impl Life {
    pub fn begin(ground: &Ground, storage: MemoryStorage, way_in: WayIn) -> Self {
        let storage = Rc::new(Rough::new(storage, &ground.world, ground.weather, ground.seed));
        let life = Self {
            storage,
            harness: Rc::default(),
            stillborn: Rc::default(),
            subscription: Rc::default(),
        };
        let host = ground.world.host();
        let options = options(ground, Rc::clone(&host));
        let (slot, stillborn) = (Rc::clone(&life.harness), Rc::clone(&life.stillborn));
        let (model, alarm) = (Rc::clone(&ground.model), Rc::clone(&ground.alarm));
        let (storage, subscribed) = (
            Rc::clone(&life.storage) as Rc<dyn Storage>,
            Rc::clone(&life.subscription),
        );
        ground.world.spawn(async move {
            let Ok(harness) = Harness::open(storage, host, options, |_| {}).await else {
                return stillborn.set(true);
            };
            // The open itself may write: what it wrote is what is stored.
            model.opened(&harness).await;
            let committed = Rc::clone(&model);
            let subscription = harness
                .session()
                .subscribe_commits(move |publication| committed.publish(publication));
            *subscribed.borrow_mut() = Some(subscription);
            model
                .trace
                .line(|| format!("open by {way_in:?}, alarm {:?}", alarm.at()));
            match way_in {
                WayIn::Alarm => {
                    harness.scheduler().on_alarm();
                    alarm.handled();
                }
                WayIn::Call => harness.resume(),
            }
            let _empty = slot.set(harness);
        });
        life
    }

    /// The harness once open and not over.
    pub fn harness(&self) -> Option<&Harness> {
        self.harness
            .get()
            .filter(|harness| harness.session().health().is_ok())
    }

    pub fn is_open(&self) -> bool {
        self.harness.get().is_some()
    }

    pub fn is_over(&self) -> bool {
        self.stillborn.get() || (self.is_open() && self.harness().is_none())
    }

    /// Loses the memory.
    pub fn end(self, world: &World) -> MemoryStorage {
        world.crash();
        drop(self.subscription.take());
        self.storage.inner().reopen()
    }
}

fn options(ground: &Ground, host: Rc<dyn Host>) -> HarnessOptions {
    let alarm = Rc::new(ObjectAlarm(Rc::clone(&ground.alarm), Rc::clone(&ground.model)));
    let reported = Rc::clone(&ground.model);
    let options = support::options(host, alarm, Rc::default(), &Settings::default(), support::echo());
    HarnessOptions {
        // No timer in memory for parked tasks: only the alarm brings them back.
        timer_horizon_ms: 0,
        on_report: Rc::new(move |text| reported.session_reported(&text)),
        ..options
    }
}

/// Everything in storage.
pub fn survived(storage: &MemoryStorage) -> Survived {
    let read = async {
        let submissions = storage
            .scan_submissions(&SubmissionQuery::default(), usize::MAX, None)
            .await?;
        let tasks = storage
            .scan_tasks(&TaskQuery::default(), usize::MAX, None)
            .await?;
        let rooms = storage
            .scan_conversations(&ConversationQuery::default(), usize::MAX, None)
            .await?;
        let mut entries: Vec<EntryRecord> = Vec::new();
        for room in rooms.items {
            let query = EntryQuery {
                conversation_id: room.id,
                min_entry_id: None,
                max_entry_id: None,
                order: Some(ScanOrder::Ascending),
            };
            entries.extend(storage.scan_entries(&query, usize::MAX, None).await?.items);
        }
        Ok::<_, StorageError>(Survived {
            submissions: submissions.items,
            entries,
            tasks: tasks.items,
            head: storage.head().await?,
        })
    };
    let read = read.now_or_never().expect("memory answers at once");
    read.expect("memory answers")
}
