//! One story in words.
#![allow(clippy::panic, reason = "this is how a test fails")]

use super::{Campaign, Tell, Told, number_from};
use crate::tally::Tally;
use crate::trace::Trace;
use std::num::ParseIntError;

const SEED: &str = "TIDEHOLD_SEED";
const EVENTS: &str = "TIDEHOLD_EVENTS";

impl Campaign {
    /// The story that the environment asks for.
    pub(super) fn replay_asked_for(&self, tell: Tell<'_>) -> Option<Tally> {
        let seed = number_from(SEED)?;
        let events = number_from(EVENTS).map_or(self.events, |events| events as usize);
        let (told, text) = self.in_words(seed, events, tell);
        println!("{text}");
        match told.breaches.as_slice() {
            [] => println!("seed {seed} with {events} events breaks no rule: {}", told.tally),
            breaches => panic!("seed {seed} with {events} events:\n  {}", breaches.join("\n  ")),
        }
        Some(told.tally)
    }

    /// Fails with everything one needs to know about a seed.
    pub(super) fn explain(&self, seed: u64, tell: Tell<'_>) -> ! {
        let breaks = |events: &usize| {
            let told = self.tell(seed, *events, Trace::off(), tell);
            !told.breaches.is_empty()
        };
        let events = (0..self.events).find(breaks).unwrap_or(self.events);
        let (told, text) = self.in_words(seed, events, tell);
        let breaches = match told.breaches.as_slice() {
            [] => "it broke a rule once and not again: it depends on more than its seed".to_owned(),
            breaches => breaches.join("\n  "),
        };
        panic!(
            "\n{text}\nseed {seed}, cut to {events} of {} events:\n  {breaches}\n\nreplay: {SEED}={seed} {EVENTS}={events} \
             cargo test -p {} {} -- --nocapture\n",
            self.events, self.package, self.test
        )
    }

    fn in_words(&self, seed: u64, events: usize, tell: Tell<'_>) -> (Told, String) {
        let trace = Trace::on();
        let told = self.tell(seed, events, trace.clone(), tell);
        (told, trace.text())
    }
}

pub(super) fn refuse(variable: &str, value: &str, error: &ParseIntError) -> ! {
    panic!("{variable}={value}: {error}")
}
