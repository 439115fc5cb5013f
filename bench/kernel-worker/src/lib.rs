//! The kernel inside a Durable Object, for bench/run.mjs. Every route is a `POST` with JSON, and runs in a fresh object.
//!
//! `/workload` describes the writes of one commit, so that the raw object beside it makes the same. `/commits`, `/entries` and
//! `/documents` make commits and answer how long they took, `/fill` and `/open` do the same for opening a session.

mod commits;
mod documents;
mod entries;
mod kernel;
mod opening;
mod workload;

use serde::Serialize;
use std::panic::AssertUnwindSafe;
use tidehold_durable_objects::platform::storage::of_state;
use tidehold_session::SessionError;
use worker::{
    Context, DurableObject, Env, Error, Request, Response, Result, State, WebSocket,
    WebSocketIncomingMessage, durable_object, event,
};

#[durable_object]
pub struct KernelObject {
    state: AssertUnwindSafe<State>,
}

// All handlers are written out: the defaults of the trait panic.
impl DurableObject for KernelObject {
    fn new(state: State, _env: Env) -> Self {
        Self {
            state: AssertUnwindSafe(state),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let storage = of_state(&self.state)?;
        match request.path().as_str() {
            "/workload" => Response::from_json(&workload::describe()),
            "/commits" => answer(commits::run(storage, request.json().await?).await),
            "/entries" => answer(entries::run(storage, request.json().await?).await),
            "/documents" => answer(documents::run(storage, request.json().await?).await),
            "/fill" => answer(opening::fill(storage, request.json().await?).await),
            "/open" => answer(opening::open(storage, request.json().await?).await),
            path => Response::error(format!("{path} is unknown here"), 404),
        }
    }

    async fn alarm(&self) -> Result<Response> {
        Response::empty()
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

fn answer<T: Serialize>(result: std::result::Result<T, SessionError>) -> Result<Response> {
    match result {
        Ok(answer) => Response::from_json(&answer),
        Err(error) => Response::error(error.to_string(), 500),
    }
}

/// The benchmark speaks to the objects themselves.
#[event(fetch)]
async fn fetch(_request: Request, _env: Env, _context: Context) -> Result<Response> {
    Response::error("speak to an object", 404)
}
