//! A crash at every commit of a story, over memory and SQLite: it is told to the same end (spec 5.1, 5.4 and 5.5).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::*;
use tidehold_delta::{Json, json};
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskOutcome;
use tidehold_session::storage::TaskQuery;
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// Which outcome records were published, in order. A task must be there once.
type Ends = Rc<RefCell<Vec<(TaskId, &'static str)>>>;

/// What a task and those it creates live through.
struct Story {
    tells: fn() -> (Probe, Json),
    /// Whether the top is aborted once everything runs.
    aborts: bool,
    /// How the top and then what it created end, in id order.
    ends: &'static [&'static str],
}

impl Story {
    /// Lets it crash at its first commit, its second, and so on, each lost or stored, until it comes to its end without.
    fn crash_at_every_commit(&self) {
        for fault in [CommitFault::Before, CommitFault::After] {
            let mut crashes = 0;
            while self.crashes_at(crashes, fault) {
                crashes += 1;
                assert!(crashes < 100, "the story does not end");
            }
            assert!(crashes >= 3, "too short a story to tell anything");
        }
    }

    /// Whether it crashed at all.
    fn crashes_at(&self, commits: u64, fault: CommitFault) -> bool {
        Medium::each().map(|medium| self.crashes_on(medium, commits, fault)) == [true; 2]
    }

    fn crashes_on(&self, medium: Medium, commits: u64, fault: CommitFault) -> bool {
        let (probe, input) = (self.tells)();
        let mut bench = Bench::over(medium, probe);
        let ends = Ends::default();
        let mut subscription = follow(&bench, &ends);
        let id = if self.aborts {
            let id = bench.create(input);
            bench.settle();
            id
        } else {
            // Its reservation counts as well.
            bench = bench.restart();
            subscription = follow(&bench, &ends);
            bench.create(input)
        };
        bench.storage.allow_commits(Some(commits), fault);
        self.ask(&mut bench, id);
        bench.runtime.advance(20_000);
        let crashed = bench.session.health().is_err();
        if crashed {
            drop(subscription);
            bench = bench.restart();
            subscription = follow(&bench, &ends);
            self.ask(&mut bench, id);
            bench.runtime.advance(20_000);
        }
        let context = format!("{commits} {fault:?}");
        let session = bench.session.clone();
        let tasks = bench.run(async move { session.scan_tasks(&TaskQuery::default(), 10, None).await });
        // Ids that were minted for a lost commit are not used again.
        let found = tasks.unwrap().items;
        let found: Vec<_> = found.iter().map(status).collect();
        assert_eq!(found, self.ends, "{context}");
        assert!(
            bench.scheduler.inspect().is_empty(),
            "nothing else is live: {context}"
        );
        assert_eq!(bench.last_alarm(), None, "{context}");
        let mut published: Vec<_> = ends.borrow().clone();
        published.sort_unstable();
        published.dedup_by_key(|(id, _)| *id);
        assert_eq!(
            published.len(),
            ends.borrow().len(),
            "one end each: {:?}",
            ends.borrow()
        );
        drop(subscription);
        crashed
    }

    fn ask(&self, bench: &mut Bench, id: TaskId) {
        bench.scheduler.resume();
        if self.aborts {
            let scheduler = bench.scheduler.clone();
            // Lost with the session, it is asked for again.
            bench
                .session
                .spawn(async move { drop(scheduler.abort_task(id).await) });
        }
    }
}

fn follow(bench: &Bench, ends: &Ends) -> tidehold_session::Subscription {
    let seen = Rc::clone(ends);
    bench.session.subscribe_commits(move |publication| {
        let ended = publication.tasks.iter().filter(|change| !change.after.is_live());
        seen.borrow_mut()
            .extend(ended.map(|change| (change.after.id, status(&change.after))));
    })
}

