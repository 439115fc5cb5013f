//! Transport errors: the codes of http.md and the one place that knows their status codes.

use tidehold_delta::Json;
use tidehold_durable_objects::protocol::{Code as ObjectCode, OperationError, PathProblem};

/// Stable error codes of the HTTP contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// From the object, or shared with it.
    Object(ObjectCode),
    Unauthenticated,
    ScopeMissing,
    MethodNotAllowed,
    BodyTooLarge,
    MediaTypeUnsupported,
    AuthNotConfigured,
}

impl Code {
    /// Every code, for the OpenAPI document and its test.
    pub const ALL: [Self; 21] = [
        Self::Object(ObjectCode::JsonInvalid),
        Self::Object(ObjectCode::TextInvalid),
        Self::Object(ObjectCode::CursorInvalid),
        Self::Object(ObjectCode::ParameterInvalid),
        Self::Unauthenticated,
        Self::ScopeMissing,
        Self::Object(ObjectCode::NotFound),
        Self::MethodNotAllowed,
        Self::Object(ObjectCode::ConversationBusy),
        Self::Object(ObjectCode::RequestConflict),
        Self::Object(ObjectCode::CallSettled),
        Self::Object(ObjectCode::IncarnationChanged),
        Self::BodyTooLarge,
        Self::MediaTypeUnsupported,
        Self::Object(ObjectCode::StreamCursorGone),
        Self::Object(ObjectCode::ArgumentsInvalid),
        Self::Object(ObjectCode::RateLimited),
        Self::Object(ObjectCode::Internal),
        Self::AuthNotConfigured,
        Self::Object(ObjectCode::ConfigurationInvalid),
        Self::Object(ObjectCode::SessionFailed),
    ];

    /// The name on the wire and the status code it goes with.
    pub fn wire(self) -> (&'static str, u16) {
        match self {
            Self::Object(ObjectCode::JsonInvalid) => ("json_invalid", 400),
            Self::Object(ObjectCode::TextInvalid) => ("text_invalid", 400),
            Self::Object(ObjectCode::CursorInvalid) => ("cursor_invalid", 400),
            Self::Object(ObjectCode::ParameterInvalid) => ("parameter_invalid", 400),
            Self::Unauthenticated => ("unauthenticated", 401),
            Self::ScopeMissing => ("scope_missing", 403),
            Self::Object(ObjectCode::NotFound) => ("not_found", 404),
            Self::MethodNotAllowed => ("method_not_allowed", 405),
            Self::Object(ObjectCode::ConversationBusy) => ("conversation_busy", 409),
            Self::Object(ObjectCode::RequestConflict) => ("request_conflict", 409),
            Self::Object(ObjectCode::CallSettled) => ("call_settled", 409),
            Self::Object(ObjectCode::IncarnationChanged) => ("incarnation_changed", 409),
            Self::BodyTooLarge => ("body_too_large", 413),
            Self::MediaTypeUnsupported => ("media_type_unsupported", 415),
            Self::Object(ObjectCode::StreamCursorGone) => ("stream_cursor_gone", 416),
            Self::Object(ObjectCode::ArgumentsInvalid) => ("arguments_invalid", 422),
            Self::Object(ObjectCode::RateLimited) => ("rate_limited", 429),
            Self::Object(ObjectCode::Internal) => ("internal", 500),
            Self::AuthNotConfigured => ("auth_not_configured", 503),
            Self::Object(ObjectCode::ConfigurationInvalid) => ("configuration_invalid", 503),
            Self::Object(ObjectCode::SessionFailed) => ("session_failed", 503),
        }
    }
}

/// An error answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    pub code: Code,
    /// For people.
    pub message: String,
    paths: Vec<PathProblem>,
    /// Further members of the error object; an object.
    extra: Option<Json>,
    /// Headers beside the usual ones: `allow`, `retry-after`, `www-authenticate`.
    pub headers: Vec<(&'static str, String)>,
}

