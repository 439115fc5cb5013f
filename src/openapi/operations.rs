//! One route as an OpenAPI operation.

use crate::error::Code;
use crate::limits::PAGE_ITEMS;
use crate::route::table::RouteSpec;
use serde_json::{Map, Value, json};
use tidehold_durable_objects::protocol::Code as ObjectCode;

pub fn operation(route: &RouteSpec) -> Value {
    let mut operation = Map::new();
    operation.insert("summary".to_owned(), route.summary.into());
    let query: Vec<_> = route.query.iter().map(|name| query_parameter(name)).collect();
    if !query.is_empty() {
        operation.insert("parameters".to_owned(), query.into());
    }
    if let Some(scope) = route.scope {
        operation.insert("security".to_owned(), json!([{ "bearer": [scope.name()] }]));
    }
    if let Some(limit) = route.body_limit {
        operation.insert(
            "requestBody".to_owned(),
            json!({
                "description": format!("At most {limit} bytes, nested at most 128 levels."),
                "content": { "application/json": { "schema": { "type": "object" } } },
            }),
        );
    }
    operation.insert("responses".to_owned(), responses(route));
    Value::Object(operation)
}

fn responses(route: &RouteSpec) -> Value {
    let mut content = Map::from_iter([("application/json".to_owned(), json!({}))]);
    if route.streams {
        content.insert("text/event-stream".to_owned(), json!({}));
    }
    let headers = json!({ "x-request-id": { "$ref": "#/components/headers/x-request-id" } });
    let success = json!({ "description": "Success", "headers": headers, "content": content });
    let mut responses = Map::from_iter([(route.status.to_string(), success)]);
    for (status, codes) in errors(route) {
        responses.insert(
            status.to_string(),
            json!({
                "description": codes.join(", "),
                "headers": headers,
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
            }),
        );
    }
    Value::Object(responses)
}

/// The codes a route can answer with, by status.
fn errors(route: &RouteSpec) -> std::collections::BTreeMap<u16, Vec<&'static str>> {
    let mut errors = std::collections::BTreeMap::<u16, Vec<_>>::new();
    for code in Code::ALL.into_iter().filter(|code| can_meet(route, *code)) {
        let (name, status) = code.wire();
        errors.entry(status).or_default().push(name);
    }
    errors
}

fn can_meet(route: &RouteSpec, code: Code) -> bool {
    let (session, body) = (route.scope.is_some(), route.body_limit.is_some());
    match code {
        Code::MethodNotAllowed | Code::Object(ObjectCode::Internal) => true,
        Code::Unauthenticated | Code::ScopeMissing | Code::AuthNotConfigured => session,
        Code::BodyTooLarge | Code::MediaTypeUnsupported => body,
        Code::Object(object) => match object {
            ObjectCode::Internal => true,
            ObjectCode::NotFound
            | ObjectCode::RateLimited
            | ObjectCode::ConfigurationInvalid
            | ObjectCode::SessionFailed => session,
            ObjectCode::JsonInvalid
            | ObjectCode::TextInvalid
            | ObjectCode::ArgumentsInvalid
            | ObjectCode::IncarnationChanged => body,
            ObjectCode::ConversationBusy | ObjectCode::RequestConflict => {
                route.path.ends_with("/submissions")
            }
            ObjectCode::CallSettled => route.path.contains("/calls/"),
            ObjectCode::CursorInvalid => route.query.contains(&"cursor"),
            ObjectCode::ParameterInvalid => !route.query.is_empty() && !route.streams,
            ObjectCode::StreamCursorGone => route.streams,
        },
    }
}

pub fn path_parameters(path: &str) -> Vec<Value> {
    let names = path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": path_schema(name) }))
        .collect()
}

fn path_schema(name: &str) -> Value {
    match name {
        "session" => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$" }),
        "conversation" => json!({ "type": "string", "pattern": "^(root|[1-9][0-9]*)$" }),
        "tool" => json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]+$" }),
        _ => json!({ "type": "string", "pattern": "^[1-9][0-9]*$" }),
    }
}

fn query_parameter(name: &str) -> Value {
    let (description, schema) = match name {
        "limit" => (
            "Most items of the page.",
            json!({ "type": "integer", "minimum": 1, "maximum": PAGE_ITEMS }),
        ),
        "order" => (
            "Order of ids.",
            json!({ "enum": ["ascending", "descending"], "default": "descending" }),
        ),
        "wait" => (
            "Seconds to wait for settlement; clamped to 60.",
            json!({ "type": "number", "minimum": 0 }),
        ),
        "cursor" => ("`next` of the page before.", json!({ "type": "string" })),
        "after" => (
            "The position the reader holds; also as Last-Event-ID.",
            json!({ "type": "string" }),
        ),
        _ => ("", json!({})),
    };
    json!({ "name": name, "in": "query", "description": description, "schema": schema })
}
