//! Durable tasks of a test's own in the product's frame, session and adapters: `POST /{session}` with `{"name": …}`.
//!
//! The test beside it (tests/tasks.test.mjs) kills the server around them and reads what they left behind.

mod app;
mod definitions;
#[path = "../../support/in_frame.rs"]
mod in_frame;
mod work;
mod world;

use app::{TasksApp, TasksOperation};
use tidehold_durable_objects::protocol::Accept;
use worker::{Context, Env, Request, Response, Result, event};
use world::World;

// The world takes the storage over before the product touches anything.
in_frame::object_in_frame!(TasksObject, TasksApp, |state| drop(World::of(state)));

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    match in_frame::pass_on::<TasksOperation>(request, &env, Accept::Json).await? {
        Ok(answer) => Ok(answer),
        Err(error) => Ok(Response::from_json(&error)?.with_status(500)),
    }
}
