//! A session that panics on request, in the product's own frame: `POST /{session}` with `{"name": …}`.
//!
//! The test beside it (tests/panic.test.mjs) shows that a panic fails its unit and never a neighbour (invariant 10).

mod app;
#[path = "../../support/in_frame.rs"]
mod in_frame;
mod work;

use app::{PanicApp, PanicOperation};
use tidehold_durable_objects::protocol::{Accept, Code};
use worker::{Context, Env, Request, Response, Result, event};

in_frame::object_in_frame!(PanicObject, PanicApp, |_| {});

/// Maps what this test meets to status codes.
#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    match in_frame::pass_on::<PanicOperation>(request, &env, Accept::EventStream).await? {
        Ok(answer) => Ok(answer),
        Err(error) => {
            let status = if error.code == Code::Internal { 500 } else { 503 };
            Ok(Response::from_json(&error)?.with_status(status))
        }
    }
}
