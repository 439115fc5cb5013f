//! Checkouts in the simulator's world (`crates/simulator`): one number decides the cards, the bank's moods, what is polled next,
//! how long storage takes, where a process ends and when somebody calls the whole off. After a crash only the alarm brings
//! a checkout back. `TIDEHOLD_CHECKOUT_SEEDS=N` tells more of them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

#[path = "seeds/bank.rs"]
mod bank;
#[path = "seeds/life.rs"]
mod life;

use bank::MoodyBank;
use life::{Ground, Life};
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskRecord};
use tidehold_simulator::{
    AlarmClock, Campaign, Doom, Play, Random, Standing, Tally, Telling, Told, Trace, Weather, World,
};
use tidehold_storage::MemoryStorage;

const CENTS: u64 = 1_000;
const START: u64 = 1_000_000;

const CAMPAIGN: Campaign = Campaign {
    package: "tidehold-example-checkout",
    test: "--test seeds every_cent_is_where_the_outcome_says",
    count_variable: "TIDEHOLD_CHECKOUT_SEEDS",
    seeds: 500,
    events: 12,
};

#[test]
fn every_cent_is_where_the_outcome_says() {
    let total = CAMPAIGN.run(&tell);
    if total.get("seeds") >= 100 {
        let everything = ["completed", "failed", "aborted", "crashes", "alarms"];
        assert!(everything.iter().all(|what| total.get(what) > 0), "{total}");
    }
}

struct Story {
    ground: Ground,
    bank: Rc<MoodyBank>,
    cards: Vec<&'static str>,
    random: Random,
    tally: Tally,
    /// `None` only inside of a crash.
    life: Option<Life>,
    checkout: TaskId,
}

fn tell(telling: &Telling) -> Told {
    let random = Random::at(telling.seed, 1);
    let world = World::new(telling.seed, START);
    telling.trace.at(START);
    let bank = Rc::new(MoodyBank::new(&world, telling.seed, telling.trace.clone()));
    let cards: Vec<_> = (0..1 + random.below(5))
        .map(|_| if random.percent(15) { "expired" } else { "good" })
        .collect();
    let mut ground = Ground {
        world,
        alarm: Rc::new(AlarmClock::default()),
        weather: Weather::Calm,
        trace: telling.trace.clone(),
        seed: telling.seed,
    };
    let storage = MemoryStorage::new("simulated");
    let (life, checkout) = Life::with_checkout(&ground, storage, &bank, &cards);
    ground.weather = Weather::draw(&random);
    let mut story = Story {
        ground,
        bank,
        cards,
        random,
        tally: Tally::default(),
        life: Some(life),
        checkout,
    };
    for _ in 0..telling.events {
        story.event();
        let (steps, patience) = (story.random.below(120), story.random.below(15_000));
        story.run(steps, patience);
    }
    story.end()
}

impl Play for Story {
    fn world(&self) -> &World {
        &self.ground.world
    }

    fn alarm(&self) -> &AlarmClock {
        &self.ground.alarm
    }

    fn trace(&self) -> &Trace {
        &self.ground.trace
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn is_broken(&self) -> bool {
        !self.bank.breaches().is_empty()
    }

    fn standing(&self) -> Standing {
        self.life().standing()
    }

    fn stepped(&mut self) {}

    fn rests(&mut self) {}

    /// Memory is lost, at this step; nothing but the alarm opens the session again.
    fn crash(&mut self) {
        self.tally.count("crashes");
        self.ground.trace.line(|| "-- crash".to_owned());
        let storage = self.life.take().unwrap().end(&self.ground.world);
        self.ground.alarm.crashed(self.ground.world.now());
        self.life = Some(Life::cold(storage));
    }

    fn wake(&mut self) {
        self.life.as_mut().unwrap().begin(&self.ground, &self.bank);
    }

    fn handle_alarm(&mut self) {
        if let Some(scheduler) = self.life().scheduler() {
            scheduler.on_alarm();
            self.ground.alarm.handled();
        }
    }
}

impl Story {
    fn event(&mut self) {
        match self.random.below(100) {
            0..35 => self.crash(),
            35..60 => self.life().storage.doom(Some(Doom::draw(&self.random))),
            60..68 => self.call_off(),
            68..76 => {
                let now = self.ground.world.now();
                self.jump_to(now + self.random.below(30_000));
            }
            _ => {}
        }
    }

    fn life(&self) -> &Life {
        self.life.as_ref().unwrap()
    }

    /// Lost with this life, it is lost: nobody asks again.
    fn call_off(&self) {
        let id = self.checkout;
        if let Some(scheduler) = self.life().scheduler() {
            self.ground.trace.line(|| "-- somebody calls it off".to_owned());
            self.ground
                .world
                .spawn(async move { drop(scheduler.abort_task(id).await) });
        }
    }

    /// Undisturbed, it ends by the alarm alone; and then nothing is left to wake for.
    fn end(mut self) -> Told {
        self.ground
            .trace
            .line(|| "-- from here on nothing disturbs".to_owned());
        self.ground.weather = Weather::Calm;
        self.crash();
        self.run(100_000, 100_000_000);
        let tasks = self.bank.tasks();
        let record = tasks.iter().find(|task| task.id == self.checkout).unwrap();
        let ended = record
            .ended_at
            .unwrap_or_else(|| panic!("it does not end: {record:?}"));
        assert_eq!(self.ground.alarm.at(), None, "nothing is left to wake for");
        self.tally.count(self.check(record));
        for payment in tasks.iter().filter(|task| task.owner == Some(self.checkout)) {
            assert!(
                payment.ended_at.is_some_and(|at| at <= ended),
                "bottom-up: {payment:?}"
            );
        }
        let (breaches, tally) = (self.bank.breaches(), self.tally);
        self.ground.world.crash();
        Told { tally, breaches }
    }

    /// The outcome, which the balance agrees with.
    fn check(&self, record: &TaskRecord) -> &'static str {
        let ledger = &self.bank.ledger;
        assert!(ledger.keys() <= self.cards.len(), "a key a card");
        let (paid, outcome) = match record.outcome().unwrap() {
            TaskOutcome::Completed { .. } => {
                assert!(self.cards.iter().all(|card| *card == "good"));
                (CENTS * self.cards.len() as u64, "completed")
            }
            TaskOutcome::Failed { .. } => {
                assert!(self.cards.contains(&"expired"));
                (0, "failed")
            }
            TaskOutcome::Aborted { .. } => {
                assert!(record.abort_requested);
                (0, "aborted")
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(ledger.balance(), paid, "{record:?}");
        outcome
    }
}
