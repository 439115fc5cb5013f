//! One life of the session between two crashes.

use crate::bank::MoodyBank;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use tidehold_example_checkout::*;
use tidehold_session::ids::{ROOT_CONVERSATION_ID as ROOT, TaskId};
use tidehold_session::{Session, SessionError, SessionOptions};
use tidehold_simulator::{AlarmClock, Rough, Standing, Trace, Weather, World};
use tidehold_storage::MemoryStorage;
use tidehold_tasks::{Alarm, Scheduler, SchedulerOptions, TaskOptions, TaskRegistry, create};

/// What a life starts from.
pub struct Ground {
    pub world: World,
    pub alarm: Rc<AlarmClock>,
    pub weather: Weather,
    pub trace: Trace,
    pub seed: u64,
}

struct ObjectAlarm(Rc<AlarmClock>, Trace);

impl Alarm for ObjectAlarm {
    fn arm(&self, at: Option<u64>) {
        self.1.line(|| format!("alarm: {at:?}"));
        self.0.set(at);
    }
}

type Open = Rc<OnceCell<(Session, Scheduler)>>;

/// Opens when its alarm rings.
pub struct Life {
    pub storage: Rc<Rough<MemoryStorage>>,
    begun: bool,
    open: Open,
    stillborn: Rc<Cell<bool>>,
}

impl Life {
    /// Nothing is in memory yet. Until it opens its storage is only looked at.
    pub fn cold(storage: Rc<Rough<MemoryStorage>>) -> Self {
        Self {
            storage,
            begun: false,
            open: Open::default(),
            stillborn: Rc::default(),
        }
    }

    /// A first life with a checkout that nothing has run yet.
    pub fn with_checkout(
        ground: &Ground,
        storage: MemoryStorage,
        bank: &Rc<MoodyBank>,
        cards: &[&str],
    ) -> (Self, TaskId) {
        let storage = Rc::new(Rough::new(storage, &ground.world, Weather::Calm, ground.seed));
        let mut life = Self::cold(storage);
        life.begin(ground, bank);
        while ground.world.step() {}
        let payments = cards.iter().map(|card| PaymentInput {
            card: (*card).to_owned(),
            cents: crate::CENTS,
        });
        let input = CheckoutInput {
            payments: payments.collect(),
        };
        let definition = Checkout::new(Rc::new(Payment::new(bank.clone())));
        let (session, _) = life.open.get().unwrap().clone();
        let created = Rc::new(Cell::new(None));
        let slot = Rc::clone(&created);
        ground.world.spawn(async move {
            let id = session
                .commit(async move |tx| {
                    tx.create_root().await?;
                    let options = TaskOptions::in_conversation(ROOT);
                    Ok::<_, SessionError>(create(&tx, &definition, &input, options).await?.id())
                })
                .await;
            slot.set(Some(id.unwrap()));
        });
        while created.get().is_none() {
            assert!(ground.world.step(), "the commit settles");
        }
        (life, created.get().unwrap())
    }

    pub fn begin(&mut self, ground: &Ground, bank: &Rc<MoodyBank>) {
        self.begun = true;
        self.storage.set_weather(ground.weather);
        bank.watches(&self.storage);
        let registry = TaskRegistry::new();
        install(&registry, bank.clone());
        // No timer in memory for parked tasks: only the alarm brings them back.
        let options = SchedulerOptions {
            alarm: Rc::new(ObjectAlarm(Rc::clone(&ground.alarm), ground.trace.clone())),
            timer_horizon_ms: 0,
            ..SchedulerOptions::default()
        };
        let storage = Rc::clone(&self.storage);
        let session = Session::open(storage, ground.world.host(), SessionOptions::default());
        let (open, stillborn, alarm) = (
            Rc::clone(&self.open),
            Rc::clone(&self.stillborn),
            Rc::clone(&ground.alarm),
        );
        ground.world.spawn(async move {
            match Scheduler::open(&session, registry, options).await {
                Ok(scheduler) => {
                    scheduler.on_alarm();
                    alarm.handled();
                    let _empty = open.set((session, scheduler));
                }
                Err(_) => stillborn.set(true),
            }
        });
    }

    /// The scheduler, once open.
    pub fn scheduler(&self) -> Option<Scheduler> {
        self.open.get().map(|(_, scheduler)| scheduler.clone())
    }

    pub fn standing(&self) -> Standing {
        let failed = |open: &(Session, Scheduler)| open.0.health().is_err();
        match self.open.get() {
            _ if self.stillborn.get() => Standing::Over,
            Some(open) if failed(open) => Standing::Over,
            Some(_) => Standing::Open,
            None if self.begun => Standing::Opening,
            None => Standing::Cold,
        }
    }

    /// Loses the memory; what is stored is opened anew.
    pub fn end(self, world: &World) -> Rc<Rough<MemoryStorage>> {
        world.crash();
        let survivor = self.storage.inner().reopen();
        Rc::new(Rough::new(survivor, world, Weather::Calm, world.steps()))
    }
}
