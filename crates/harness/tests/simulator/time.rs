//! Steps, time and the alarm.

use crate::life::{Ground, Life, WayIn, survived};
use crate::story::{Object, Story};
use tidehold_simulator::{AlarmClock, Play, Standing, Tally, Trace, World};

/// A story takes some thousands of steps. One that goes on and on makes no progress.
const MOST_STEPS: u64 = 400_000;

impl Play for Story {
    fn world(&self) -> &World {
        &self.ground.world
    }

    fn alarm(&self) -> &AlarmClock {
        &self.ground.alarm
    }

    fn trace(&self) -> &Trace {
        &self.ground.model.trace
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn is_broken(&self) -> bool {
        self.ground.model.is_broken()
    }

    fn standing(&self) -> Standing {
        match self.life() {
            None => Standing::Cold,
            Some(life) if life.is_over() => Standing::Over,
            Some(life) if life.is_open() => Standing::Open,
            Some(_) => Standing::Opening,
        }
    }

    fn stepped(&mut self) {
        if self.ground.world.steps() > MOST_STEPS {
            self.ground.model.breach("it goes on and on".to_owned());
        }
        self.check();
    }

    fn rests(&mut self) {
        let Some(life) = self.life() else { return };
        if life.storage.in_flight() > 0 || !self.ground.world.is_stalled() {
            return;
        }
        if life
            .harness()
            .is_some_and(|harness| harness.scheduler().is_scheduling())
        {
            self.ground.model.at_rest();
        } else if life.is_over() && !self.over && self.ground.world.next_timer().is_none() {
            self.over = true;
            self.ground.model.session_is_over();
        }
    }

    /// Memory is lost, at this step.
    fn crash(&mut self) {
        let life = match std::mem::replace(&mut self.object, Object::Gone) {
            Object::Alive(life) => life,
            cold => {
                self.object = cold;
                return;
            }
        };
        self.tally.count("crashes");
        let Ground {
            world, model, alarm, ..
        } = &self.ground;
        model.trace.line(|| "-- crash".to_owned());
        let storage = life.end(world);
        self.unseen |= model.restart(survived(&storage));
        alarm.crashed(world.now());
        self.object = Object::Cold(storage);
        self.check();
    }

    fn wake(&mut self) {
        self.begin(WayIn::Alarm);
    }

    fn handle_alarm(&mut self) {
        if let Some(harness) = self.life().and_then(Life::harness) {
            harness.scheduler().on_alarm();
            self.ground.alarm.handled();
            self.ground.model.touch();
            self.check();
        }
    }
}

impl Story {
    /// After each step.
    pub fn check(&mut self) {
        if self.standing() == Standing::Open {
            self.unseen = false;
        }
        // While the handler of an alarm runs, the platform itself holds the next one.
        if !self.unseen && !self.ground.alarm.is_handling() {
            self.ground.model.after_step(self.ground.alarm.at());
        }
    }

    /// The wall clock is set, ahead or a little back.
    pub fn jump(&mut self) {
        let now = self.ground.world.now();
        self.jump_to(if self.random.percent(30) {
            now.saturating_sub(self.random.below(2_000))
        } else {
            now + self.random.below(30_000)
        });
    }
}
