//! One seed's story: calls, time and crashes in any order and at any step, then an undisturbed end.

use crate::life::{Ground, Life, WayIn};
use crate::model::Model;
use std::rc::Rc;
use tidehold_simulator::{AlarmClock, Doom, Play, Random, Tally, Telling, Told, Weather, World};
use tidehold_storage::MemoryStorage;

const START: u64 = 1_000_000;

pub struct Story {
    pub ground: Ground,
    pub random: Random,
    pub tally: Tally,
    pub object: Object,
    /// Work is stored of which the alarm knows nothing: the answer to its commit was lost. Whoever asked for it was told
    /// nothing either, and comes again.
    pub unseen: bool,
    /// Its end was looked at.
    pub over: bool,
    /// Request ids in use.
    pub requests: Vec<(String, String)>,
}

/// The object that the story is about.
pub enum Object {
    /// Not in memory.
    Cold(MemoryStorage),
    Alive(Life),
    /// In between; only inside of a call.
    Gone,
}

pub fn tell(telling: &Telling) -> Told {
    let random = Random::at(telling.seed, 1);
    let world = World::new(telling.seed, START);
    telling.trace.at(START);
    let ground = Ground {
        world,
        model: Rc::new(Model::new(telling.trace.clone())),
        alarm: Rc::new(AlarmClock::default()),
        weather: Weather::draw(&random),
        seed: telling.seed,
    };
    let mut story = Story {
        ground,
        random,
        tally: Tally::default(),
        object: Object::Cold(MemoryStorage::new("simulated")),
        unseen: false,
        over: false,
        requests: Vec::new(),
    };
    for _ in 0..telling.events {
        if story.is_broken() {
            break;
        }
        story.event();
        let (steps, patience) = (story.random.below(80), story.random.below(1_500));
        story.run(steps, patience);
    }
    story.ends();
    story.tells()
}

impl Story {
    fn tells(self) -> Told {
        let (answered, unanswered) = self.ground.model.answers();
        self.tally.add("answers", answered);
        self.tally.add("unanswered", unanswered);
        let breaches = self.ground.model.breaches();
        self.ground.world.crash();
        let tally = self.tally;
        Told { tally, breaches }
    }

    fn event(&mut self) {
        if matches!(self.object, Object::Cold(_)) && self.random.percent(60) {
            self.begin(WayIn::Call);
            self.run(30, 40);
        }
        match self.random.below(100) {
            0..35 => self.submit(),
            35..43 => self.wait(),
            43..50 => self.withdraw(),
            50..55 => self.abort_all(),
            55..60 => self.reset(),
            60..64 => self.create_room(),
            64..74 => self.crash(),
            74..82 => {
                if let Object::Alive(life) = &self.object {
                    life.storage.doom(Some(Doom::draw(&self.random)));
                }
            }
            82..85 => self.close(),
            85..88 => self.jump(),
            _ => {
                let patience = self.random.below(20_000);
                self.run(500, patience);
            }
        }
    }

    /// The object opens, unless it is alive.
    pub fn begin(&mut self, way_in: WayIn) {
        match std::mem::replace(&mut self.object, Object::Gone) {
            Object::Cold(storage) => {
                self.over = false;
                self.ground.model.trace.line(|| format!("-- opens by {way_in:?}"));
                self.object = Object::Alive(Life::begin(&self.ground, storage, way_in));
            }
            other => self.object = other,
        }
    }

    pub fn life(&self) -> Option<&Life> {
        match &self.object {
            Object::Alive(life) => Some(life),
            Object::Cold(_) | Object::Gone => None,
        }
    }

    /// Undisturbed, everything settles, by the alarm alone, but for what failed runs left in a queue.
    fn ends(&mut self) {
        if self.is_broken() {
            return;
        }
        self.ground
            .model
            .trace
            .line(|| "-- from here on nothing disturbs".to_owned());
        self.ground.weather = Weather::Calm;
        self.crash();
        for _ in 0..3_000 {
            if self.is_broken() {
                return;
            }
            self.settle();
            if self.life().is_some_and(Life::is_over) {
                self.crash();
            }
            if matches!(self.object, Object::Cold(_)) && self.unseen {
                self.begin(WayIn::Call);
            } else if !self.pass_time(u64::MAX) && !self.nudge() {
                break;
            }
        }
        let model = &self.ground.model;
        let (unsettled, live) = (model.unsettled(), model.live_tasks());
        if !unsettled.is_empty() || !live.is_empty() {
            model.breach(format!(
                "submissions {unsettled:?} and tasks {live:?} never settled"
            ));
        }
        if let Some(at) = self.ground.alarm.at() {
            model.breach(format!("nothing is live, and an alarm is set for {at}"));
        }
        self.look_back();
    }

    /// What a failed run left in the queue goes on with the next input. `false`: nothing is queued.
    fn nudge(&mut self) -> bool {
        let waiting = self.ground.model.waiting_rooms();
        if waiting.is_empty() {
            return false;
        }
        self.begin(WayIn::Call);
        self.settle();
        for room in waiting {
            self.submit_to(room, "and now?");
        }
        true
    }

    /// A last look, as a caller has it: nothing is left of what ran, and every context can be derived.
    fn look_back(&mut self) {
        if self.is_broken() {
            return;
        }
        self.begin(WayIn::Call);
        self.settle();
        let model = Rc::clone(&self.ground.model);
        let Some(harness) = self.life().and_then(Life::harness).cloned() else {
            return model.breach("an undisturbed open failed".to_owned());
        };
        self.ground.world.spawn(crate::calls::look_back(model, harness));
        self.settle();
    }
}
