//! Several changes of one task in one transaction: none is lost.
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
use tidehold_delta::json;
use tidehold_tasks::*;

type Rt = Runtime<Probe>;

/// Runs until it is told to stop.
fn obedient() -> Probe {
    Probe::new().phase("first", |_, runtime: Rt| async move {
        runtime.signal().aborted().await;
        Ok(())
    })
}

/// A slot for the scheduler of a bench, for phases that call it.
type Handle = Rc<RefCell<Option<Scheduler>>>;

#[test]
fn a_task_that_aborts_its_own_conversation_keeps_its_mark() {
    let handle = Handle::default();
    let own = Rc::clone(&handle);
    let probe = obedient().phase("aborts", move |_, runtime: Rt| {
        let scheduler = own.borrow().clone().unwrap();
        async move {
            runtime
                .commit(async move |tx, _| {
                    scheduler.mark_aborts(&tx, ROOT, AbortScope::Foreground).await?;
                    Ok(Some(Next::Continue(json!({ "phase": "never" }))))
                })
                .await
        }
    });
    let mut bench = Bench::new(probe);
    *handle.borrow_mut() = Some(bench.scheduler.clone());
    let id = bench.create(json!({ "start": { "phase": "aborts" } }));
    let record = bench.wait(id);
    assert!(record.abort_requested);
    assert_eq!(outcome_name(record.outcome().unwrap()), "aborted");
    assert_eq!(bench.log(), [format!("aborts {id}"), format!("abort {id}")]);
}

#[test]
fn a_poke_and_a_mark_in_one_commit_are_both_kept() {
    for poke_first in [true, false] {
        let deaf = Probe::new().phase("first", |_, runtime: Rt| async move {
            runtime.session().host().sleep_until(START + 100).await;
            Ok(())
        });
        let mut bench = Bench::new(deaf);
        let id = bench.create(json!({}));
        bench.settle();
        let scheduler = bench.scheduler.clone();
        bench.commit(async move |tx| {
            if poke_first {
                scheduler.poke_in(&tx, id).await?;
            }
            scheduler.mark_aborts(&tx, ROOT, AbortScope::Foreground).await?;
            if !poke_first {
                scheduler.poke_in(&tx, id).await?;
            }
            Ok(())
        });
        let record = bench.record(id);
        assert_eq!(record.memos.get("tidehold.pokes"), Some(&json!(1)));
        assert!(record.abort_requested);
    }
}
