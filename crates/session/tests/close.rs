//! Closing: what settles, what is refused, and when it is over (spec 4 and 10.1).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use std::cell::RefCell;
use std::rc::Rc;
use support::{Bench, NOTES, append, bench, root, set};
use tidehold_delta::Json;
use tidehold_session::documents::{ConversationDoc, DocToken, ForkPolicy, History};
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID, SubmissionId, TaskId};
use tidehold_session::storage::{
    ConversationQuery, EntryQuery, Storage, StorageError, SubmissionQuery, TaskQuery,
};
use tidehold_session::{FailureCause, SessionEnd, SessionError, Tx};

static HISTORY: ConversationDoc = DocToken::of_conversation(
    "test.history",
    1,
    History::Rewindable {
        fork: ForkPolicy::AsOf,
    },
    Json::empty_object,
);

#[test]
fn a_commit_held_in_storage_settles_though_its_caller_is_gone() {
    bench(async |bench: Bench| {
        root(&bench.session).await;
        let held = bench.storage.hold_commits();
        let mut abandoned = Box::pin(append(&bench.session, "abandoned"));
        assert!((&mut abandoned).now_or_never().is_none());
        drop(abandoned);
        drop(held);
        let next = append(&bench.session, "next").await.unwrap();
        let first = bench.session.entry(EntryId(next.0 - 1)).await.unwrap();
        assert!(first.is_some(), "it was committed before the next one");
    });
}

#[test]
fn a_caller_that_gives_up_before_its_turn_runs_nothing() {
    bench(async |bench: Bench| {
        root(&bench.session).await;
        let held = bench.storage.hold_commits();
        let mut first = Box::pin(append(&bench.session, "first"));
        assert!((&mut first).now_or_never().is_none());
        let ran = Rc::new(RefCell::new(false));
        let told = Rc::clone(&ran);
        let mut second = Box::pin(bench.session.commit(async move |_: Tx| {
            *told.borrow_mut() = true;
            Ok::<_, SessionError>(())
        }));
        assert!((&mut second).now_or_never().is_none());
        drop(second);
        drop(held);
        first.await.unwrap();
        bench.turn().await;
        assert!(!*ran.borrow());
    });
}

#[test]
fn dropping_the_wait_reopens_nothing_and_a_later_close_waits_for_the_same_end() {
    bench(async |bench: Bench| {
        let (session, storage) = (&bench.session, &bench.storage);
        root(session).await;
        let held = storage.hold_close();
        let mut impatient = session.close();
        assert!((&mut impatient).now_or_never().is_none());
        drop(impatient);
        let refused = append(session, "late").await;
        assert!(matches!(refused, Err(SessionError::Closed)));
        let (mut later, mut ended) = (session.close(), session.closed());
        bench.turn().await;
        assert!((&mut later).now_or_never().is_none());
        assert!((&mut ended).now_or_never().is_none());
        drop(held);
        later.await.unwrap();
        assert!(matches!(ended.await, SessionEnd::Closed));
        assert!(session.close().now_or_never().unwrap().is_ok());
        assert!(matches!(storage.head().await, Err(StorageError::Closed)));
    });
}

#[test]
fn a_close_waits_for_reads_and_for_whoever_keeps_the_session_open() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let (held, running) = (bench.storage.hold_reads(), session.keep_open());
        let mut read = session.conversation(ROOT_CONVERSATION_ID);
        assert!((&mut read).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        // Begun before the seal: it is answered.
        assert!(read.await.unwrap().is_some());
        bench.turn().await;
        assert!((&mut closing).now_or_never().is_none());
        assert!(bench.storage.head().await.is_ok(), "the storage is open");
        drop(running);
        closing.await.unwrap();
    });
}

#[test]
fn reads_in_several_steps_that_began_before_the_seal_are_answered() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &HISTORY, "n", 1).await.unwrap();
        let entry = append(session, "x").await.unwrap();
        let held = bench.storage.hold_reads();
        let mut read = session.snapshot_as_of(&HISTORY, ROOT_CONVERSATION_ID, entry);
        assert!((&mut read).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        assert!(read.await.unwrap().is_some());
        closing.await.unwrap();
    });
}

