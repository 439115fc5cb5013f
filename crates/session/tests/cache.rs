//! Documents stay in memory while they are used, and no longer (spec 4).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

use futures::FutureExt;
use std::cell::Cell;
use std::rc::Rc;
use support::{NOTES, OWN, root};
use tidehold_delta::Json;
use tidehold_session::documents::{ConversationDoc, DocToken};
use tidehold_session::host::Millis;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::{Session, SessionError, SessionOptions, Tx};
use tidehold_storage::fault::Countdown;
use tidehold_storage::memory::MemoryStorage;

static OTHER: ConversationDoc = DocToken::of_conversation("test.other", 1, OWN, Json::empty_object);

type Storage = Rc<Countdown<MemoryStorage>>;

/// Whether the document is in memory: reading it needs no storage.
async fn is_kept(session: &Session, storage: &Storage, def: &'static ConversationDoc) -> bool {
    let held = storage.hold_reads();
    let mut snapshot = session.snapshot(def, ROOT_CONVERSATION_ID);
    let kept = (&mut snapshot).now_or_never().is_some();
    drop(held);
    if !kept {
        snapshot.await.unwrap();
    }
    kept
}

fn open(retention: Option<Millis>, test: impl AsyncFnOnce(Session, Storage) + 'static) {
    let retention = retention.map(|retention| Rc::new(move || retention) as Rc<dyn Fn() -> Millis>);
    open_with(retention, test);
}

fn open_with(
    document_retention_ms: Option<Rc<dyn Fn() -> Millis>>,
    test: impl AsyncFnOnce(Session, Storage) + 'static,
) {
    let storage = Rc::new(Countdown::new(MemoryStorage::new("incarnation".to_owned())));
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let options = SessionOptions {
        document_retention_ms,
        ..SessionOptions::default()
    };
    let session = Session::open(Rc::clone(&storage) as _, runtime.host(), options);
    runtime
        .run(async move { test(session, storage).await })
        .expect("the test must not wait for ever");
}

async fn write(session: &Session, def: &'static ConversationDoc, value: u64) {
    session
        .commit(async move |tx: Tx| {
            tx.doc(def, ROOT_CONVERSATION_ID).await?.at("value").set(value)?;
            Ok::<_, SessionError>(())
        })
        .await
        .unwrap();
}

async fn read(session: &Session, def: &'static ConversationDoc) -> Result<Option<u64>, SessionError> {
    let value = session.snapshot(def, ROOT_CONVERSATION_ID).await?;
    Ok(value.and_then(|value| value.get("value").and_then(Json::as_u64)))
}

async fn pass(session: &Session, millis: Millis) {
    let host = session.host();
    host.sleep_until(host.now() + millis).await;
}

#[test]
fn only_what_is_used_stays() {
    open(None, async |session, storage| {
        root(&session).await;
        write(&session, &NOTES, 1).await;
        write(&session, &OTHER, 2).await;
        for minute in 0..12 {
            pass(&session, 60_000).await;
            write(&session, &OTHER, minute).await;
            assert_eq!(read(&session, &OTHER).await.unwrap(), Some(minute));
        }
        // The used one needs no storage; the idle one was forgotten, and is read again as it was.
        storage.allow_reads(Some(0));
        assert_eq!(read(&session, &OTHER).await.unwrap(), Some(11));
        storage.allow_reads(None);
        assert_eq!(read(&session, &NOTES).await.unwrap(), Some(1));
        pass(&session, 601_000).await;
        write(&session, &OTHER, 12).await;
        storage.allow_reads(Some(0));
        assert!(matches!(
            read(&session, &NOTES).await,
            Err(SessionError::Storage(_))
        ));
    });
}

#[test]
fn without_retention_nothing_stays_and_nothing_is_lost() {
    open(Some(0), async |session, storage| {
        root(&session).await;
        for value in 0..5 {
            write(&session, &NOTES, value).await;
            assert_eq!(read(&session, &NOTES).await.unwrap(), Some(value));
        }
        write(&session, &NOTES, 5).await;
        storage.allow_reads(Some(0));
        assert!(matches!(
            read(&session, &NOTES).await,
            Err(SessionError::Storage(_))
        ));
    });
}

/// A transaction keeps the document it acquired, however long it takes, and commits on top of it.
#[test]
fn a_transaction_loses_nothing_while_it_waits() {
    open(Some(1_000), async |session, _storage| {
        root(&session).await;
        write(&session, &NOTES, 1).await;
        let host = Rc::clone(session.host());
        session
            .commit(async move |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                host.sleep_until(host.now() + 5_000).await;
                draft.at("more").set(2_u64)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        pass(&session, 5_000).await;
        write(&session, &OTHER, 1).await;
        let value = session
            .snapshot(&NOTES, ROOT_CONVERSATION_ID)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            (value.get("value"), value.get("more")),
            (Some(&Json::from(1_u64)), Some(&Json::from(2_u64)))
        );
    });
}

