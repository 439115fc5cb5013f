//! Tasks that are pointless after a restart (spec 5.4, `abandonOnRestart`): who marks them, when, and how strongly.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod support;

use std::rc::Rc;
use support::*;
use tidehold_delta::json;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{AbortMarkReason, TaskOutcome};
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

fn abandoning() -> Probe {
    stuck().on_abort(|task, runtime: Rt| async move {
        let reason = match task.record.abort_reason {
            Some(AbortMarkReason::Restart) => "restart",
            None => "request",
        };
        runtime
            .finish(Outcome::Aborted {
                reason: Some(reason.into()),
                result: None,
            })
            .await
    })
}

#[test]
fn what_was_only_awaited_in_memory_is_abandoned_when_scheduling_starts() {
    let mut bench = Bench::new(abandoning());
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let abandoned = bench.create_with(json!({}), options);
    let below = bench.create_with(json!({}), TaskOptions::owned_by(abandoned));
    let kept = bench.create(json!({}));
    bench.settle();
    let mut bench = bench.restart();
    bench.settle();
    assert!(
        !bench.record(abandoned).abort_requested,
        "opening alone marks nothing"
    );
    for id in [below, abandoned] {
        let reason = Some("restart".into());
        assert_eq!(bench.outcome(id), TaskOutcome::Aborted { reason, result: None });
    }
    assert_eq!(bench.status(kept), "running");
    assert!(!bench.log().contains(&format!("restart {abandoned}")));
}

#[test]
fn an_abandoned_task_without_a_definition_waits_for_it_and_a_request_orphans_it() {
    let abandoned_and_blocked = || {
        let mut bench = Bench::new(abandoning());
        let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
        let id = bench.create_with(json!({}), options);
        bench.settle();
        let mut bench = bench.restart_with(|registry| registry.remove("probe"));
        bench.scheduler.resume();
        bench.settle();
        assert_eq!(bench.record(id).abort_reason, Some(AbortMarkReason::Restart));
        assert_eq!(
            bench.inspected(id),
            json!({ "kind": "blocked", "reason": "missing_task" })
        );
        assert_eq!(bench.last_alarm(), None);
        (bench, id)
    };
    let (mut bench, id) = abandoned_and_blocked();
    bench.registry.install(Rc::new(abandoning()));
    assert_eq!(
        bench.outcome(id),
        TaskOutcome::Aborted {
            reason: Some("restart".into()),
            result: None
        }
    );
    let (mut bench, id) = abandoned_and_blocked();
    assert_eq!(bench.abort(id), AbortReply::Marked);
    assert_eq!(message(&bench.outcome(id)), "missing_task");
}

/// An abandoned top, a middle that it owns, and a leaf below that.
fn tree(bench: &mut Bench) -> [TaskId; 3] {
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let top = bench.create_with(json!({}), options);
    let middle = bench.create_with(json!({}), TaskOptions::owned_by(top));
    let leaf = bench.create_with(json!({}), TaskOptions::owned_by(middle));
    bench.settle();
    [top, middle, leaf]
}

/// The outcome's reason: what the abort handler saw, or why none ran.
fn reason(bench: &mut Bench, id: TaskId) -> String {
    match bench.outcome(id) {
        TaskOutcome::Aborted { reason, .. } => reason.unwrap().to_string(),
        other => message(&other),
    }
}

#[test]
fn the_first_pass_marks_and_starts_nothing() {
    let mut bench = Bench::new(abandoning());
    let [top, ..] = tree(&mut bench);
    let mut bench = bench.restart();
    let other = bench.create(json!({}));
    bench.log.borrow_mut().clear();
    let marks = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = Rc::clone(&marks);
    let _subscription = bench.session.subscribe_commits(move |publication| {
        let records = publication.tasks.iter().map(|change| &change.after);
        let facts = records.map(|record| (record.id, status(record), record.abort_reason.is_some()));
        seen.borrow_mut().push(facts.collect::<Vec<_>>());
    });
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(
        marks.borrow()[0],
        [(top, "pending", true)],
        "marks, and no reservation with them"
    );
    let started = marks
        .borrow()
        .iter()
        .position(|facts| facts.contains(&(other, "running", false)));
    assert!(started > Some(1), "the cascade comes before any reservation");
}

