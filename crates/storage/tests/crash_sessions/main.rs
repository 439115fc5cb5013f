//! Sessions that crash: seeded commits with forks, retirements, migrations and checkpoints, struck at every call of the
//! backend in turn. Reopened, the session holds exactly what was committed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

#[path = "../common/mod.rs"]
mod common;
mod documents;
mod model;
mod scenario;
mod world;

use common::Scratch;
use common::sites::{End, JsonlSite, SqlSite};
use model::Action;
use scenario::Scenario;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::storage::Storage;
use tidehold_session::{Session, SessionError, SessionOptions};
use tidehold_storage::MemoryStorage;
use tidehold_storage::conformance::crash::{Blow, CrashSite, Done, Then};
use tidehold_storage::jsonl::Fsync;

/// Commits of a scenario.
const COMMITS: usize = 10;

fn with_session<T: 'static>(storage: Rc<dyn Storage>, test: impl AsyncFnOnce(Session) -> T + 'static) -> T {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let session = Session::open(storage, runtime.host(), SessionOptions::default());
    runtime
        .run(async move { test(session).await })
        .expect("the test must not wait for ever")
}

/// How far a scenario got.
struct Played {
    /// Whether the root conversation was acknowledged, or was there.
    begun: bool,
    /// Commits acknowledged after that.
    commits: usize,
    failed: Option<SessionError>,
}

/// Plays commits from `from` on until one fails.
fn play(storage: Rc<dyn Storage>, scenario: &Rc<Scenario>, from: usize) -> Played {
    let scenario = Rc::clone(scenario);
    with_session(storage, async move |session| {
        let mut played = Played {
            begun: false,
            commits: 0,
            failed: None,
        };
        if let Err(error) = world::begin(&session).await {
            played.failed = Some(error);
            return played;
        }
        played.begun = true;
        for commit in &scenario.commits[from..] {
            if let Err(error) = world::play(&session, commit).await {
                played.failed = Some(error);
                return played;
            }
            played.commits += 1;
        }
        played
    })
}

/// What a recovery leaves can be played to its end.
fn finish(site: &dyn CrashSite, scenario: &Rc<Scenario>, from: usize) {
    let Played { commits, failed, .. } = play(site.open().unwrap(), scenario, from);
    assert!(failed.is_none(), "{commits} commits after {from}: {failed:?}");
    assert_eq!(
        observed(site),
        scenario.states[COMMITS].lines(),
        "after the recovery"
    );
}

fn observed(site: &dyn CrashSite) -> Vec<String> {
    let storage = site.open().unwrap();
    with_session(storage, async move |session| {
        world::observe(&session).await.unwrap()
    })
}

/// One case: strikes the call number `point`, reopens, compares, and plays the rest.
fn strike(site: &dyn CrashSite, scenario: &Rc<Scenario>, seed: u64, point: u64) {
    site.wipe(seed);
    let done = [
        Done::Nothing,
        Done::Part(7 + point as usize % 90),
        Done::Everything,
    ][(seed + point) as usize % 3];
    let then = if (seed ^ point) & 1 == 0 {
        Then::Dies
    } else {
        Then::Fails
    };
    let blow = Blow {
        after: point,
        done,
        then,
    };
    site.arm(Some(blow));
    let struck = match site.open() {
        Ok(storage) => play(storage, scenario, 0),
        Err(error) => Played {
            begun: false,
            commits: 0,
            failed: Some(SessionError::Storage(Rc::new(error))),
        },
    };
    assert!(site.has_struck(), "the scenario has no call {point}");
    if let Some(error) = &struck.failed {
        assert!(error.is_fatal(), "{error}");
    }
    site.restart();
    let found = observed(site);
    // Without the root there is nothing but the line of the session's document.
    if found.len() == 1 {
        assert!(
            !struck.begun && struck.failed.is_some(),
            "the root was acknowledged"
        );
        return finish(site, scenario, 0);
    }
    // What was acknowledged, and the commit under way wholly or not at all.
    let acknowledged = struck.commits;
    let under_way = usize::from(struck.failed.is_some() && struck.begun && acknowledged < COMMITS);
    let mut possible = (acknowledged..=acknowledged + under_way).rev();
    let kept = possible.find(|kept| scenario.states[*kept].lines() == found);
    let kept = kept.unwrap_or_else(|| panic!("{acknowledged} commits were acknowledged, found: {found:#?}"));
    finish(site, scenario, kept);
}

