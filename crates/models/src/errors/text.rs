//! How a failed request reads (models.md 10.2).

use tidehold_delta::{Json, byte_of_unit, utf16_len};

/// Longest body text in an error, in UTF-16 units.
const BODY_UNITS: usize = 4_000;

/// Everything known about a failed request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProviderError {
    /// The error in one line.
    pub message: String,
    /// HTTP status, when there was a response.
    pub status: Option<u16>,
    /// What the provider said.
    pub body: ErrorBody,
    /// Errors behind the error, the deepest last.
    pub causes: Vec<Cause>,
}

/// The body of an error response.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ErrorBody {
    /// Nothing was said.
    #[default]
    None,
    /// The parsed error value.
    Value(Json),
    /// Text that is no JSON.
    Text(String),
}

/// An error behind an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// Its text.
    pub message: String,
    /// Its code, for example `ECONNRESET`.
    pub code: Option<String>,
}

impl ProviderError {
    /// The error of a response with a status that is no success: `value` is the part of the body that describes the
    /// error, `None` when the body is no JSON or says nothing.
    pub fn from_response(status: u16, value: Option<Json>, text: &str) -> Self {
        let said = match &value {
            Some(value) => value_text(value),
            None if text.is_empty() => "status code (no body)".to_owned(),
            None => text.to_owned(),
        };
        let body = value.map_or(ErrorBody::None, ErrorBody::Value);
        Self {
            message: format!("{status} {said}"),
            status: Some(status),
            body,
            causes: Vec::new(),
        }
    }

    /// A failed connection.
    pub fn connection(message: &str, cause: Cause) -> Self {
        Self {
            message: message.to_owned(),
            causes: vec![cause],
            ..Self::default()
        }
    }
}

/// The `message` of an error value, else the value.
pub fn value_text(value: &Json) -> String {
    match value.get("message") {
        Some(Json::String(text)) if !text.is_empty() => text.to_string(),
        Some(message) if is_truthy(message) => message.to_string(),
        _ => value.to_string(),
    }
}

/// What JavaScript counts as true.
pub fn is_truthy(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => false,
        Json::Number(number) => *number != 0.0 && !number.is_nan(),
        Json::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// The text of an error. `prefix` names the API, for those that put it in front of the status.
pub fn format_provider_error(error: &ProviderError, prefix: Option<&str>) -> String {
    let body = body_text(&error.body);
    let Some(status) = error.status else {
        return if body.is_some() {
            error.message.clone()
        } else {
            with_cause_detail(error)
        };
    };
    let said = body.filter(|body| !error.message.contains(body.as_str()));
    match (prefix, said) {
        (Some(prefix), said) => format!("{prefix} ({status}): {}", said.as_ref().unwrap_or(&error.message)),
        (None, Some(said)) => format!("{status}: {said}"),
        (None, None) => error.message.clone(),
    }
}

/// The message and the deepest cause, unless the message tells it already.
pub fn with_cause_detail(error: &ProviderError) -> String {
    let Some(cause) = error.causes.last() else {
        return error.message.clone();
    };
    let text = if cause.message.is_empty() {
        "Error"
    } else {
        &cause.message
    };
    let detail = match &cause.code {
        Some(code) if !text.contains(code.as_str()) => format!("{text} ({code})"),
        _ => text.to_owned(),
    };
    match error.message.as_str() {
        "" => detail,
        message if message.contains(&detail) => message.to_owned(),
        message => format!("{message}: {detail}"),
    }
}

fn body_text(body: &ErrorBody) -> Option<String> {
    let text = match body {
        ErrorBody::Value(value) if value.as_object().is_some_and(|object| !object.is_empty()) => {
            value.to_string()
        }
        ErrorBody::Text(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => return None,
    };
    Some(truncate_error_text(&text, BODY_UNITS))
}

/// Cuts a text after so many UTF-16 units and says how many are gone.
pub fn truncate_error_text(text: &str, units: usize) -> String {
    let length = utf16_len(text);
    if length <= units {
        return text.to_owned();
    }
    // A cut within a surrogate pair gives up the whole character.
    let end = byte_of_unit(text, units)
        .or_else(|| byte_of_unit(text, units.saturating_sub(1)))
        .unwrap_or(0);
    format!(
        "{}... [truncated {} chars]",
        text.get(..end).unwrap_or_default(),
        length - units
    )
}
