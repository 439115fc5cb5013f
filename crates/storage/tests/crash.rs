//! Crashes at every call of both durable backends, on seeded random scenarios.
//!
//! A case is one (seed, crash point). `TIDEHOLD_CRASH_CASES=100000` plays so many cases of each kind of site instead of the
//! usual number; a failing case prints the command that plays it alone.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::sites::{End, JsonlSite, SqlSite};
use common::{Scratch, now};
use std::io::Write;
use tidehold_storage::conformance::crash::CrashSite;
use tidehold_storage::conformance::crash::run::{rehearse, run};
use tidehold_storage::conformance::crash::scenario::{Scenario, scenario};
use tidehold_storage::jsonl::Fsync;

/// Commits of a scenario.
const COMMITS: usize = 12;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
    )
}

fn made(seed: u64) -> Scenario {
    now(scenario(seed, COMMITS)).unwrap()
}

/// Plays cases until there are enough, always whole seeds.
fn play(test: &str, site: &dyn CrashSite, usual: u64) {
    let replay = |seed: u64, point: u64| {
        format!(
            "TIDEHOLD_CRASH_SEED={seed} TIDEHOLD_CRASH_POINT={point} \
             cargo test -p tidehold-storage --test crash {test} -- --exact --nocapture"
        )
    };
    if let (Some(seed), Some(point)) = (number("TIDEHOLD_CRASH_SEED"), number("TIDEHOLD_CRASH_POINT")) {
        let scenario = made(seed);
        for step in &scenario.steps {
            println!("{step:?}");
        }
        now(run(site, &scenario, point)).unwrap();
        return;
    }
    let wanted = number("TIDEHOLD_CRASH_CASES").unwrap_or(usual);
    let (mut cases, mut seeds) = (0, 0);
    while cases < wanted {
        seeds += 1;
        let scenario = made(seeds);
        let points = now(rehearse(site, &scenario));
        let points = points.unwrap_or_else(|failure| panic!("seed {seeds} without a crash: {failure}"));
        for point in 0..points {
            if let Err(failure) = now(run(site, &scenario, point)) {
                panic!(
                    "seed {seeds}, crash point {point}: {failure}\n    {}",
                    replay(seeds, point)
                );
            }
        }
        cases += points;
    }
    // Written past the capture of the test runner: the count belongs in every log.
    let _ = writeln!(std::io::stdout(), "{test}: {cases} cases of {seeds} seeds");
}

#[test]
fn jsonl_killed() {
    play("jsonl_killed", &JsonlSite::new(Fsync::Off, End::Kill), 3000);
}

#[test]
fn jsonl_with_fsync_killed() {
    play(
        "jsonl_with_fsync_killed",
        &JsonlSite::new(Fsync::On, End::Kill),
        3000,
    );
}

#[test]
fn jsonl_with_fsync_without_power() {
    play(
        "jsonl_with_fsync_without_power",
        &JsonlSite::new(Fsync::On, End::PowerLoss),
        3000,
    );
}

#[test]
fn sql_killed() {
    let scratch = Scratch::new();
    play("sql_killed", &SqlSite::new(scratch.path().join("crash.db")), 1500);
}
