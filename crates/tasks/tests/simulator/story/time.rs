//! Steps, time and the alarm.

use super::{Life, MOST_STEPS, Object, Story, WayIn};
use crate::simulator::life::{Ground, survived};
use tidehold_session::host::Millis;
use tidehold_simulator::{AlarmClock, Play, Standing, Tally, Trace, World};

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
            Some(life) if life.scheduler().is_some() => Standing::Open,
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
        if life.is_scheduling() {
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
        let survived = survived(&storage);
        self.unseen |= model.is_behind(survived.head);
        alarm.crashed(world.now());
        model.restart(survived);
        self.object = Object::Cold(storage);
        self.waits.clear();
        self.check();
    }

    fn wake(&mut self) {
        self.begin(WayIn::Alarm);
    }

    fn handle_alarm(&mut self) {
        if let Some(scheduler) = self.life().and_then(Life::scheduler) {
            scheduler.on_alarm();
            self.ground.alarm.handled();
            self.ground.model.touch();
            self.check();
        }
    }

    fn set_clock(&mut self, now: Millis) {
        self.ground.world.set_clock(now);
        self.ground.model.clock_is(now);
        self.ground.model.trace.at(now);
    }
}

impl Story {
    /// After each step.
    pub(super) fn check(&mut self) {
        if self.standing() == Standing::Open {
            self.unseen = false;
        }
        // While the handler of an alarm runs, the platform itself holds the next one.
        if !self.unseen && !self.ground.alarm.is_handling() {
            self.ground.model.after_step(self.ground.alarm.at());
        }
    }

    /// The wall clock is set, ahead or a little back.
    pub(super) fn jump(&mut self) {
        let now = self.ground.world.now();
        self.jump_to(match self.random.below(10) {
            0..3 => now.saturating_sub(self.random.below(2_000)),
            3..7 => now + self.random.below(5_000),
            _ => now + self.random.below(90_000),
        });
    }

    /// An object that breaks each time it is woken.
    pub(super) fn stumble(&mut self) {
        for _ in 0..3 + self.random.below(4) {
            self.crash();
            let Some(at) = self.next_alarm().filter(|_| !self.unseen && !self.is_broken()) else {
                return;
            };
            self.set_clock(at.max(self.ground.world.now()));
            self.ring();
            let steps = 3 + self.random.below(12);
            self.run(steps, 0);
        }
        self.crash();
    }
}
