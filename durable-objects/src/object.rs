//! The Durable Object class of the product: the frame around [`SessionApp`], one line a handler.

use crate::app::SessionApp;
use crate::frame::Frame;
use std::panic::AssertUnwindSafe;
use worker::{
    DurableObject, Env, Error, Request, Response, Result, State, WebSocket, WebSocketIncomingMessage,
    durable_object,
};

/// One session. A panic is caught by the frame, which drops the session's memory; that is why asserting unwind safety
/// for the field is true.
#[durable_object]
pub struct SessionObject {
    frame: AssertUnwindSafe<Frame<SessionApp>>,
}

// All handlers are written out: the defaults of the trait panic.
impl DurableObject for SessionObject {
    fn new(state: State, env: Env) -> Self {
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
        Err(Error::RustError("sessions take no raw connections".to_owned()))
    }

    // No socket is ever accepted yet, so the platform has none to report.

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
