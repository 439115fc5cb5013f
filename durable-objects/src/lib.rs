//! placeholder
use std::panic::AssertUnwindSafe;
use worker::{DurableObject, Env, Request, Response, State, durable_object};

#[durable_object]
pub struct SessionObject {
    state: AssertUnwindSafe<State>,
}

impl DurableObject for SessionObject {
    fn new(state: State, _env: Env) -> Self {
        Self { state: AssertUnwindSafe(state) }
    }
    async fn fetch(&self, _request: Request) -> worker::Result<Response> {
        self.state.storage().set_alarm(5000).await?;
        Response::ok("hello")
    }
    async fn alarm(&self) -> worker::Result<Response> {
        worker::console_log!("alarm fired");
        Response::ok("")
    }
    async fn websocket_message(&self, _ws: worker::WebSocket, _m: worker::WebSocketIncomingMessage) -> worker::Result<()> { Ok(()) }
    async fn websocket_close(&self, _ws: worker::WebSocket, _code: usize, _reason: String, _clean: bool) -> worker::Result<()> { Ok(()) }
    async fn websocket_error(&self, _ws: worker::WebSocket, _e: worker::Error) -> worker::Result<()> { Ok(()) }
}
