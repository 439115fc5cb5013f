//! Steps, time and the alarm, as every story has them: one poll after the other; when nothing can run time passes, to the next
//! timer or to the alarm, whose handler the platform calls again when it died.

use crate::alarm::AlarmClock;
use crate::tally::Tally;
use crate::trace::Trace;
use crate::world::World;
use tidehold_session::host::Millis;

/// How the object of a story stands towards its alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not in memory: the alarm opens it.
    Cold,
    /// Being opened: a handler waits for that.
    Opening,
    /// Open: its handler is called.
    Open,
    /// Failed or closed: only another life goes on.
    Over,
}

/// A story that is told step by step. What it is about is behind the required methods.
pub trait Play {
    fn world(&self) -> &World;
    fn alarm(&self) -> &AlarmClock;
    fn trace(&self) -> &Trace;
    fn tally(&self) -> &Tally;

    /// Whether a rule was broken: nothing goes on then.
    fn is_broken(&self) -> bool;
    fn standing(&self) -> Standing;
    /// After each step.
    fn stepped(&mut self);
    /// Nothing can run at this instant.
    fn rests(&mut self);
    /// Loses the memory.
    fn crash(&mut self);
    /// The alarm opens the object, which is cold.
    fn wake(&mut self);
    /// The alarm handler of the open object.
    fn handle_alarm(&mut self);

    /// The time is another one. Whoever keeps it for itself overrides this.
    fn set_clock(&mut self, now: Millis) {
        self.world().set_clock(now);
    }

    /// One poll; `false` when nothing can run.
    fn step(&mut self) -> bool {
        self.trace().at(self.world().now());
        let stepped = self.world().step();
        self.stepped();
        stepped
    }

    /// So many steps. When nothing can run time passes, in all as much as there is patience.
    fn run(&mut self, steps: u64, patience: Millis) {
        let until = self.world().now() + patience;
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
    fn settle(&mut self) {
        while !self.is_broken() && self.step() {}
        self.rests();
    }

    /// To the next thing that time brings. `false`: there is none before `until`.
    fn pass_time(&mut self, until: Millis) -> bool {
        let now = self.world().now();
        let next = self
            .world()
            .next_timer()
            .into_iter()
            .chain(self.next_alarm())
            .min();
        let Some(at) = next.filter(|at| *at <= until.max(now)) else {
            return false;
        };
        if at > now {
            self.set_clock(at);
        }
        self.ring();
        true
    }

    /// When the platform will call the handler. One at a time; it waits for an open under way.
    fn next_alarm(&self) -> Option<Millis> {
        let is_held = self.standing() == Standing::Opening || self.alarm().is_ringing();
        self.alarm().at().filter(|_| !is_held)
    }

    /// The platform calls the alarm handler when it is time.
    fn ring(&mut self) {
        if self.next_alarm().is_none() || !self.alarm().ring(self.world().now()) {
            return;
        }
        self.tally().count("alarms");
        self.trace().line(|| "-- the alarm rings".to_owned());
        if self.standing() == Standing::Over {
            self.crash();
            // The handler goes on in the next life.
            if !self.alarm().ring(Millis::MAX) {
                return;
            }
        }
        match self.standing() {
            Standing::Cold => self.wake(),
            Standing::Open => self.handle_alarm(),
            Standing::Opening | Standing::Over => {}
        }
    }

    /// The wall clock is set, ahead or back.
    fn jump_to(&mut self, now: Millis) {
        self.tally().count("jumps");
        self.trace().line(|| format!("-- the clock jumps to {now}"));
        self.set_clock(now);
        self.ring();
    }
}
