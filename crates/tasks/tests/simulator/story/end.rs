//! Undisturbed, everything ends: by the alarm alone, and by pokes once nothing but the outside is waited for.

use super::{LATEST, Life, Object, Story, WayIn};
use tidehold_simulator::{Play, Weather};

/// Rounds of waiting for the alarm.
const ROUNDS: usize = 3_000;

/// Rounds after which the outside stirs anyway.
const PATIENCE: usize = 50;

impl Story {
    pub(super) fn ends(&mut self) {
        if self.is_broken() {
            return;
        }
        self.ground
            .model
            .trace
            .line(|| "-- from here on nothing disturbs".to_owned());
        self.deploy(Some(LATEST));
        self.ground.weather = Weather::Calm;
        match self.life() {
            // A life that goes on as it is.
            Some(life) if !life.is_over() && self.random.percent(30) => {
                life.storage.doom(None);
                life.storage.set_weather(Weather::Calm);
            }
            _ => self.crash(),
        }
        for round in 1..ROUNDS {
            if self.is_broken() {
                return;
            }
            self.settle();
            if self.life().is_some_and(Life::is_over) {
                self.crash();
            }
            let still = self.ground.world.next_timer().is_none() && !self.unseen;
            if still && self.ground.model.live().is_empty() && self.stays_asleep() {
                break;
            }
            self.wait_for_something();
            // A newer definition keeps the watchdog going until it has taken a parked task over: time never runs out.
            if round % PATIENCE == 0 {
                self.poke_all();
            }
        }
        self.is_over();
    }

    fn wait_for_something(&mut self) {
        if self.unseen && matches!(self.object, Object::Cold(_)) {
            return self.begin(WayIn::Look);
        }
        if self.pass_time(u64::MAX) {
            return;
        }
        match &self.object {
            // Only the outside can bring back what is parked for it.
            Object::Cold(_) => self.begin(WayIn::Call),
            _ => self.poke_all(),
        }
    }

    /// A cold object whose last words were lost rings once more for nothing; an open one has no alarm without work.
    fn stays_asleep(&self) -> bool {
        self.life().is_some() || self.ground.alarm.at().is_none()
    }

    fn poke_all(&mut self) {
        for id in self.ground.model.live() {
            self.poke_task(id);
        }
    }

    fn is_over(&mut self) {
        if self.is_broken() {
            return;
        }
        let model = &self.ground.model;
        let live = model.live();
        if !live.is_empty() {
            model.breach(format!("tasks {live:?} never ended"));
        }
        let calls = model.open_calls();
        if !calls.is_empty() {
            model.breach(format!("never settled: {calls:?}"));
        }
        if let Some(at) = self.ground.alarm.at() {
            model.breach(format!("nothing is live, and an alarm is set for {at}"));
        }
    }
}