#[test]
fn a_request_of_the_same_pass_beats_the_restart() {
    let mut bench = Bench::new(abandoning());
    let ids = tree(&mut bench);
    let mut bench = bench.restart();
    // Asked for before anything is scheduled: both are due in the first pass.
    bench.abort(ids[0]);
    for id in ids {
        assert_eq!(reason(&mut bench, id), "request");
    }
}

#[test]
fn a_lost_join_of_the_same_pass_beats_the_restart() {
    let probe = abandoning()
        .phase("joins", |_, runtime: Rt| async move {
            runtime
                .commit(async |tx, record| {
                    let child = TaskOptions::owned_by(record.id);
                    let fails = json!({ "start": { "phase": "fails" } });
                    let fails = create(&tx, &Probe::<Plain>::new(), &fails, child).await?;
                    let pointless = child.abandon_on_restart();
                    let pointless = create(&tx, &Probe::<Plain>::new(), &json!({}), pointless).await?;
                    let on = [fails, pointless];
                    let joined = json!({ "phase": "joined" });
                    Ok(Some(Next::join(joined, JoinPolicy::FailFast, on)))
                })
                .await
        })
        .phase("fails", |_, runtime: Rt| async move {
            runtime.sleep(START + 10).await?;
            runtime.finish(Outcome::failed("no")).await
        })
        .phase("joined", done);
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({ "start": { "phase": "joins" } }));
    bench.settle();
    assert_eq!(bench.status(owner), "waiting");
    // The failure is stored, the marks that follow from it are not.
    bench
        .storage
        .allow_commits(Some(1), tidehold_storage::fault::CommitFault::Before);
    bench.runtime.advance(10);
    assert!(bench.session.health().is_err());
    let mut bench = bench.restart();
    let live = bench.scheduler.live_tasks(ROOT);
    assert_eq!((live.len(), live[0].id), (2, owner));
    let pointless = &live[1];
    assert!(pointless.abandon_on_restart && !pointless.abort_requested);
    assert_eq!(reason(&mut bench, pointless.id), "request");
    assert_eq!(outcome_name(&bench.outcome(owner)), "completed");
}

#[test]
fn a_request_far_above_replaces_the_restart_marks_below() {
    // The leaf's kind is gone, so its restart mark waits for the definition, and everything above waits for the leaf.
    let mut bench = Bench::new(abandoning());
    let grandparent = bench.create(json!({}));
    let owned = bench.conversation_of(grandparent);
    let options = TaskOptions::in_conversation(owned).abandon_on_restart();
    let top = bench.create_with(json!({}), options);
    let leaf = bench.commit(async move |tx| {
        let gone = Probe::<Gone>::new();
        Ok(create(&tx, &gone, &json!({}), TaskOptions::owned_by(top))
            .await?
            .id())
    });
    bench.settle();
    let mut bench = bench.restart();
    bench.scheduler.resume();
    bench.settle();
    for id in [top, leaf] {
        assert_eq!(bench.record(id).abort_reason, Some(AbortMarkReason::Restart));
    }
    assert_eq!(
        bench.inspected(leaf),
        json!({ "kind": "blocked", "reason": "missing_task" })
    );
    bench.abort(grandparent);
    assert_eq!(reason(&mut bench, leaf), "missing_task");
    assert_eq!(reason(&mut bench, top), "request");
    assert_eq!(reason(&mut bench, grandparent), "request");
}

/// A kind that is never installed.
struct Gone;

impl Kind for Gone {
    const NAME: &'static str = "gone";
    const VERSION: u32 = 1;
}

