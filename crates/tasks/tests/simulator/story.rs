//! One seed's story: calls, time and crashes in random order, then an undisturbed end.

use super::life::{Clock, LATEST, Life};
use super::model::Model;
use super::random::Random;
use crate::AbortScope;
use crate::core::sabotage::Sabotage;
use std::rc::Rc;
use tidehold_storage::MemoryStorage;
use tidehold_storage::fault::CommitFault;

/// What a story contained.
#[derive(Debug, Default)]
pub struct Tally {
    pub tasks: u64,
    pub crashes: u64,
    pub aborts: u64,
    pub pokes: u64,
    pub deploys: u64,
    pub breaches: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.tasks += other.tasks;
        self.crashes += other.crashes;
        self.aborts += other.aborts;
        self.pokes += other.pokes;
        self.deploys += other.deploys;
    }
}

const EVENTS: u64 = 40;

pub fn tell(seed: u64, sabotage: Sabotage) -> Tally {
    let mut random = Random::new(seed);
    let (model, alarm) = (Rc::new(Model::default()), Rc::new(Clock::default()));
    let storage = MemoryStorage::new("simulated");
    let mut life = Life::begin(storage, Rc::clone(&model), alarm, 1_000_000, sabotage, Some(1));
    let mut tally = Tally::default();
    life.create(random.seed());
    for _ in 0..EVENTS {
        happen(&mut life, &model, &mut random, &mut tally);
        if life.has_failed() || random.percent(8) {
            tally.crashes += 1;
            life = life.crash();
            // Half the time a call comes first, else only the alarm brings the work back.
            if random.percent(50) {
                life.resume_by_call();
            }
        }
        if !model.breaches().is_empty() {
            break;
        }
    }
    life = life.crash();
    life.deploy(Some(LATEST));
    end(&mut life, &model);
    tally.tasks = model.count() as u64;
    tally.breaches = model.breaches();
    tally
}

fn happen(life: &mut Life, model: &Model, random: &mut Random, tally: &mut Tally) {
    let live = model.live();
    match random.below(100) {
        0..45 => life.advance(random.below(1_000)),
        45..50 => {
            tally.deploys += 1;
            life.deploy(
                random
                    .pick(&[None, Some(1), Some(2), Some(LATEST)])
                    .copied()
                    .flatten(),
            );
        }
        50..58 => life.advance(random.below(30_000)),
        58..70 => {
            let fault = if random.percent(50) {
                CommitFault::Before
            } else {
                CommitFault::After
            };
            life.arm_crash(random.below(12), fault);
        }
        70..78 => life.create(random.seed()),
        78..88 => {
            if let Some(id) = random.pick(&live) {
                tally.aborts += 1;
                life.abort(*id);
            }
        }
        88..90 => {
            let scope = if random.percent(50) {
                AbortScope::Foreground
            } else {
                AbortScope::Everything
            };
            tally.aborts += 1;
            life.abort_all(scope);
        }
        _ => {
            if let Some(id) = random.pick(&live) {
                tally.pokes += 1;
                life.poke(*id);
            }
        }
    }
}

/// Undisturbed, everything must end: by the alarm alone, and by pokes once nothing but the outside is waited for.
fn end(life: &mut Life, model: &Model) {
    for _ in 0..2_000 {
        let live = model.live();
        if live.is_empty() || !model.breaches().is_empty() {
            break;
        }
        match life.until_alarm() {
            Some(distance) => life.advance(distance),
            None => {
                model.at_rest();
                live.iter().for_each(|id| life.poke(*id));
            }
        }
        life.advance(100);
    }
    let live = model.live();
    if !live.is_empty() {
        model.breach(format!("tasks {live:?} never ended"));
    }
    if life.until_alarm().is_some() && live.is_empty() {
        model.breach("an alarm is left over".to_owned());
    }
}
