//! Documents stay in memory while they are used, and no longer (spec 4).
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

mod support;

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

fn open(retention: Option<Millis>, test: impl AsyncFnOnce(Session, Storage) + 'static) {
    let storage = Rc::new(Countdown::new(MemoryStorage::new("incarnation".to_owned())));
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let options = SessionOptions {
        document_retention_ms: retention
            .map(|retention| Rc::new(move || retention) as Rc<dyn Fn() -> Millis>),
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
