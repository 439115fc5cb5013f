//! Sessions that crash: seeded commits with forks, retirements, migrations and checkpoints, struck at every call of the
//! backend in turn. Reopened, the session holds exactly what was committed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod documents;
mod model;
mod scenario;
mod world;

use model::Action;
use scenario::Scenario;
use std::rc::Rc;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::storage::Storage;
use tidehold_session::{Session, SessionOptions};
use tidehold_storage::MemoryStorage;

fn with_session<T: 'static>(storage: Rc<dyn Storage>, test: impl AsyncFnOnce(Session) -> T + 'static) -> T {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let session = Session::open(storage, runtime.host(), SessionOptions::default());
    runtime
        .run(async move { test(session).await })
        .expect("the test must not wait for ever")
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