#[test]
fn what_is_queued_on_the_line_at_the_seal_is_answered() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "n", 1).await.unwrap();
        session
            .commit(async |tx: Tx| tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await)
            .await
            .unwrap();
        let held = bench.storage.hold_commits();
        let mut slow = Box::pin(append(session, "slow"));
        assert!((&mut slow).now_or_never().is_none());
        let mut queued = Box::pin(append(session, "queued"));
        assert!((&mut queued).now_or_never().is_none());
        // Not in memory, so it has to wait for its turn.
        let mut snapshot = session.snapshot(&NOTES, ROOT_CONVERSATION_ID);
        assert!((&mut snapshot).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        closing.await.unwrap();
        slow.await.unwrap();
        queued.await.unwrap();
        assert_eq!(snapshot.await.unwrap(), None);
    });
}

#[test]
fn after_a_close_every_operation_rejects() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "n", 1).await.unwrap();
        session.close().await.unwrap();
        let entries = EntryQuery {
            conversation_id: ROOT_CONVERSATION_ID,
            min_entry_id: None,
            max_entry_id: None,
            order: None,
        };
        let at = ROOT_CONVERSATION_ID;
        let outcomes = [
            append(session, "x").await.map(drop),
            session.on_line(async || ()).await,
            session.conversation(at).await.map(drop),
            session
                .scan_conversations(&ConversationQuery::default(), 1, None)
                .await
                .map(drop),
            session.entry(EntryId(2)).await.map(drop),
            session.visible_entry(at, EntryId(2)).await.map(drop),
            session.latest_head_marker(at, None).await.map(drop),
            session.scan_entries(&entries, 1, None).await.map(drop),
            session.task(TaskId(2)).await.map(drop),
            session.scan_tasks(&TaskQuery::default(), 1, None).await.map(drop),
            session.submission(SubmissionId(2)).await.map(drop),
            session
                .scan_submissions(&SubmissionQuery::default(), 1, None)
                .await
                .map(drop),
            session.incarnation().await.map(drop),
            session.head().await.map(drop),
            session.snapshot(&NOTES, at).await.map(drop),
            session.snapshot(&NOTES, ConversationId(99)).await.map(drop),
            session.snapshot_as_of(&HISTORY, at, EntryId(2)).await.map(drop),
            session.health(),
        ];
        for (index, outcome) in outcomes.into_iter().enumerate() {
            assert!(
                matches!(outcome, Err(SessionError::Closed)),
                "operation {index}: {outcome:?}"
            );
        }
        assert!(SessionError::Closed.to_string().contains("closed"));
    });
}

#[test]
fn a_storage_that_does_not_close_fails_the_session() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        bench.storage.fail_close();
        let ends = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&ends);
        let _listener = session.subscribe_close(move |end| log.borrow_mut().push(end.clone()));
        let (closed, ended) = futures::join!(session.close(), session.closed());
        assert!(matches!(closed, Err(SessionError::Storage(_))));
        let SessionEnd::Failed(failed) = ended else {
            panic!("{ended:?}");
        };
        assert!(matches!(failed.cause, FailureCause::Storage(_)));
        assert_eq!(bench.reports(), [failed.to_string()]);
        // Listeners had heard of the close, and hear nothing twice.
        assert!(matches!(ends.borrow()[..], [SessionEnd::Closed]));
        assert!(matches!(session.close().await, Err(SessionError::Storage(_))));
        assert!(matches!(append(session, "x").await, Err(SessionError::Failed(_))));
    });
}

#[test]
fn a_closed_session_cannot_fail_any_more() {
    bench(async |bench: Bench| {
        bench.session.close().await.unwrap();
        bench.session.fail("too late".to_owned());
        assert!(matches!(bench.session.closed().await, SessionEnd::Closed));
        assert!(matches!(bench.session.health(), Err(SessionError::Closed)));
        assert_eq!(bench.reports(), Vec::<String>::new());
    });
}

#[test]
fn close_listeners_run_once_after_the_seal_and_none_hinders_another() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        let log: Rc<RefCell<Vec<String>>> = Rc::default();
        let note = |name: &'static str| {
            let (log, session) = (Rc::clone(&log), session.clone());
            move |_: &SessionEnd| {
                let sealed = session.health().is_err();
                log.borrow_mut().push(format!("{name} {sealed}"));
            }
        };
        let _last = session.after_close_listeners(note("code is stopped"));
        let _first = session.subscribe_close(note("first"));
        let _broken = session.subscribe_close(|_| panic!("a listener broke"));
        drop(session.subscribe_close(note("gone")));
        let _second = session.subscribe_close(note("second"));
        session.close().await.unwrap();
        session.close().await.unwrap();
        let _later = session.subscribe_close(note("later"));
        assert_eq!(
            *log.borrow(),
            ["first true", "second true", "code is stopped true"]
        );
        assert_eq!(bench.reports(), ["a close listener panicked: a listener broke"]);
    });
}
