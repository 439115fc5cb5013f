//! The alarm over the life of tasks (invariant 6). Debug builds check the invariant itself after every commit.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::documents::{ConversationDoc, DocToken, History, LatestFork};
use tidehold_session::records::TaskOutcome;
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// `first` moves to the input's checkpoint, whose phase `parked` waits in memory and then ends.
fn parking() -> Probe {
    Probe::new()
        .phase("first", |task, runtime: Rt| async move {
            runtime.advance(task.input.get("park").cloned().unwrap()).await
        })
        .phase("parked", |task, runtime: Rt| async move {
            match task.checkpoint.get("at").and_then(Json::as_u64) {
                Some(at) => runtime.sleep(at).await?,
                None => runtime.poked().await?,
            }
            runtime.finish(Outcome::Completed(json!(runtime.now()))).await
        })
}

fn at(time: u64) -> Json {
    json!({ "park": { "phase": "parked", "at": time } })
}

fn external() -> Json {
    json!({ "park": { "phase": "parked", "external": true } })
}

#[test]
fn an_idle_session_has_no_alarm_and_the_last_outcome_clears_it_in_its_own_turn() {
    let mut bench = Bench::new(Probe::new().phase("first", done));
    assert_eq!(*bench.recorder.alarms.borrow(), [None]);
    let id = bench.create(json!({}));
    bench.wait(id);
    assert_eq!(
        *bench.recorder.alarms.borrow(),
        [None, Some(START + 10_000), None]
    );
    assert_eq!(bench.scheduler.next_wake(), None);
}

#[test]
fn a_task_parked_until_a_time_sets_the_alarm_there_and_is_not_started_before_it_after_a_restart() {
    let mut bench = Bench::new(parking());
    let id = bench.create(at(START + 500_000));
    bench.settle();
    assert_eq!(bench.last_alarm(), Some(START + 500_000));
    let mut bench = bench.restart();
    assert_eq!(
        bench.last_alarm(),
        Some(START + 500_000),
        "nothing is due: the open waits too"
    );
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    bench.scheduler.resume();
    bench.log.borrow_mut().clear();
    bench.runtime.advance(499_999);
    assert_eq!((bench.log(), bench.status(id)), (Vec::new(), "pending"));
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "waiting", "on": [], "until": START + 500_000 })
    );
    bench.runtime.advance(1);
    assert_eq!(bench.log(), [format!("parked {id}")]);
    let record = bench.wait(id);
    assert_eq!(
        (record.started_at, record.ended_at),
        (Some(START), Some(START + 500_000))
    );
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Completed {
            result: json!(START + 500_000)
        }
    );
}

#[test]
fn a_new_task_may_start_later() {
    let mut bench = Bench::new(parking());
    let id = bench.create(json!({ "start": { "phase": "parked", "at": START + 700 } }));
    bench.settle();
    assert_eq!(bench.status(id), "pending");
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Completed {
            result: json!(START + 700)
        }
    );
}

#[test]
fn a_time_that_passes_while_the_invocation_runs_falls_back_to_the_watchdog() {
    let probe = parking().phase("parked", |_, runtime: Rt| async move {
        runtime.sleep(START + 8_000).await?;
        runtime.memo("late", &true).await?;
        runtime.sleep(START + 60_000).await
    });
    let mut bench = Bench::new(probe);
    bench.create(at(START + 5_000));
    bench.settle();
    assert_eq!(bench.last_alarm(), Some(START + 5_000));
    bench.runtime.advance(5_000);
    bench.scheduler.on_alarm();
    assert_eq!(bench.last_alarm(), Some(START + 15_000));
}

#[test]
fn work_parked_for_the_outside_costs_nothing_until_it_is_poked() {
    let mut bench = Bench::new(parking());
    let id = bench.create(external());
    bench.settle();
    assert_eq!(bench.last_alarm(), None);
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), None);
    bench.scheduler.resume();
    bench.runtime.advance(1_000_000);
    assert_eq!(bench.status(id), "pending");
    assert_eq!(
        bench.inspected(id),
        json!({ "kind": "waiting", "on": [], "external": true })
    );
    let poke = |bench: &mut Bench| {
        let scheduler = bench.scheduler.clone();
        bench.run(async move { scheduler.poke(id).await }).unwrap()
    };
    assert!(poke(&mut bench));
    bench.settle();
    assert_eq!(bench.status(id), "running");
    assert!(poke(&mut bench));
    bench.wait(id);
    assert!(!poke(&mut bench), "ended");
}

#[test]
fn a_task_that_never_ran_starts_even_if_it_is_external() {
    let mut bench = Bench::new(parking());
    let registry = bench.registry.clone();
    registry.remove("probe");
    let id = bench.create(json!({ "start": { "phase": "parked", "external": true } }));
    let mut bench = bench.restart_with(|registry| registry.install(std::rc::Rc::new(parking())));
    assert_eq!(bench.last_alarm(), Some(bench.now()));
    bench.scheduler.on_alarm();
    bench.settle();
    assert_eq!(bench.status(id), "running");
}

