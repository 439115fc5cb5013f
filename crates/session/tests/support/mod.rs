//! Sessions over the memory backend, on a virtual clock.

#![allow(dead_code)]

use std::cell::RefCell;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::documents::{ConversationDoc, DocToken, History, LatestFork, TaskDoc};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{EntryDraft, TaskCreate, TaskOwnership};
use tidehold_session::storage::Storage;
use tidehold_session::{Session, SessionError, SessionOptions, Tx};
use tidehold_storage::fault::Countdown;
use tidehold_storage::memory::MemoryStorage;

/// Latest only, and a fork begins without it.
pub const OWN: History = History::Latest {
    fork: LatestFork::Initial,
};

pub static NOTES: ConversationDoc = DocToken::of_conversation("test.notes", 1, OWN, Json::empty_object);

pub static SCRATCH: TaskDoc = DocToken::of_task("test.scratch", 1, Json::empty_object);

pub fn entry(text: &str) -> EntryDraft {
    EntryDraft {
        kind: "test".into(),
        data: Some(Json::from(text)),
        ..EntryDraft::default()
    }
}

pub fn task(ownership: TaskOwnership) -> TaskCreate {
    TaskCreate {
        kind: "test.task".into(),
        version: 1,
        input: Json::Null,
        checkpoint: Json::empty_object(),
        ownership,
        conversation_id: Some(ROOT_CONVERSATION_ID),
        background: false,
        abandon_on_restart: false,
    }
}

pub async fn root(session: &Session) {
    session
        .commit(async |tx: Tx| tx.create_root().await)
        .await
        .expect("a fresh session has no root");
}

/// One commit that must succeed.
pub async fn change<T: 'static>(
    session: &Session,
    body: impl AsyncFnOnce(Tx) -> Result<T, SessionError> + 'static,
) -> T {
    session.commit(body).await.expect("the commit is valid")
}

fn on(storage: Rc<dyn Storage>, test: impl AsyncFnOnce(Session) + 'static) {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let session = Session::open(storage, runtime.host(), SessionOptions::default());
    runtime
        .run(async move { test(session).await })
        .expect("the test must not wait for ever");
}

pub fn open(test: impl AsyncFnOnce(Session) + 'static) {
    on(Rc::new(MemoryStorage::new("incarnation".to_owned())), test);
}

/// The second argument of the test makes every storage call from then on fail.
pub fn open_faulty(test: impl AsyncFnOnce(Session, Rc<dyn Fn()>) + 'static) {
    let storage = Rc::new(Countdown::new(MemoryStorage::new("incarnation".to_owned())));
    let faulty = Rc::clone(&storage);
    let arm: Rc<dyn Fn()> = Rc::new(move || faulty.allow_calls(Some(0)));
    on(storage, async move |session| test(session, arm).await);
}

/// A session, the storage under it and what it reported.
#[derive(Clone)]
pub struct Bench {
    pub session: Session,
    pub storage: Rc<Countdown<MemoryStorage>>,
    pub reports: Rc<RefCell<Vec<String>>>,
}

pub fn bench(test: impl AsyncFnOnce(Bench) + 'static) {
    bench_with(SessionOptions::default(), test);
}

pub fn bench_with(options: SessionOptions, test: impl AsyncFnOnce(Bench) + 'static) {
    let storage = Rc::new(Countdown::new(MemoryStorage::new("incarnation".to_owned())));
    let reports: Rc<RefCell<Vec<String>>> = Rc::default();
    let log = Rc::clone(&reports);
    let options = SessionOptions {
        on_report: Some(Rc::new(move |report| log.borrow_mut().push(report))),
        ..options
    };
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let session = Session::open(Rc::clone(&storage) as _, runtime.host(), options);
    let bench = Bench {
        session,
        storage,
        reports,
    };
    runtime
        .run(async move { test(bench).await })
        .expect("the test must not wait for ever");
}

impl Bench {
    /// A moment in which everything spawned runs.
    pub async fn turn(&self) {
        let host = self.session.host();
        host.sleep_until(host.now() + 1).await;
    }

    pub fn reports(&self) -> Vec<String> {
        self.reports.borrow().clone()
    }
}

/// Appends an entry.
pub async fn append(session: &Session, text: &'static str) -> Result<EntryId, SessionError> {
    let appended =
        session.commit(async move |tx: Tx| tx.append_entry(ROOT_CONVERSATION_ID, entry(text)).await);
    Ok(appended.await?.id)
}

/// Sets one member of a conversation's document.
pub async fn set(
    session: &Session,
    token: &'static ConversationDoc,
    member: &'static str,
    value: u64,
) -> Result<(), SessionError> {
    session
        .commit(async move |tx: Tx| {
            let draft = tx.doc(token, ROOT_CONVERSATION_ID).await?;
            Ok(draft.at(member).set(value)?)
        })
        .await
}

/// With the storage, whose calls can be counted and made to fail.
pub fn open_counted(test: impl AsyncFnOnce(Session, Rc<Countdown<MemoryStorage>>) + 'static) {
    let storage = Rc::new(Countdown::new(MemoryStorage::new("incarnation".to_owned())));
    let counted = Rc::clone(&storage);
    on(storage, async move |session| test(session, counted).await);
}
