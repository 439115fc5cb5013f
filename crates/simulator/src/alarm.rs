//! The platform's alarm: one time, kept like storage.

use std::cell::Cell;
use tidehold_session::host::Millis;

/// One alarm. A platform rings it at least once: an alarm whose handler did not return rings again.
#[derive(Debug, Default)]
pub struct AlarmClock {
    at: Cell<Option<Millis>>,
    /// Since the handler of an alarm began.
    ringing: Cell<bool>,
    /// What is set is the platform's own second try.
    again: Cell<bool>,
}

/// How long after a failed handler the platform tries again.
const RETRY_MS: Millis = 2_000;

impl AlarmClock {
    /// What the object asks for.
    pub fn set(&self, at: Option<Millis>) {
        self.at.set(at);
        self.again.set(false);
    }

    pub fn at(&self) -> Option<Millis> {
        self.at.get()
    }

    /// Whether a handler has begun and no handler has ended since: until then the platform holds the next alarm.
    pub fn is_handling(&self) -> bool {
        self.ringing.get() || self.again.get()
    }

    /// Whether a handler runs.
    pub fn is_ringing(&self) -> bool {
        self.ringing.get()
    }

    /// Rings if it is time. That uses the alarm up.
    pub fn ring(&self, now: Millis) -> bool {
        let rings = !self.ringing.get() && self.at.get().is_some_and(|at| at <= now);
        if rings {
            self.at.set(None);
            self.ringing.set(true);
        }
        rings
    }

    /// The handler returned.
    pub fn handled(&self) {
        self.ringing.set(false);
    }

    /// The process died; with it the handler, if one ran.
    pub fn crashed(&self, now: Millis) {
        if self.ringing.replace(false) && self.at.get().is_none() {
            self.at.set(Some(now + RETRY_MS));
            self.again.set(true);
        }
    }
}