static PARTIAL: ConversationDoc = DocToken::of_conversation(
    "test.partial",
    1,
    History::Latest {
        fork: LatestFork::Initial,
    },
    || json!({ "n": 0 }),
);

#[test]
fn streaming_keeps_the_watchdog_ahead_with_few_settings() {
    let probe = Probe::new().phase("first", |_, runtime: Rt| async move {
        for n in 1..=100u64 {
            runtime.sleep(START + n * 1_000).await?;
            runtime
                .commit(async move |tx, record| {
                    tx.doc(&PARTIAL, record.conversation_id).await?.at("n").set(n)?;
                    Ok(None)
                })
                .await?;
        }
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    for _ in 0..99 {
        bench.runtime.advance(1_000);
        let ahead = bench.last_alarm().unwrap() - bench.now();
        assert!(
            (5_000..=10_000).contains(&ahead),
            "{ahead} at {}",
            bench.now() - START
        );
    }
    bench.wait(id);
    let settings = bench.recorder.alarms.borrow().len();
    assert!(settings <= 20, "{settings} alarm settings in 100 seconds");
    assert_eq!(bench.last_alarm(), None);
}

#[test]
fn waits_and_holds_leave_the_alarm_to_what_they_wait_for() {
    let probe = parking().phase("holds", |_, runtime: Rt| async move {
        runtime
            .commit(async |tx, record| {
                create(
                    &tx,
                    &Probe::<Plain>::new(),
                    &external(),
                    TaskOptions::owned_by(record.id),
                )
                .await?;
                Ok(Some(Next::Continue(json!({ "phase": "ends" }))))
            })
            .await
    });
    let probe = probe.phase("ends", done);
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "holds" } }));
    bench.settle();
    assert_eq!(bench.status(id), "completing");
    assert_eq!(bench.last_alarm(), None);
}

#[test]
fn a_poked_task_is_not_lost_in_a_crash() {
    let probe = Probe::new()
        .phase("first", |_, runtime: Rt| async move {
            runtime
                .advance(json!({ "phase": "parked", "external": true }))
                .await
        })
        .phase("parked", |task, runtime: Rt| async move {
            if task.record.started_at.is_some() && runtime.memo_get::<Json>("answer").await?.is_some() {
                return runtime.finish(Outcome::Completed(json!("answered"))).await;
            }
            runtime.poked().await?;
            runtime.memo("answer", &true).await?;
            runtime.advance(json!({ "phase": "parked" })).await
        });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({}));
    bench.settle();
    assert_eq!(bench.last_alarm(), None, "parked for the outside: no alarm");
    // The poke is the last thing that is stored.
    bench.storage.allow_commits(Some(1), CommitFault::Before);
    let scheduler = bench.scheduler.clone();
    bench.run(async move { scheduler.poke(id).await }).unwrap();
    bench.settle();
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), Some(bench.now()), "the poke wakes the object");
    bench.log.borrow_mut().clear();
    bench.scheduler.on_alarm();
    bench.settle();
    assert_eq!(bench.log(), [format!("parked {id}")], "it runs again");
}

#[test]
fn a_poke_counts_until_the_task_has_moved_on_or_waits_again() {
    // Woken, it looks for some time, and then waits again.
    let probe = Probe::new().phase("parked", |_, runtime: Rt| async move {
        runtime.sleep(runtime.now() + 100).await?;
        loop {
            runtime.poked().await?;
        }
    });
    let mut bench = Bench::new(probe);
    let id = bench.create(json!({ "start": { "phase": "parked", "external": true } }));
    bench.runtime.advance(100);
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), None);
    let poke = |bench: &mut Bench| {
        let scheduler = bench.scheduler.clone();
        bench.run(async move { scheduler.poke(id).await }).unwrap();
        bench.settle();
    };
    poke(&mut bench);
    assert_eq!(bench.status(id), "running");
    assert!(
        bench.last_alarm().is_some(),
        "a crash from here on would lose the look"
    );
    let mut bench = bench.restart();
    assert_eq!(
        bench.last_alarm(),
        Some(bench.now()),
        "it was started and did not answer"
    );
    bench.scheduler.on_alarm();
    bench.runtime.advance(100);
    assert_eq!(bench.last_alarm(), None, "it waits again");
    let mut bench = bench.restart();
    assert_eq!(bench.last_alarm(), None);
    assert_eq!(bench.scheduler.opens_without_progress(), 0);
    poke(&mut bench);
    bench.runtime.advance(100);
    poke(&mut bench);
    assert_eq!(
        bench.last_alarm(),
        None,
        "a poke while it waits is answered by waiting on"
    );
}
