//! What the session does between its panics.

use crate::app::PanicSession;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_durable_objects::frame::{Platform, Reply};
use tidehold_durable_objects::platform::storage::of_state;
use tidehold_durable_objects::platform::timer::{now, sleep};
use tidehold_durable_objects::streams::outbox::Outbox;
use tidehold_durable_objects::streams::sse::{EventStream, FrameSource};
use tidehold_durable_objects::streams::{Frame, FrameKind};
use tidehold_session::host::Host;
use wasm_bindgen::JsValue;

#[derive(serde::Deserialize)]
struct Row {
    text: String,
}

pub fn create_table(platform: &Platform) {
    let sql = platform.state.storage().sql();
    sql.exec("CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY, text TEXT)", None).unwrap();
}

pub fn remember(session: &PanicSession, text: &str) {
    let sql = session.platform.state.storage().sql();
    sql.exec("INSERT OR REPLACE INTO memory VALUES (1, ?)", Some(vec![text.into()])).unwrap();
}

pub fn recall(session: &PanicSession) -> Option<String> {
    let sql = session.platform.state.storage().sql();
    let rows: Vec<Row> = sql.exec("SELECT text FROM memory", None).unwrap().to_array().unwrap();
    rows.into_iter().next().map(|row| row.text)
}

pub async fn hold(ms: u32) {
    sleep(ms.into()).await;
}

pub fn run(session: &Rc<PanicSession>) {
    let (host, running) = (session.platform.host(), Rc::clone(session));
    let steps = async move {
        loop {
            sleep(20).await;
            running.steps.set(running.steps.get() + 1);
            let frame = frame(FrameKind::Batch, running.steps.get());
            running.streams.borrow().iter().for_each(|stream| stream.push(frame.clone()));
        }
    };
    host.spawn(steps.boxed_local());
}

pub fn watch(session: &Rc<PanicSession>) -> Reply {
    let outbox = Outbox::default();
    session.streams.borrow_mut().push(outbox.clone());
    let source = Box::new(Steps(Rc::clone(session), outbox.clone()));
    Reply::Events(EventStream { first: vec![frame(FrameKind::Snapshot, session.steps.get())], outbox, source })
}

pub fn panic_later(session: &Rc<PanicSession>, ms: u32) {
    let host = session.platform.host();
    let at = now() + u64::from(ms);
    let waiting = host.sleep_until(at);
    let panicking = async move {
        waiting.await;
        panic!("in a task");
    };
    host.spawn(panicking.boxed_local());
}

pub fn panic_in_transaction(session: &PanicSession) {
    let storage = of_state(&session.platform.state).unwrap();
    let mut body = std::panic::AssertUnwindSafe(|| -> Result<JsValue, JsValue> {
        remember(session, "never");
        panic!("in a transaction");
    });
    let outcome = storage.transaction_sync(&mut move || {
        let body = &mut body;
        (**body)()
    });
    // What a storage error is to the kernel.
    outcome.expect("the transaction holds");
}

struct Steps(Rc<PanicSession>, Outbox);

impl Drop for Steps {
    /// The carrier dropped it: the reader is gone.
    fn drop(&mut self) {
        self.0.streams.borrow_mut().retain(|stream| !stream.is(&self.1));
    }
}

impl FrameSource for Steps {
    fn snapshot(&self) -> LocalBoxFuture<'_, Option<Frame>> {
        let snapshot = frame(FrameKind::Snapshot, self.0.steps.get());
        self.0.streams.borrow().iter().for_each(Outbox::restart);
        async { Some(snapshot) }.boxed_local()
    }
}

fn frame(kind: FrameKind, step: u32) -> Frame {
    Frame { kind, id: format!("test-{step}").into(), data: step.to_string().into() }
}
