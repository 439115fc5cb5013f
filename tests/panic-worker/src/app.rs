//! The session under test.

use crate::in_frame::product_request;
use crate::work;
use futures::channel::mpsc::UnboundedSender;
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::{FromJson, Json};
use tidehold_durable_objects::app::{OpenSession, SessionApp};
use tidehold_durable_objects::frame::{App, Platform, Reply, Request};
use tidehold_durable_objects::protocol::{Operation, OperationError};
use tidehold_durable_objects::streams::Frame;

pub struct PanicApp;

/// What the test asks for.
#[derive(Clone, Debug, Serialize, FromJson)]
#[serde(tag = "name", rename_all = "camelCase")]
pub enum PanicOperation {
    /// Stores a text, and counts this call in memory.
    Remember { text: String },
    /// The stored text and the calls since the session was opened.
    Recall,
    /// Answers after that many milliseconds.
    Hold { ms: u32 },
    /// Counts in a spawned task, a step every 20 ms, and tells each step to the streams.
    Run,
    /// An event stream of the steps.
    Watch,
    /// Panics in the request, with a borrow open.
    PanicNow,
    /// Panics in a spawned task after that many milliseconds.
    PanicLater { ms: u32 },
    /// Panics inside a transaction.
    PanicInTransaction,
    /// An operation of the product, on the product's session in the same object.
    Product { operation: Operation, body: String },
}

pub struct PanicSession {
    pub platform: Platform,
    pub product: Rc<OpenSession>,
    pub calls: Cell<u32>,
    pub steps: Cell<u32>,
    pub streams: RefCell<Vec<UnboundedSender<Frame>>>,
}

impl App for PanicApp {
    type Operation = PanicOperation;
    type Session = PanicSession;

    async fn open(platform: Platform) -> Result<PanicSession, OperationError> {
        work::create_table(&platform);
        let product = Rc::new(SessionApp::open(platform.clone()).await?);
        Ok(PanicSession {
            platform,
            product,
            calls: Cell::new(0),
            steps: Cell::new(0),
            streams: RefCell::default(),
        })
    }

    async fn perform(
        session: Rc<PanicSession>,
        request: Request<PanicOperation>,
    ) -> Result<Reply, OperationError> {
        session.calls.set(session.calls.get() + 1);
        match request.call.operation.clone() {
            PanicOperation::Remember { text } => work::remember(&session, &text),
            PanicOperation::Recall => {}
            PanicOperation::Hold { ms } => work::hold(ms).await,
            PanicOperation::Run => work::run(&session),
            PanicOperation::Watch => return Ok(work::watch(&session)),
            PanicOperation::PanicNow => {
                let _open = session.streams.borrow_mut();
                panic!("on request");
            }
            PanicOperation::PanicLater { ms } => work::panic_later(&session, ms),
            PanicOperation::PanicInTransaction => work::panic_in_transaction(&session),
            PanicOperation::Product { operation, body } => {
                let request = product_request(request.call, operation, body);
                return SessionApp::perform(Rc::clone(&session.product), request).await;
            }
        }
        Ok(Reply::Json(Json::object([
            (
                "stored",
                work::recall(&session).map_or(Json::Null, |text| Json::from(text.as_str())),
            ),
            ("calls", Json::from(session.calls.get())),
            ("steps", Json::from(session.steps.get())),
            ("readers", Json::from(work::readers(&session))),
        ])))
    }

    async fn alarm(session: Rc<PanicSession>) -> Result<(), String> {
        SessionApp::alarm(Rc::clone(&session.product)).await
    }
}
