//! placeholder
use worker::{Context, Env, Request, Response, event};
pub use tidehold_durable_objects::SessionObject;

#[event(fetch)]
async fn fetch(_request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    let ns = env.durable_object("SESSIONS")?;
    let stub = ns.id_from_name("x")?.get_stub()?;
    stub.fetch_with_str("https://object/").await
}
