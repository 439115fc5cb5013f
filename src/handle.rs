//! One request from arrival to answer.

use crate::auth::{AuthConfig, Scope, authenticate};
use crate::body::{BodyHeaders, drain, read_json};
use crate::error::ApiError;
use crate::limits::{DRAIN_MS, TRACEPARENT_BYTES};
use crate::respond::{self, CommonHeaders};
use crate::route::parameters::{self, Parameters};
use crate::route::table::RouteSpec;
use crate::route::{self, Action, Endpoint};
use crate::{address, cors, forward, openapi};
use tidehold_durable_objects::config::from_env;
use tidehold_durable_objects::hex;
use tidehold_durable_objects::platform::timer::{now, sleep};
use tidehold_durable_objects::protocol::{Call, Detail};
use worker::{ByteStream, Env, Request, Response};

/// `GET /healthz`.
const HEALTH: &str = concat!(
    r#"{"status":"ok","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// Answers a request. Every answer, errors included, carries the request's id.
pub async fn handle(mut request: Request, env: Env) -> worker::Result<Response> {
    let request_id = new_request_id();
    let mut common: CommonHeaders = vec![("x-request-id", request_id.clone())];
    if let Some(origin) = header(&request, "origin") {
        // A broken configuration lists no origin; the session routes report it.
        common.extend(
            from_env(&env)
                .map(|config| cors::headers(&config, &origin))
                .unwrap_or_default(),
        );
    }
    // A request without a body has no stream.
    let mut body = request.stream().ok();
    let response = match answer(&request, body.as_mut(), &env, request_id).await {
        Ok(response) => response,
        Err(error) => {
            // Whoever sends a body sends all of it before it reads an answer, as a rule, and sees its connection break when
            // the answer ends first; whoever stops sending is not waited for.
            if let Some(body) = body.as_mut() {
                drain(body, sleep(DRAIN_MS)).await;
            }
            respond::error(&error)?
        }
    };
    respond::with_common(response, &common)
}

async fn answer(
    request: &Request,
    body: Option<&mut ByteStream>,
    env: &Env,
    request_id: String,
) -> Result<Response, ApiError> {
    let method = request.inner().method();
    let url = request.inner().url();
    let address = address::split(&url);
    if method == "OPTIONS" && header(request, "access-control-request-method").is_some() {
        return respond::empty(204, &cors::preflight_headers()).map_err(|_| ApiError::internal());
    }
    let (endpoint, spec) = route::find(&method, address.path)?;
    let answer = match endpoint {
        Endpoint::Healthz => respond::json(200, HEALTH.to_owned(), &[]),
        Endpoint::OpenApi => respond::json(200, openapi::DOCUMENT.to_owned(), &[]),
        Endpoint::Session { session, action } => {
            let query = address::pairs(address.query);
            let place = Place {
                session,
                action,
                spec,
                query,
                request_id,
            };
            return session_call(request, body, env, place).await;
        }
    };
    answer.map_err(|_| ApiError::internal())
}

/// A session route as the path and the query name it.
struct Place {
    session: String,
    action: Action,
    spec: &'static RouteSpec,
    query: Vec<(String, String)>,
    request_id: String,
}

async fn session_call(
    request: &Request,
    body: Option<&mut ByteStream>,
    env: &Env,
    place: Place,
) -> Result<Response, ApiError> {
    let Place {
        session,
        action,
        spec,
        query,
        request_id,
    } = place;
    let identity = authenticate(
        &auth_config(env),
        header(request, "authorization").as_deref(),
        now() / 1000,
    )?;
    if let Some(scope) = spec.scope {
        identity.require(scope)?;
    }
    let (last_event_id, accept) = (header(request, "last-event-id"), header(request, "accept"));
    let parameters = Parameters {
        query: &query,
        last_event_id: last_event_id.as_deref(),
        accept: accept.as_deref(),
        detail: match identity.allows(Scope::Transcript) {
            true => Detail::Whole,
            false => Detail::Status,
        },
    };
    let operation = parameters::operation(action, &parameters)?;
    let accept = parameters::accept(&operation, &parameters);
    let body = match spec.body_limit {
        Some(limit) => read_body(request, body, limit).await?,
        None => String::new(),
    };
    let call = Call {
        operation,
        caller: identity.caller(),
        session,
        accept,
        if_incarnation: header(request, "if-incarnation"),
        request_id,
        traceparent: header(request, "traceparent").filter(|text| text.len() <= TRACEPARENT_BYTES),
    };
    forward::forward(env, &call, &body, spec.status).await
}

async fn read_body(
    request: &Request,
    body: Option<&mut ByteStream>,
    limit: usize,
) -> Result<String, ApiError> {
    let names = ["content-type", "content-encoding", "content-length"];
    let [content_type, content_encoding, content_length] = names.map(|name| header(request, name));
    let headers = BodyHeaders {
        content_type: content_type.as_deref(),
        content_encoding: content_encoding.as_deref(),
        content_length: content_length.as_deref(),
    };
    let Some(body) = body else {
        return read_json(headers, None::<&mut ByteStream>, limit).await;
    };
    read_json(headers, Some(body), limit).await
}

fn auth_config(env: &Env) -> AuthConfig {
    let text = |name: &str| {
        env.var(name)
            .ok()
            .map(|text| text.to_string())
            .filter(|text| !text.is_empty())
    };
    AuthConfig {
        dev: text("TIDEHOLD_DEV").as_deref() == Some("1"),
        tokens: text("TIDEHOLD_TOKENS"),
        jwt_secret: text("TIDEHOLD_JWT_SECRET"),
    }
}

fn header(request: &Request, name: &str) -> Option<String> {
    request.headers().get(name).ok().flatten()
}

/// 128 random bits: names a call in logs on both sides.
fn new_request_id() -> String {
    let mut bytes = [0; 16];
    #[allow(
        clippy::disallowed_methods,
        reason = "the Worker is outside of every session, so there is no Host"
    )]
    let filled = getrandom::fill(&mut bytes);
    filled.expect("crypto.getRandomValues answers");
    hex::encode(&bytes)
}