#[test]
fn a_conversation_abort_orphans_an_abandoned_task_without_a_definition() {
    let mut bench = Bench::new(abandoning());
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let id = bench.create_with(json!({}), options);
    bench.settle();
    let mut bench = bench.restart_with(|registry| registry.remove("probe"));
    bench.scheduler.resume();
    bench.settle();
    assert_eq!(bench.record(id).abort_reason, Some(AbortMarkReason::Restart));
    let scheduler = bench.scheduler.clone();
    bench.commit(async move |tx| {
        let reached = scheduler.mark_aborts(&tx, ROOT, AbortScope::Foreground);
        reached.await.map(drop)
    });
    assert_eq!(reason(&mut bench, id), "missing_task");
}

#[test]
fn an_owners_own_clean_up_keeps_the_restart_mark() {
    let probe = abandoning().phase("cleans up", |_, runtime: Rt| async move {
        for child in runtime.owned_tasks().await? {
            runtime.abort_owned(child.id).await?;
        }
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = Bench::new(probe);
    let owner = bench.create(json!({ "start": { "phase": "cleans up", "at": START + 100 } }));
    // Abandoned, and below an owner that is not: the owner meets it marked.
    let stuck = bench.create_with(json!({}), TaskOptions::owned_by(owner).abandon_on_restart());
    bench.settle();
    let log = Rc::clone(&bench.log);
    let slow = abandoning()
        .logging_to(&log)
        .on_abort(|task, runtime: Rt| async move {
            runtime.sleep(START + 300).await?;
            let restart = task.record.abort_reason == Some(AbortMarkReason::Restart);
            let now = runtime.get_task(task.record.id).await?.unwrap();
            assert_eq!(
                now.abort_reason.is_some(),
                restart,
                "nothing replaced the mark meanwhile"
            );
            let reason = Some(if restart { "restart" } else { "request" }.into());
            runtime.finish(Outcome::Aborted { reason, result: None }).await
        });
    let slow = slow.phase("cleans up", |_, runtime: Rt| async move {
        for child in runtime.owned_tasks().await? {
            runtime.abort_owned(child.id).await?;
        }
        runtime.finish(Outcome::Completed(json!(null))).await
    });
    let mut bench = bench.restart_with(move |registry| registry.install(Rc::new(slow)));
    bench.scheduler.resume();
    assert_eq!(outcome_name(&bench.outcome(owner)), "completed");
    assert_eq!(bench.now(), START + 300);
    assert_eq!(reason(&mut bench, stuck), "restart");
}

#[test]
fn an_abandoned_task_that_holds_success_keeps_it_and_aborts_what_is_below() {
    let probe = parenting(abandoning()).phase("ends", done);
    let mut bench = Bench::new(probe);
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let owner = bench.create_with(parent(json!("ends"), vec![json!({})]), options);
    bench.settle();
    assert_eq!(bench.status(owner), "completing");
    let child = bench.scheduler.inspect()[1].record.id;
    let mut bench = bench.restart();
    let record = bench.wait(owner);
    assert_eq!(outcome_name(record.outcome().unwrap()), "completed");
    assert_eq!(record.abort_reason, Some(AbortMarkReason::Restart));
    assert_eq!(reason(&mut bench, child), "restart");
}

#[test]
fn background_work_below_an_abandoned_task_goes_on_unmarked() {
    let mut bench = Bench::new(abandoning());
    let options = TaskOptions::in_conversation(ROOT).abandon_on_restart();
    let top = bench.create_with(json!({}), options);
    let owned = bench.conversation_of(top);
    let background = bench.create_with(json!({}), TaskOptions::in_conversation(owned).background());
    bench.settle();
    let mut bench = bench.restart();
    bench.scheduler.resume();
    assert_eq!(reason(&mut bench, top), "restart");
    bench.settle();
    assert_eq!(
        (bench.status(background), bench.record(background).abort_requested),
        ("running", false)
    );
}
