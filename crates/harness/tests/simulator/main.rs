//! Seeded stories over the harness (`crates/simulator`): submissions, withdrawals, aborts and resets run beside scripted
//! answers, over a storage that takes its time, with crashes at any step and failures of any call. Between lives only
//! storage and the alarm survive. A model of its own is checked at each commit and after each step.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod calls;
mod life;
mod model;
mod story;
#[path = "../support/mod.rs"]
mod support;
mod time;

use story::tell;
use tidehold_simulator::{Campaign, Telling, Trace};

/// Events of a story.
const EVENTS: usize = 30;

const CAMPAIGN: Campaign = Campaign {
    package: "tidehold-harness",
    test: "--test simulator every_seed_keeps_its_promises",
    count_variable: "TIDEHOLD_HARNESS_SEEDS",
    seeds: 100,
    events: EVENTS,
};

#[test]
fn every_seed_keeps_its_promises() {
    let total = CAMPAIGN.run(&tell);
    // The stories must be worth telling.
    let seeds = total.get("seeds");
    let enough = ["crashes", "alarms", "answers", "unanswered"].iter();
    assert!(enough.into_iter().all(|what| total.get(what) >= seeds), "{total}");
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let in_words = |seed| {
        let trace = Trace::on();
        let told = tell(&Telling {
            seed,
            events: EVENTS,
            trace: trace.clone(),
        });
        format!("{}\n{}", trace.text(), told.tally)
    };
    assert_eq!(in_words(5), in_words(5));
}
