//! Steps, time and the alarm.

use crate::life::{Life, WayIn};
use crate::story::{Object, Story};
use tidehold_session::host::Millis;

/// A story takes some thousands of steps. One that goes on and on makes no progress.
const MOST_STEPS: u64 = 400_000;

impl Story {
    /// So many steps. When nothing can run time passes, in all as much as there is patience.
    pub fn run(&mut self, steps: u64, patience: Millis) {
        let until = self.ground.world.now() + patience;
        for _ in 0..steps {
            if self.is_broken() {
                return;
            }
            if self.step() {
                continue;
            }
            self.rests();
            if !self.pass_time(until) {
                return;
            }
        }
    }

    /// Until nothing can run at this instant.
    pub fn settle(&mut self) {
        while !self.is_broken() && self.step() {}
        self.rests();
    }

    fn step(&mut self) -> bool {
        let world = &self.ground.world;
        self.ground.model.trace.at(world.now());
        let stepped = world.step();
        if world.steps() > MOST_STEPS {
            self.ground.model.breach("it goes on and on".to_owned());
        }
        self.check();
        stepped
    }

    /// After each step.
    pub fn check(&mut self) {
        if self.life().is_some_and(|life| life.harness().is_some()) {
            self.unseen = false;
        }
        // While the handler of an alarm runs, the platform itself holds the next one.
        if !self.unseen && !self.ground.alarm.is_handling() {
            self.ground.model.after_step(self.ground.alarm.at());
        }
    }

    /// Nothing can run.
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

    /// To the next thing that time brings. `false`: there is none before `until`.
    pub fn pass_time(&mut self, until: Millis) -> bool {
        let (now, alarm) = (self.ground.world.now(), self.next_alarm());
        let timer = self.ground.world.next_timer();
        let Some(at) = timer
            .into_iter()
            .chain(alarm)
            .min()
            .filter(|at| *at <= until.max(now))
        else {
            return false;
        };
        if at > now {
            self.ground.world.set_clock(at);
        }
        self.ring();
        true
    }

    fn next_alarm(&self) -> Option<Millis> {
        let opening = self.life().is_some_and(|life| !life.is_open() && !life.is_over());
        // One handler at a time; a handler waits for an open under way.
        self.ground
            .alarm
            .at()
            .filter(|_| !opening && !self.ground.alarm.is_ringing())
    }

    /// The platform calls the alarm handler when it is time.
    fn ring(&mut self) {
        if self.next_alarm().is_none() || !self.ground.alarm.ring(self.ground.world.now()) {
            return;
        }
        self.tally.count("alarms");
        self.ground.model.trace.line(|| "-- the alarm rings".to_owned());
        if self.life().is_some_and(Life::is_over) {
            self.crash();
            // The handler goes on in the next life.
            if !self.ground.alarm.ring(Millis::MAX) {
                return;
            }
        }
        match (&self.object, self.life().and_then(Life::harness)) {
            (Object::Cold(_), _) => self.begin(WayIn::Alarm),
            (_, Some(harness)) => {
                harness.scheduler().on_alarm();
                self.ground.alarm.handled();
                self.ground.model.touch();
                self.check();
            }
            _ => {}
        }
    }

    /// The wall clock is set, ahead or a little back.
    pub fn jump(&mut self) {
        self.tally.count("jumps");
        let now = self.ground.world.now();
        let to = if self.random.percent(30) {
            now.saturating_sub(self.random.below(2_000))
        } else {
            now + self.random.below(30_000)
        };
        self.ground
            .model
            .trace
            .line(|| format!("-- the clock jumps to {to}"));
        self.ground.world.set_clock(to);
        self.ring();
    }
}
