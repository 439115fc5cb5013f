//! Crashes at every call of both durable backends, on seeded random scenarios.
//!
//! A case is one (seed, crash point). `TIDEHOLD_CRASH_CASES=100000` plays so many cases of each kind of site instead of the
//! usual number; a failing case prints the command that plays it alone.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::sites::{End, JsonlSite, SqlSite};
use common::{Scratch, now, options};
use std::io::Write;
use tidehold_session::ids::Seq;
use tidehold_storage::JsonlStorage;
use tidehold_storage::conformance::crash::run::{rehearse, run, run_with};
use tidehold_storage::conformance::crash::scenario::{Scenario, scenario};
use tidehold_storage::conformance::crash::{Blow, CrashSite, Done, Then};
use tidehold_storage::conformance::dump::{difference, dump};
use tidehold_storage::jsonl::fs::memory::Call;
use tidehold_storage::jsonl::{Damage, Fsync, JsonlOpenError, MAIN};

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
    report(&format!("{test}: {cases} cases of {seeds} seeds"));
}

/// Written past the capture of the test runner: the count belongs in every log.
fn report(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Seeds of the tests that cut at every byte, some thousand cases each.
fn tail_seeds() -> u64 {
    number("TIDEHOLD_CRASH_CASES").map_or(4, |cases| 4 + cases / 2000)
}

/// How a marker begins.
const COMMIT: &[u8] = br#"{"format":1,"type":"commit""#;

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

/// The appends of the last commit, each killed after every number of bytes: only the whole marker is a commit.
#[test]
fn jsonl_torn_at_every_byte() {
    let site = JsonlSite::new(Fsync::Off, End::Kill);
    let mut cases = 0;
    for seed in 1..=tail_seeds() {
        let scenario = made(seed);
        let points = now(rehearse(&site, &scenario)).unwrap();
        let mut log = site.disk().take_log();
        log.truncate(points as usize);
        for (after, bytes) in last_commit(&log) {
            for part in 0..=bytes {
                let (done, then) = (Done::Part(part), Then::Dies);
                let blow = Blow { after, done, then };
                now(run_with(&site, &scenario, blow))
                    .unwrap_or_else(|failure| panic!("seed {seed}, {blow:?}: {failure}"));
                cases += 1;
            }
        }
    }
    report(&format!(
        "jsonl_torn_at_every_byte: {cases} cases of {} seeds",
        tail_seeds()
    ));
}

/// Numbers and lengths of the appends since the marker before the last.
fn last_commit(log: &[Call]) -> Vec<(u64, usize)> {
    let is_marker = |call: &Call| call.operation == "append" && call.file == MAIN;
    let last = log.iter().rposition(is_marker).unwrap();
    let before = log.iter().take(last).rposition(is_marker).map_or(0, |at| at + 1);
    let numbered = log.iter().enumerate().take(last + 1).skip(before);
    let appends = numbered.filter(|(_, call)| call.operation == "append");
    appends.map(|(at, call)| (at as u64, call.bytes)).collect()
}

/// After the last commit, the last record of each file loses its end, from the line break to everything. Without its
/// marker the commit is gone. A confirmed record is missed, unless the commits make it unnecessary.
#[test]
fn jsonl_tails_dropped_at_every_byte() {
    let (mut undone, mut missed, mut unneeded) = (0, 0, 0);
    for seed in 1..=tail_seeds() {
        let scenario = made(seed);
        let site = JsonlSite::new(Fsync::Off, End::Kill);
        now(rehearse(&site, &scenario)).unwrap();
        let (disk, states) = (site.disk(), &scenario.states);
        for file in disk.names() {
            let whole = disk.get(&file).unwrap();
            let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
            let last = lines.last().map_or(0, |line| line.len());
            let is_marker = file == MAIN && lines.last().is_some_and(|line| line.starts_with(COMMIT));
            for dropped in 1..=last {
                let damaged = disk.copy();
                damaged.put(&file, whole.get(..whole.len() - dropped).unwrap());
                let opened = now(JsonlStorage::open(damaged.clone(), options(Fsync::Off, "site")));
                let commits = states.len() - 1 - usize::from(is_marker);
                let moments: Vec<Seq> = (1..=commits as u64).map(Seq).collect();
                match opened {
                    Ok(storage) => {
                        let wanted = &states.get(commits).unwrap().dump;
                        let difference = difference(&now(dump(&storage, &moments)).unwrap(), wanted);
                        assert_eq!(difference, None, "seed {seed}, {dropped} bytes of {file}");
                        if is_marker {
                            undone += 1;
                        } else {
                            unneeded += 1;
                        }
                    }
                    // What the dropped marker had authorized to be taken away is missed as well.
                    Err(JsonlOpenError::Corrupt(corruption)) => {
                        assert!(
                            matches!(corruption.damage, Damage::Missing { .. }),
                            "seed {seed}, {dropped} bytes of {file}: {corruption}"
                        );
                        assert!(is_marker || corruption.file == file, "{corruption}");
                        missed += 1;
                    }
                    Err(error) => panic!("seed {seed}, {dropped} bytes of {file}: {error}"),
                }
            }
        }
    }
    assert!(undone > 0 && missed > 0);
    report(&format!(
        "jsonl_tails_dropped_at_every_byte: {undone} commits undone, {missed} records missed, {unneeded} unneeded"
    ));
}

#[test]
fn sql_killed() {
    let scratch = Scratch::new();
    play("sql_killed", &SqlSite::new(scratch.path().join("crash.db")), 1500);
}
