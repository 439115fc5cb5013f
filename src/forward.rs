//! The hand-over of a call to the object that owns the session, and of its answer to the client.

use crate::error::ApiError;
use crate::limits::CALL_MS;
use crate::respond;
use futures::future::{Either, select};
use std::pin::pin;
use tidehold_durable_objects::platform::timer::sleep;
use tidehold_durable_objects::protocol::{
    CALL, Call, OUTCOME, OperationError, Outcome, STREAM_ID, from_json_text, to_ascii_json,
};
use worker::{Env, Headers, Method, Request, RequestInit, Response};

/// The binding of the object class in wrangler.toml.
const BINDING: &str = "SESSIONS";

/// Name of the object that owns a session. The length keeps apart what a separator alone would not: no project can
/// spell the name of another project's object.
pub fn object_name(project: &str, session: &str) -> String {
    format!("{}:{project}/{session}", project.len())
}

/// Asks the owning object and answers with `status` when it succeeded. Bounded: an object that does not begin to
/// answer is reported, not waited for.
pub async fn forward(env: &Env, call: &Call, body: &str, status: u16) -> Result<Response, ApiError> {
    let object = object_name(&call.caller.project, &call.session);
    let limit = CALL_MS + 1000 * u64::from(call.operation.wait_seconds());
    let asked = ask(env, &object, call, body);
    match select(pin!(asked), sleep(limit)).await {
        Either::Left((Ok(answer), _)) => translate(answer, status).await,
        // Overload, a reset by a deploy, a lost connection: nothing is known of the call, and asking again is right.
        Either::Left((Err(error), _)) => {
            worker::console_error!("request {}: the object did not answer: {error}", call.request_id);
            Err(ApiError::session_unreachable("the session did not answer"))
        }
        Either::Right(_) => Err(ApiError::session_unreachable(
            "the session did not answer in time",
        )),
    }
}

/// The object receives this request and nothing else of the client's.
async fn ask(env: &Env, object: &str, call: &Call, body: &str) -> worker::Result<Response> {
    let headers = Headers::new();
    headers.set(CALL, &to_ascii_json(call)?)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post)
        .with_headers(headers)
        .with_body(Some(body.into()));
    let request = Request::new_with_init("https://session.internal/", &init)?;
    let objects = env.durable_object(BINDING)?;
    objects.get_by_name(object)?.fetch_with_request(request).await
}

/// The object's answer in the terms of the client.
async fn translate(mut answer: Response, status: u16) -> Result<Response, ApiError> {
    let internal = |_| ApiError::internal();
    let header = |answer: &Response, name: &str| answer.headers().get(name).ok().flatten();
    let outcome = header(&answer, OUTCOME).and_then(|name| Outcome::of_name(&name));
    match outcome {
        None => Err(ApiError::internal()),
        Some(Outcome::Error) => {
            let text = answer.text().await.map_err(internal)?;
            match from_json_text::<OperationError>(&text) {
                Ok(error) => Err(error.into()),
                Err(_) => Err(ApiError::internal()),
            }
        }
        Some(Outcome::Empty) => respond::empty(204, &[]).map_err(internal),
        Some(Outcome::Ok | Outcome::Stream) => {
            let content_type =
                header(&answer, "content-type").unwrap_or_else(|| "application/json".to_owned());
            let head = header(&answer, STREAM_ID).map(|head| (STREAM_ID, head));
            let (_, body) = answer.into_parts();
            respond::passed_on(status, &content_type, body, head.as_slice()).map_err(internal)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::object_name;

    #[test]
    fn object_names_cannot_meet() {
        assert_eq!(object_name("p", "s"), "1:p/s");
        assert_ne!(object_name("a/b", "c"), object_name("a", "b/c"));
        assert_ne!(object_name("1:a", "s"), object_name("1", ":a/s"));
    }
}
