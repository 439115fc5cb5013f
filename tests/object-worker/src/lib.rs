//! Tests inside a Durable Object, one case a call.
//!
//! The storage conformance suite: `GET /cases` lists the names; `POST /run?case=NAME` runs one in an object of that name and
//! answers `{name, error, misbilled, billed}`; `POST /bills` answers what commits of known shape were billed.
//!
//! A long history under the product's session, in the object named by `case`: `POST /fill?entries=N` stores it, `POST /open`
//! opens it and `POST /page` pages through it. What all these answers must be is for tests/conformance.test.mjs to say.
//!
//! A session that is observed: `POST /frames?case=N` tells the story of seed N and answers its lines (tests/chord.test.mjs).

mod bills;
mod factory;
mod frames;
mod history;
mod meter;

use factory::ObjectFactory;
use serde::Serialize;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use tidehold_durable_objects::platform::guard::{Guarded, guard};
use tidehold_durable_objects::platform::life::Life;
use tidehold_durable_objects::platform::storage::{ObjectStorage, of_state};
use tidehold_storage::conformance::cases;
use worker::{
    Context, DurableObject, Env, Error, Request, Response, Result, State, WebSocket,
    WebSocketIncomingMessage, durable_object, event,
};

/// What a case came to.
#[derive(Serialize)]
struct Outcome {
    name: String,
    /// Why it failed; `null` when it passed.
    error: Option<String>,
    /// Writes whose rows the platform billed otherwise than the statement says.
    misbilled: Vec<String>,
    /// Rows of all writes, as the platform billed them. Shows that something was compared.
    billed: f64,
}

#[durable_object]
pub struct StorageObject {
    state: AssertUnwindSafe<Rc<State>>,
    env: AssertUnwindSafe<Env>,
}

// All handlers are written out: the defaults of the trait panic.
impl DurableObject for StorageObject {
    fn new(state: State, env: Env) -> Self {
        Self {
            state: AssertUnwindSafe(Rc::new(state)),
            env: AssertUnwindSafe(env),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let storage = of_state(&self.state)?;
        match request.path().as_str() {
            "/run" => Response::from_json(&run(storage, &case_of(&request)?).await),
            "/bills" => answer(bills::measure(storage)),
            "/frames" => frames::tell(storage, &case_of(&request)?).await,
            "/fill" => answer(history::fill(
                &self.state,
                parameter(&request, "entries")?.parse().unwrap_or(0),
            )),
            "/open" => answer(history::open(&self.state, &self.env).await),
            "/page" => answer(history::page_through(&self.state, &self.env).await),
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

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    if request.path() == "/cases" {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        return Response::from_json(&names);
    }
    // An object a case: none sees what another left behind.
    let name = case_of(&request).unwrap_or_else(|_| request.path());
    env.durable_object("OBJECTS")?
        .get_by_name(&name)?
        .fetch_with_request(request)
        .await
}

fn answer<T: Serialize>(result: std::result::Result<T, impl Display>) -> Result<Response> {
    match result {
        Ok(answer) => Response::from_json(&answer),
        Err(error) => Response::error(error.to_string(), 500),
    }
}

fn case_of(request: &Request) -> Result<String> {
    parameter(request, "case")
}

fn parameter(request: &Request, name: &str) -> Result<String> {
    let url = request.url()?;
    let found = url.query_pairs().find(|(key, _)| key == name);
    found
        .map(|(_, value)| value.into_owned())
        .ok_or_else(|| Error::RustError(format!("{name} is missing")))
}

async fn run(storage: ObjectStorage, name: &str) -> Outcome {
    let factory = Rc::new(ObjectFactory::new(storage));
    let meter = factory.meter();
    let error = match cases().into_iter().find(|case| case.name == name) {
        None => Some("no such case".to_owned()),
        Some(case) => match guard(&Life::default(), case.run(factory)).await {
            Guarded::Completed(result) => result.err().map(|failure| failure.to_string()),
            Guarded::Panicked(message) => Some(format!("panicked: {message}")),
            Guarded::Ended(_) => Some("ended".to_owned()),
        },
    };
    Outcome {
        name: name.to_owned(),
        error,
        misbilled: meter.disagreements(),
        billed: meter.billed(),
    }
}
