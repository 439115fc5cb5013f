//! Durable tasks of a test's own in the product's frame, session and adapters: `POST /{session}` with `{"name": …}`.
//!
//! The test beside it (tests/tasks.test.mjs) kills the server around them and reads what they left behind.

mod app;
mod definitions;
mod work;
mod world;

use app::{TasksApp, TasksOperation};
use std::panic::AssertUnwindSafe;
use tidehold_delta::FromJson;
use tidehold_durable_objects::frame::Frame;
use tidehold_durable_objects::protocol::{
    Accept, CALL, Call, Caller, OUTCOME, OperationError, from_json_text, to_ascii_json,
};
use worker::{
    Context, DurableObject, Env, Error, Headers, Method, Request, RequestInit, Response, Result, State,
    WebSocket, WebSocketIncomingMessage, durable_object, event,
};
use world::World;

#[durable_object]
pub struct TasksObject {
    frame: AssertUnwindSafe<Frame<TasksApp>>,
}

impl DurableObject for TasksObject {
    fn new(state: State, env: Env) -> Self {
        // Before the product touches anything.
        World::of(&state);
        Self {
            frame: AssertUnwindSafe(Frame::new(state, env)),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        self.frame.fetch(request).await
    }

    async fn alarm(&self) -> Result<Response> {
        self.frame.alarm().await
    }

    async fn connect(&self, _socket: worker::Socket) -> Result<()> {
        Ok(())
    }

    async fn websocket_message(&self, _socket: WebSocket, _message: WebSocketIncomingMessage) -> Result<()> {
        Ok(())
    }

    async fn websocket_close(
        &self,
        _socket: WebSocket,
        _code: usize,
        _reason: String,
        _clean: bool,
    ) -> Result<()> {
        Ok(())
    }

    async fn websocket_error(&self, _socket: WebSocket, _error: Error) -> Result<()> {
        Ok(())
    }
}

/// Passes the operation on as the product's Worker does.
#[event(fetch)]
async fn fetch(mut request: Request, env: Env, _context: Context) -> Result<Response> {
    let session = request.url()?.path().trim_matches('/').to_owned();
    let operation: TasksOperation = read(&request.text().await?)?;
    let call = Call {
        operation,
        caller: Caller {
            project: "test".to_owned(),
            subject: None,
            rate_limited: false,
        },
        session: session.clone(),
        accept: Accept::Json,
        if_incarnation: None,
        request_id: String::new(),
        traceparent: None,
    };
    let headers = Headers::new();
    headers.set(CALL, &to_ascii_json(&call)?)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_headers(headers);
    let request = Request::new_with_init("https://session.internal/", &init)?;
    let mut answer = env
        .durable_object("SESSIONS")?
        .get_by_name(&session)?
        .fetch_with_request(request)
        .await?;
    if answer.headers().get(OUTCOME)?.as_deref() != Some("error") {
        return Ok(answer);
    }
    let error: OperationError = read(&answer.text().await?)?;
    Ok(Response::from_json(&error)?.with_status(500))
}

fn read<T: FromJson>(text: &str) -> Result<T> {
    from_json_text(text).map_err(Into::into)
}
