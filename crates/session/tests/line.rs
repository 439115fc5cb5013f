//! The mutation line: who drives a job, in which order, and what a panic on it does.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use support::{entry, open, root};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::storage::{EntryQuery, ScanOrder};
use tidehold_session::{SessionError, Tx};

#[test]
fn an_admitted_commit_outlives_its_caller_and_the_line_is_first_in_first_out() {
    open(async |session| {
        root(&session).await;
        let append = |text: &'static str| {
            let session = session.clone();
            async move {
                session
                    .commit(async move |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry(text)).await)
                    .await
            }
        };
        // Begins at once and waits; its caller goes away.
        let (go_on, held) = futures::channel::oneshot::channel();
        let abandoned = session.commit(async move |tx: Tx| {
            let _go_on = held.await;
            tx.append_entry(ROOT_CONVERSATION_ID, entry("abandoned")).await
        });
        let mut abandoned = Box::pin(abandoned);
        assert!((&mut abandoned).now_or_never().is_none());
        drop(abandoned);
        // Polled once, which queues it, then dropped before its turn: withdrawn.
        let mut withdrawn = Box::pin(append("withdrawn"));
        assert!((&mut withdrawn).now_or_never().is_none());
        drop(withdrawn);
        let release = async move { go_on.send(()).unwrap() };
        let (one, two, ()) = futures::join!(append("one"), append("two"), release);
        assert!(one.unwrap().id < two.unwrap().id);
        assert!(
            append("idle").now_or_never().is_some(),
            "an idle line waits for nothing"
        );
        let query = EntryQuery {
            conversation_id: ROOT_CONVERSATION_ID,
            min_entry_id: None,
            max_entry_id: None,
            order: Some(ScanOrder::Ascending),
        };
        let page = session.scan_entries(&query, 10, None).await.unwrap();
        let texts = page
            .items
            .iter()
            .filter_map(|entry| entry.data.as_ref()?.as_str());
        assert_eq!(texts.collect::<Vec<_>>(), ["abandoned", "one", "two", "idle"]);
    });
}

/// Where a panic of the kernel ends: in work of the host, never in the caller's hands.
#[test]
fn a_panic_on_the_line_is_the_hosts_and_shuts_the_line() {
    let caught = Rc::new(RefCell::new(false));
    let seen = Rc::clone(&caught);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        open(async move |session| {
            root(&session).await;
            let mut job = Box::pin(session.on_line(async || -> () { panic!("the kernel broke") }));
            let poll = catch_unwind(AssertUnwindSafe(|| (&mut job).now_or_never()));
            *seen.borrow_mut() = poll.is_err();
            let after = session.commit(async |_: Tx| Ok::<_, SessionError>(()));
            assert!(after.now_or_never().is_none());
            std::future::pending::<()>().await;
        });
    }));
    let panic = ended.expect_err("the native host lets a panic of its work through");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the kernel broke"));
    assert!(!*caught.borrow(), "the caller met the panic");
}

#[test]
fn close_lets_admitted_commits_settle_and_refuses_later_calls() {
    open(async |session| {
        root(&session).await;
        let (go_on, held) = futures::channel::oneshot::channel();
        let append = session.commit(async move |tx: Tx| {
            let _go_on = held.await;
            tx.append_entry(ROOT_CONVERSATION_ID, entry("x")).await
        });
        let mut append = Box::pin(append);
        assert!((&mut append).now_or_never().is_none());
        let closing = session.close();
        go_on.send(()).unwrap();
        let (append, closed) = futures::join!(append, closing);
        // Queued before the seal: it settles.
        append.unwrap();
        closed.unwrap();
        assert!(matches!(
            session.conversation(ROOT_CONVERSATION_ID).await,
            Err(SessionError::Closed)
        ));
    });
}
