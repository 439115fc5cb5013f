//! `tidehold`: the Worker. HTTP in, the owning session object out.
//!
//! Lives here: routes ([`route`]), authentication and scopes ([`auth`]), bounded request bodies ([`body`]), transport
//! errors with their status codes ([`error`]: nothing below knows one), CORS, the OpenAPI document ([`openapi`]), and
//! the hand-over to the object that owns the session ([`forward`]). May not live here: any knowledge of what a session
//! is or does, and any state: a Worker instance serves every project, so nothing outlives its request.
//!
//! Start reading at [`handle`] (one request from arrival to answer), then [`route`] (what can be asked), then
//! `tidehold_durable_objects::protocol` (what the object is told).

pub mod address;
pub mod auth;
pub mod body;
pub mod cors;
pub mod error;
pub mod forward;
pub mod handle;
pub mod limits;
pub mod openapi;
pub mod respond;
pub mod route;

pub use tidehold_durable_objects::SessionObject;

use worker::{Context, Env, Request, Response, event};

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    handle::handle(request, env).await
}
