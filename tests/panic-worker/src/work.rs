//! What the session does between its panics.

use crate::app::PanicSession;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt};
use std::rc::Rc;
use tidehold_durable_objects::frame::{Platform, Reply};
use tidehold_durable_objects::platform::storage::{ObjectStorage, of_state};
use tidehold_durable_objects::platform::timer::{now, sleep};
use tidehold_durable_objects::streams::sse::{FrameSource, Next};
use tidehold_durable_objects::streams::{Frame, FrameKind};
use tidehold_session::host::Host;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(
    inline_js = "export const transactionSync = (storage, body) => storage.transactionSync(body);"
)]
extern "C" {
    /// The product calls no Rust inside a transaction; this test does.
    #[wasm_bindgen(catch, js_name = transactionSync)]
    fn transaction_sync(
        storage: &ObjectStorage,
        body: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;
}

#[derive(serde::Deserialize)]
struct Row {
    text: String,
}

pub fn create_table(platform: &Platform) {
    let sql = platform.state.storage().sql();
    sql.exec(
        "CREATE TABLE IF NOT EXISTS memory (id INTEGER PRIMARY KEY, text TEXT)",
        None,
    )
    .unwrap();
}

pub fn remember(session: &PanicSession, text: &str) {
    let sql = session.platform.state.storage().sql();
    sql.exec(
        "INSERT OR REPLACE INTO memory VALUES (1, ?)",
        Some(vec![text.into()]),
    )
    .unwrap();
}

pub fn recall(session: &PanicSession) -> Option<String> {
    let sql = session.platform.state.storage().sql();
    let rows: Vec<Row> = sql
        .exec("SELECT text FROM memory", None)
        .unwrap()
        .to_array()
        .unwrap();
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
            // A reader that is gone leaves the list.
            running
                .streams
                .borrow_mut()
                .retain(|stream| stream.unbounded_send(frame.clone()).is_ok());
        }
    };
    host.spawn(steps.boxed_local());
}

pub fn watch(session: &PanicSession) -> Reply {
    let (sender, receiver) = unbounded();
    sender
        .unbounded_send(frame(FrameKind::Snapshot, session.steps.get()))
        .unwrap();
    session.streams.borrow_mut().push(sender);
    Reply::Events(Box::new(Steps(receiver)))
}

pub fn readers(session: &PanicSession) -> u32 {
    session
        .streams
        .borrow()
        .iter()
        .filter(|stream| !stream.is_closed())
        .count() as u32
}

struct Steps(UnboundedReceiver<Frame>);

impl FrameSource for Steps {
    fn next(&mut self) -> LocalBoxFuture<'_, Next> {
        self.0
            .next()
            .map(|frame| frame.map_or(Next::End("dropped"), Next::Frame))
            .boxed_local()
    }
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
    let outcome = transaction_sync(&storage, &mut move || {
        let body = &mut body;
        (**body)()
    });
    // What a storage error is to the kernel.
    outcome.expect("the transaction holds");
}

fn frame(kind: FrameKind, step: u32) -> Frame {
    Frame {
        kind,
        id: format!("test-{step}").into(),
        data: step.to_string().into(),
    }
}