/// Stays until it is told to stop, as do its children; aborts take their time.
fn tree() -> (Probe, Json) {
    let probe = parenting(stuck()).on_abort(|task, runtime: Rt| async move {
        if task.checkpoint.get("children").is_some() {
            let outcomes = runtime.outcomes(&children(&task.checkpoint)).await?;
            assert!(outcomes.iter().all(|outcome| outcome_name(outcome) == "aborted"));
        }
        runtime.sleep(runtime.now() + 10).await?;
        runtime.finish(Outcome::aborted()).await
    });
    (probe, parent(json!("second"), vec![json!({}), json!({})]))
}

#[test]
fn an_abort_of_a_tree() {
    let ends = &["aborted"; 3];
    let story = Story {
        tells: tree,
        aborts: true,
        ends,
    };
    story.crash_at_every_commit();
}

fn holding(last: &'static str) -> (Probe, Json) {
    let probe = parenting(worker())
        .phase("ends", done)
        .phase("fails", |_, runtime: Rt| async move {
            runtime.finish(Outcome::failed("no")).await
        });
    // The child outlives its owner's outcome, and any crash.
    (
        probe,
        parent(json!(last), vec![json!({ "until": START + 15_000 })]),
    )
}

#[test]
fn a_held_success() {
    let ends = &["completed", "completed"];
    let story = Story {
        tells: || holding("ends"),
        aborts: false,
        ends,
    };
    story.crash_at_every_commit();
}

#[test]
fn a_held_failure_and_its_cascade() {
    let ends = &["failed", "aborted"];
    let story = Story {
        tells: || holding("fails"),
        aborts: false,
        ends,
    };
    story.crash_at_every_commit();
}

fn joining() -> (Probe, Json) {
    let probe = parenting(worker())
        .phase("join", |task, runtime: Rt| async move {
            let on = children(&task.checkpoint);
            let Json::Object(mut checkpoint) = task.checkpoint else {
                unreachable!()
            };
            checkpoint.insert("phase", json!("joined"));
            let wait = Next::join(Json::Object(checkpoint), JoinPolicy::FailFast, on);
            runtime.commit(async move |_, _| Ok(Some(wait))).await
        })
        .phase("joined", |task, runtime: Rt| async move {
            let outcomes = runtime.outcomes(&children(&task.checkpoint)).await?;
            let names: Vec<_> = outcomes.iter().map(outcome_name).collect();
            assert_eq!(names, ["aborted", "failed"]);
            runtime.finish(Outcome::Completed(json!(null))).await
        });
    let inputs = vec![json!({ "until": START + 50_000 }), json!({ "how": "fails" })];
    (probe, parent(json!("join"), inputs))
}

#[test]
fn a_wait_that_fails_fast() {
    let ends = &["completed", "aborted", "failed"];
    let story = Story {
        tells: joining,
        aborts: false,
        ends,
    };
    story.crash_at_every_commit();
}

#[test]
fn a_migration_is_stored_with_its_reservation_or_tried_again() {
    for (medium, fault) in Medium::each()
        .into_iter()
        .zip([CommitFault::Before, CommitFault::After])
    {
        let mut bench = Bench::over(medium, Probe::new());
        let old = Rc::new(Probe::<Old>::new());
        bench.registry.remove("probe");
        let id = bench.commit(async move |tx| {
            let options = TaskOptions::in_conversation(ROOT);
            Ok(create(&tx, old.as_ref(), &json!({}), options).await?.id())
        });
        let new = |log: &Log| {
            Probe::<Plain>::new()
                .logging_to(log)
                .migrating(|_| Ok(json!({ "phase": "migrated" })))
                .phase("migrated", done)
        };
        bench.storage.allow_commits(Some(0), fault);
        let definition = Rc::new(new(&bench.log));
        bench.registry.install(definition);
        bench.settle();
        assert!(bench.session.health().is_err());
        let mut bench = bench.restart();
        let stored = if fault == CommitFault::After { 2 } else { 1 };
        assert_eq!((bench.record(id).version, bench.status(id)), (stored, "pending"));
        assert_eq!(
            bench.outcome(id),
            TaskOutcome::Completed {
                result: json!("done")
            }
        );
        assert_eq!(bench.wait(id).version, 2);
    }
}