/// Strikes every call of so many seeds that there are enough cases.
fn strike_all(test: &str, site: &dyn CrashSite, usual: u64) {
    let number = |variable: &str| -> Option<u64> {
        let text = std::env::var(variable).ok()?;
        Some(
            text.parse()
                .unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        )
    };
    let made = |seed| Rc::new(Scenario::new(seed, COMMITS));
    if let (Some(seed), Some(point)) = (number("TIDEHOLD_CRASH_SEED"), number("TIDEHOLD_CRASH_POINT")) {
        let scenario = made(seed);
        println!("{:#?}", scenario.commits);
        return strike(site, &scenario, seed, point);
    }
    let wanted = number("TIDEHOLD_CRASH_CASES").unwrap_or(usual);
    let (mut cases, mut seeds) = (0, 0);
    while cases < wanted {
        seeds += 1;
        let scenario = made(seeds);
        site.wipe(seeds);
        let Played { failed, .. } = play(site.open().unwrap(), &scenario, 0);
        assert!(failed.is_none(), "seed {seeds} without a crash: {failed:?}");
        let points = site.calls();
        for point in 0..points {
            let struck = catch_unwind(AssertUnwindSafe(|| strike(site, &scenario, seeds, point)));
            if let Err(panic) = struck {
                println!(
                    "seed {seeds}, crash point {point}: TIDEHOLD_CRASH_SEED={seeds} TIDEHOLD_CRASH_POINT={point} \
                     cargo test -p tidehold-storage --test crash_sessions {test} -- --exact --nocapture"
                );
                resume_unwind(panic);
            }
        }
        cases += points;
    }
    // Written past the capture of the test runner: the count belongs in every log.
    let _ = writeln!(
        std::io::stdout(),
        "sessions, {test}: {cases} cases of {seeds} seeds"
    );
}

#[test]
fn jsonl_killed() {
    strike_all("jsonl_killed", &JsonlSite::new(Fsync::Off, End::Kill), 1500);
}

#[test]
fn sql_killed() {
    let scratch = Scratch::new();
    strike_all(
        "sql_killed",
        &SqlSite::new(scratch.path().join("sessions.db")),
        2000,
    );
}

#[test]
fn without_a_crash_the_session_is_its_model() {
    let mut actions = Vec::new();
    for seed in 0..300 {
        let scenario = Scenario::new(seed, 12);
        let kept = scenario.commits.iter().filter(|commit| !commit.rolls_back);
        actions.extend(kept.flat_map(|commit| commit.actions.clone()));
        with_session(Rc::new(MemoryStorage::new("test")), async move |session| {
            world::begin(&session).await.unwrap();
            for (n, commit) in scenario.commits.iter().enumerate() {
                world::play(&session, commit)
                    .await
                    .unwrap_or_else(|error| panic!("seed {seed}, commit {n}: {error}\n{commit:?}"));
                let found = world::observe(&session).await.unwrap();
                assert_eq!(
                    found,
                    scenario.states[n + 1].lines(),
                    "seed {seed}, commit {n}: {commit:?}"
                );
            }
        });
    }
    // A generator that lost a kind of action would test less in silence.
    let many = |wanted: fn(&Action) -> bool| actions.iter().filter(|action| wanted(action)).count() > 100;
    assert!(many(|action| matches!(action, Action::Fork { .. })));
    assert!(many(|action| matches!(action, Action::Retire { .. })));
    assert!(many(|action| matches!(action, Action::Edit { version: 2, .. })));
    assert!(many(|action| matches!(action, Action::FinishTask { .. })));
    assert!(many(|action| matches!(
        action,
        Action::Append { marks: true, .. }
    )));
}
