//! Reading the members of a request body.

use crate::limits::BODY_DEPTH;
use crate::protocol::{Code, OperationError, PathProblem};
use tidehold_delta::Json;

/// The body as an object; an empty body is `{}`.
pub fn object(body: &str) -> Result<Json, OperationError> {
    if body.is_empty() {
        return Ok(Json::empty_object());
    }
    // The Worker has checked depth and syntax, with the same bound.
    let json = Json::parse(body, BODY_DEPTH)
        .map_err(|error| OperationError::new(Code::JsonInvalid, error.to_string()))?;
    match json.as_object() {
        Some(_) => Ok(json),
        None => Err(problem("", "must be an object")),
    }
}

/// One wrong member.
pub fn problem(path: &str, message: &str) -> OperationError {
    OperationError::arguments(vec![PathProblem {
        path: path.to_owned(),
        message: message.to_owned(),
    }])
}

/// A member that may be absent; `null` counts as absent.
pub fn optional<'a>(body: &'a Json, name: &str) -> Option<&'a Json> {
    body.get(name).filter(|value| !value.is_null())
}

/// An optional string.
pub fn text<'a>(body: &'a Json, name: &'static str) -> Result<Option<&'a str>, OperationError> {
    match optional(body, name) {
        None => Ok(None),
        Some(value) => value
            .as_str()
            .map(Some)
            .ok_or_else(|| problem(name, "must be a string")),
    }
}

/// An optional flag.
pub fn flag(body: &Json, name: &'static str) -> Result<bool, OperationError> {
    match optional(body, name) {
        None => Ok(false),
        Some(value) => value
            .as_bool()
            .ok_or_else(|| problem(name, "must be true or false")),
    }
}