#[test]
fn what_is_observed_stays_until_the_last_observer_is_gone() {
    open(Some(0), async |session, storage| {
        root(&session).await;
        write(&session, &NOTES, 1).await;
        let at = ROOT_CONVERSATION_ID;
        let state = session.document_state(&NOTES, at).await.unwrap().unwrap();
        let watch = session.watch_doc(&NOTES, at).await.unwrap().unwrap();
        let kept = async || {
            write(&session, &OTHER, 1).await;
            is_kept(&session, &storage, &NOTES).await
        };
        assert!(kept().await);
        write(&session, &NOTES, 2).await;
        pass(&session, 3_600_000).await;
        assert!(kept().await);
        state.dispose();
        state.dispose();
        assert!(kept().await);
        watch.stop();
        watch.stop();
        assert!(!kept().await);
        drop((state, watch));
        // Dropped without further words.
        drop(session.document_state(&NOTES, at).await.unwrap().unwrap());
        drop(session.watch_doc(&NOTES, at).await.unwrap().unwrap());
        assert!(!kept().await);
    });
}

/// Behind other work and in its own read: whoever gave up is not registered.
#[test]
fn an_acquisition_that_was_given_up_keeps_nothing() {
    open(Some(0), async |session, storage| {
        root(&session).await;
        write(&session, &NOTES, 1).await;
        for busy in [false, true] {
            let commits = storage.hold_commits();
            let mut slow = Box::pin(write(&session, &OTHER, 1));
            if busy {
                assert!((&mut slow).now_or_never().is_none());
            }
            let reads = storage.hold_reads();
            let mut state = session.document_state(&NOTES, ROOT_CONVERSATION_ID);
            let mut watch = session.watch_doc(&NOTES, ROOT_CONVERSATION_ID);
            assert!((&mut state).now_or_never().is_none());
            assert!((&mut watch).now_or_never().is_none());
            drop((state, watch, commits, reads));
            slow.await;
            write(&session, &OTHER, 2).await;
            assert!(!is_kept(&session, &storage, &NOTES).await);
        }
    });
}

#[test]
fn a_retired_incarnation_gives_back_its_place_and_the_next_one_is_nobodys() {
    open(Some(0), async |session, storage| {
        root(&session).await;
        write(&session, &NOTES, 1).await;
        let at = ROOT_CONVERSATION_ID;
        let state = session.document_state(&NOTES, at).await.unwrap().unwrap();
        session
            .commit(async |tx: Tx| {
                tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                tx.doc(&NOTES, ROOT_CONVERSATION_ID)
                    .await?
                    .at("value")
                    .set(2_u64)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        assert!(!is_kept(&session, &storage, &NOTES).await);
        let next = session.document_state(&NOTES, at).await.unwrap().unwrap();
        // The end of the old one takes nothing from the new one.
        drop(state);
        write(&session, &OTHER, 1).await;
        assert!(is_kept(&session, &storage, &NOTES).await);
        drop(next);
        write(&session, &OTHER, 2).await;
        assert!(!is_kept(&session, &storage, &NOTES).await);
    });
}

#[test]
fn constant_use_is_noted_once_a_granule() {
    // A tenth of the retention, at most a second.
    for (retention, granule) in [(1_000, 100), (60_000, 1_000)] {
        open(Some(retention), async move |session, storage| {
            root(&session).await;
            write(&session, &NOTES, 1).await;
            pass(&session, granule - 1).await;
            read(&session, &NOTES).await.unwrap();
            // Not noted: it was used within the granule. One moment later it would have been.
            pass(&session, retention - granule).await;
            write(&session, &OTHER, 1).await;
            assert!(is_kept(&session, &storage, &NOTES).await);
        });
        open(Some(retention), async move |session, storage| {
            root(&session).await;
            write(&session, &NOTES, 1).await;
            pass(&session, granule - 1).await;
            read(&session, &NOTES).await.unwrap();
            pass(&session, retention - granule + 1).await;
            write(&session, &OTHER, 1).await;
            assert!(!is_kept(&session, &storage, &NOTES).await);
        });
        open(Some(retention), async move |session, storage| {
            root(&session).await;
            write(&session, &NOTES, 1).await;
            pass(&session, granule).await;
            read(&session, &NOTES).await.unwrap();
            pass(&session, retention - 1).await;
            write(&session, &OTHER, 1).await;
            assert!(is_kept(&session, &storage, &NOTES).await);
            pass(&session, 1).await;
            write(&session, &OTHER, 2).await;
            assert!(is_kept(&session, &storage, &NOTES).await, "read a moment ago");
        });
    }
}

#[test]
fn the_retention_is_read_after_each_commit_and_forever_is_forever() {
    let retention = Rc::new(Cell::new(Millis::MAX));
    let chosen = Rc::clone(&retention);
    open_with(
        Some(Rc::new(move || chosen.get())),
        async move |session, storage| {
            root(&session).await;
            write(&session, &NOTES, 1).await;
            pass(&session, 1 << 50).await;
            write(&session, &OTHER, 1).await;
            assert!(is_kept(&session, &storage, &NOTES).await);
            // Shortened: at the next commit, also one that writes nothing.
            retention.set(0);
            assert!(is_kept(&session, &storage, &NOTES).await);
            session
                .commit(async |_: Tx| Ok::<_, SessionError>(()))
                .await
                .unwrap();
            assert!(!is_kept(&session, &storage, &NOTES).await);
        },
    );
}