impl ApiError {
    fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            paths: Vec::new(),
            extra: None,
            headers: Vec::new(),
        }
    }

    pub fn not_found() -> Self {
        OperationError::not_found().into()
    }

    pub fn parameter(name: &str, problem: &str) -> Self {
        Self::new(
            Code::Object(ObjectCode::ParameterInvalid),
            format!("parameter \"{name}\" {problem}"),
        )
    }

    pub fn json(problem: impl Into<String>) -> Self {
        Self::new(Code::Object(ObjectCode::JsonInvalid), problem)
    }

    pub fn text(problem: impl Into<String>) -> Self {
        Self::new(Code::Object(ObjectCode::TextInvalid), problem)
    }

    pub fn body_too_large(limit: usize) -> Self {
        Self::new(Code::BodyTooLarge, format!("the body exceeds {limit} bytes"))
    }

    pub fn media_type(problem: impl Into<String>) -> Self {
        Self::new(Code::MediaTypeUnsupported, problem)
    }

    pub fn unauthenticated() -> Self {
        let mut error = Self::new(Code::Unauthenticated, "a valid bearer token is required");
        error.headers.push(("www-authenticate", "Bearer".to_owned()));
        error
    }

    pub fn scope_missing(scope: &str) -> Self {
        Self::new(
            Code::ScopeMissing,
            format!("the token lacks the scope \"{scope}\""),
        )
    }

    pub fn auth_not_configured(problem: impl Into<String>) -> Self {
        Self::new(Code::AuthNotConfigured, problem)
    }

    /// `allow`: the methods of the path.
    pub fn method_not_allowed(allow: &[&str]) -> Self {
        let mut error = Self::new(Code::MethodNotAllowed, "the path does not take this method");
        error.headers.push(("allow", allow.join(", ")));
        error
    }

    pub fn internal() -> Self {
        Self::new(Code::Object(ObjectCode::Internal), "internal error")
    }

    /// The object did not answer.
    pub fn session_unreachable(problem: impl Into<String>) -> Self {
        OperationError::new(ObjectCode::SessionFailed, problem)
            .retry_after(crate::limits::RETRY_AFTER_SECONDS)
            .into()
    }

    pub fn status(&self) -> u16 {
        self.code.wire().1
    }

    /// `{"error": {…}}`.
    pub fn body(&self) -> String {
        let mut members = vec![
            ("code".into(), Json::from(self.code.wire().0)),
            ("message".into(), Json::from(self.message.as_str())),
        ];
        if !self.paths.is_empty() {
            let problem = |at: &PathProblem| {
                let (path, message) = (at.path.as_str(), at.message.as_str());
                Json::object([("path", Json::from(path)), ("message", Json::from(message))])
            };
            members.push(("paths".into(), Json::array(self.paths.iter().map(problem))));
        }
        let extra = self
            .extra
            .iter()
            .filter_map(Json::as_object)
            .flat_map(|extra| extra.iter());
        members.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
        Json::object([("error", Json::object(members))]).to_string()
    }
}

impl From<OperationError> for ApiError {
    fn from(error: OperationError) -> Self {
        let OperationError {
            code,
            message,
            paths,
            retry_after_seconds,
            extra,
        } = error;
        let headers = retry_after_seconds.map(|seconds| ("retry-after", seconds.to_string()));
        Self {
            code: Code::Object(code),
            message,
            paths,
            extra,
            headers: headers.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_names_the_object_serializes() {
        for code in Code::ALL {
            if let Code::Object(object) = code {
                assert_eq!(serde_json::to_value(object).unwrap(), code.wire().0);
            }
        }
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.wire().0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[test]
    fn an_object_error_keeps_its_members() {
        let problem = PathProblem {
            path: "a.0".to_owned(),
            message: "must be a string".to_owned(),
        };
        let error: ApiError = OperationError::arguments(vec![problem]).into();
        let expected = r#"{"error":{"code":"arguments_invalid","message":"a.0: must be a string","paths":[{"path":"a.0","message":"must be a string"}]}}"#;
        assert_eq!((error.status(), error.body().as_str()), (422, expected));
        let error: ApiError = OperationError::new(ObjectCode::RateLimited, "slow down")
            .retry_after(3)
            .into();
        assert_eq!(error.headers, [("retry-after", "3".to_owned())]);
    }
}
