//! The simulator: random trees of tasks with effects, a virtual clock, an alarm that is the only thing to survive, crashes
//! at any storage commit, deploys that remove the definition or change its version. It checks the invariants against a model of its own, and must notice each broken decision.
//!
//! It is compiled into the crate's unit tests, where decisions can be broken on purpose.

mod actor;
mod life;
mod model;
pub mod random;
mod story;

use crate::core::sabotage::Sabotage;
use std::panic::{AssertUnwindSafe, catch_unwind};
use story::tell;

const SEEDS: u64 = 300;

#[test]
fn every_seed_keeps_the_invariants() {
    // `TIDEHOLD_SEEDS` asks for a longer run.
    let seeds = std::env::var("TIDEHOLD_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(SEEDS);
    let mut total = story::Tally::default();
    for seed in 0..seeds {
        let tally = tell(seed, Sabotage::None);
        assert_eq!(tally.breaches, Vec::<String>::new(), "seed {seed}");
        total.add(&tally);
    }
    // The stories must be worth telling.
    assert!(
        total.crashes > seeds && total.tasks > 5 * seeds && total.aborts > seeds,
        "{total:?}"
    );
    println!("{seeds} seeds: {total:?}");
}

#[test]
fn the_same_seed_tells_the_same_story() {
    assert_eq!(
        format!("{:?}", tell(11, Sabotage::None)),
        format!("{:?}", tell(11, Sabotage::None))
    );
}

#[track_caller]
fn notices(sabotage: Sabotage) {
    let noticed = (0..SEEDS).find(|seed| {
        let told = catch_unwind(AssertUnwindSafe(|| tell(*seed, sabotage)));
        told.map_or(true, |tally| !tally.breaches.is_empty())
    });
    let seed = noticed.unwrap_or_else(|| panic!("{SEEDS} seeds did not notice {sabotage:?}"));
    println!("{sabotage:?} is noticed by seed {seed}");
}

#[test]
fn an_abort_handler_above_live_work_is_noticed() {
    notices(Sabotage::TopDownAbort);
}

#[test]
fn a_missing_cascade_is_noticed() {
    notices(Sabotage::NoCascade);
}

#[test]
fn an_early_start_is_noticed() {
    notices(Sabotage::EarlyWake);
}

#[test]
fn a_forgotten_deadline_is_noticed() {
    notices(Sabotage::NoDeadlines);
}

#[test]
fn a_lost_poke_is_noticed() {
    notices(Sabotage::LostPokes);
}

#[test]
fn an_end_above_live_work_is_noticed() {
    notices(Sabotage::NoHold);
}
