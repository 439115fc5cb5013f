//! Kernel commits inside a Durable Object, for bench/run.mjs.
//!
//! `GET /workload` describes the writes of one commit, so that the raw object beside it makes the same; `POST /run` with
//! `{commits, warmup, sync}` makes commits in a fresh object and answers how long they took.

mod kernel;
mod workload;

use kernel::{Kernel, Run};
use std::panic::AssertUnwindSafe;
use tidehold_durable_objects::platform::storage::of_state;
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
        if request.path() == "/workload" {
            return Response::from_json(&workload::describe());
        }
        let run: Run = request.json().await?;
        let storage = of_state(&self.state)?;
        match Kernel::open(storage).await {
            Ok(kernel) => match kernel.run(run).await {
                Ok(report) => Response::from_json(&report),
                Err(error) => Response::error(error.to_string(), 500),
            },
            Err(error) => Response::error(error.to_string(), 500),
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

/// The benchmark speaks to the objects themselves.
#[event(fetch)]
async fn fetch(_request: Request, _env: Env, _context: Context) -> Result<Response> {
    Response::error("speak to an object", 404)
}
