//! The simulator: random trees of tasks with effects in a seeded world (`crates/simulator`), an alarm that is the only
//! thing beside storage to survive, crashes and calls at any step, deploys that remove the definition or change its
//! version. It checks the invariants after every step against a model of its own, and must notice each broken decision.
//!
//! It is compiled into the crate's unit tests, where decisions can be broken on purpose.

mod actor;
mod catalogue;
mod life;
mod model;
mod story;

use story::tell;
use tidehold_simulator::{Campaign, Telling, Trace};

/// Events of a story.
const EVENTS: usize = 40;

const CAMPAIGN: Campaign = Campaign {
    package: "tidehold-tasks",
    test: "--lib simulator::every_seed_keeps_the_invariants",
    count_variable: "TIDEHOLD_SEEDS",
    seeds: 300,
    events: EVENTS,
};

#[test]
fn every_seed_keeps_the_invariants() {
    let total = CAMPAIGN.run(&tell);
    // The stories must be worth telling.
    let seeds = total.get("seeds");
    let enough = ["crashes", "aborts", "alarms", "waits"]
        .iter()
        .all(|what| total.get(what) > seeds);
    assert!(
        seeds == 0 || (enough && total.get("tasks") > 10 * seeds),
        "{total}"
    );
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
    assert_eq!(in_words(11), in_words(11));
}
