//! One seed's story: calls, time, deploys and crashes in any order and at any step, then an undisturbed end.

mod calls;
mod end;
mod time;

use super::life::{Deployed, Ground, LATEST, Life, install};
use super::model::{Model, WayIn};
use std::rc::Rc;
use tidehold_simulator::{AlarmClock, Doom, Play, Random, Tally, Telling, Told, Weather, World};
use tidehold_storage::MemoryStorage;

/// When stories begin.
const START: u64 = 1_000_000;

/// A story takes some thousands of steps. One that goes on and on makes no progress.
const MOST_STEPS: u64 = 400_000;

pub struct Story {
    ground: Ground,
    random: Random,
    tally: Tally,
    object: Object,
    /// Something is stored of which the alarm knows nothing: a commit whose answer was lost, or work that a deploy can
    /// take again. Someone has to look, and in the world someone does, since nobody was told that it is done.
    unseen: bool,
    /// Its end was looked at.
    over: bool,
    waits: Vec<futures::future::AbortHandle>,
}

/// The object that the story is about.
enum Object {
    /// Not in memory.
    Cold(MemoryStorage),
    Alive(Life),
    /// In between; only inside of a call.
    Gone,
}

/// One seed in so many has the scheduler's mirror computed again after each commit, which takes twice as long as all else.
const MIRRORED: u64 = 16;

pub fn tell(telling: &Telling) -> Told {
    crate::core::check::set_wanted(telling.seed.is_multiple_of(MIRRORED));
    let random = Random::at(telling.seed, 1);
    let world = World::new(telling.seed, START);
    let model = Rc::new(Model::new(&world, telling.trace.clone()));
    let ground = Ground {
        world,
        model,
        alarm: Rc::new(AlarmClock::default()),
        deployed: Some(1),
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
        waits: Vec::new(),
    };
    story.ground.model.trace.at(START);
    story.ground.model.deploys(Some(1));
    story.happens(telling.events);
    story.ends();
    story.tells()
}

impl Story {
    fn happens(&mut self, events: usize) {
        self.begin(WayIn::Call);
        self.run(20, 0);
        self.create();
        for _ in 0..events {
            if self.is_broken() {
                return;
            }
            self.event();
            let (steps, patience) = (self.random.below(60), self.random.below(1_500));
            self.run(steps, patience);
        }
    }

    fn tells(self) -> Told {
        let tally = self.tally;
        tally.add("tasks", self.ground.model.count() as u64);
        tally.add("steps", self.ground.world.steps());
        let breaches = self.ground.model.breaches();
        self.ground.world.crash();
        Told { tally, breaches }
    }

    /// The object opens, unless it is alive.
    fn begin(&mut self, way_in: WayIn) {
        match std::mem::replace(&mut self.object, Object::Gone) {
            Object::Cold(storage) => {
                self.over = false;
                self.ground.model.trace.line(|| format!("-- opens by {way_in:?}"));
                self.object = Object::Alive(Life::begin(&self.ground, storage, way_in));
            }
            other => self.object = other,
        }
    }

    fn life(&self) -> Option<&Life> {
        match &self.object {
            Object::Alive(life) => Some(life),
            Object::Cold(_) | Object::Gone => None,
        }
    }

    fn deploy(&mut self, deployed: Deployed) {
        self.tally.count("deploys");
        self.ground.deployed = deployed;
        let model = Rc::clone(&self.ground.model);
        model.trace.line(|| format!("-- deploys {deployed:?}"));
        model.deploys(deployed);
        let open = match self.life() {
            Some(life) if !life.is_over() => {
                install(&life.registry, &model, deployed);
                life.scheduler().is_some()
            }
            _ => false,
        };
        self.unseen |= !open;
        self.check();
    }

    fn event(&mut self) {
        // Somebody who calls an object that is not in memory opens it.
        if matches!(self.object, Object::Cold(_)) && self.random.percent(40) {
            self.begin(WayIn::Call);
            self.run(12, 5);
        }
        match self.random.below(100) {
            0..12 => self.create(),
            12..24 => self.abort(),
            24..28 => self.abort_all(),
            28..38 => self.poke(),
            38..48 => self.wait(),
            48..52 => self.cancel_a_wait(),
            52..60 => {
                let choices = [None, Some(1), Some(1), Some(2), Some(2), Some(3), Some(LATEST)];
                let deployed = self.random.pick(&choices).copied().flatten();
                self.deploy(deployed);
            }
            60..70 => self.crash(),
            70..78 => {
                if let Some(life) = self.life() {
                    life.storage.doom(Some(Doom::draw(&self.random)));
                }
            }
            78..81 => self.close(),
            81..85 => self.jump(),
            85..87 => self.stumble(),
            87..92 => self.look_in(),
            _ => {
                let patience = self.random.below(40_000);
                self.run(400, patience);
            }
        }
    }

    /// Someone opens a cold object, or asks an open one for progress.
    fn look_in(&mut self) {
        let way_in = if self.random.percent(50) {
            WayIn::Call
        } else {
            WayIn::Look
        };
        self.begin(way_in);
        if let (WayIn::Call, Some(scheduler)) = (way_in, self.life().and_then(Life::scheduler)) {
            scheduler.resume_by_call();
        }
    }
}
