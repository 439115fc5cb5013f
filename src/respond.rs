//! Responses to the client.

use crate::error::ApiError;
use worker::{Response, ResponseBody, ResponseBuilder};

/// Headers that every answer to one request carries.
pub type CommonHeaders = Vec<(&'static str, String)>;

/// An error answer.
pub fn error(error: &ApiError) -> worker::Result<Response> {
    json(error.status(), error.body(), &error.headers)
}

/// A JSON answer from text.
pub fn json(status: u16, body: String, headers: &[(&'static str, String)]) -> worker::Result<Response> {
    let builder = builder(status, "application/json", headers)?;
    Ok(builder.fixed(body.into_bytes()))
}

/// An answer whose body comes from the object and is passed on as it is.
pub fn passed_on(
    status: u16,
    content_type: &str,
    body: ResponseBody,
    headers: &[(&'static str, String)],
) -> worker::Result<Response> {
    Ok(builder(status, content_type, headers)?.body(body))
}

/// An answer without a body.
pub fn empty(status: u16, headers: &[(&'static str, String)]) -> worker::Result<Response> {
    let mut builder = ResponseBuilder::new().with_status(status);
    for (name, value) in headers {
        builder = builder.with_header(name, value)?;
    }
    Ok(builder.empty())
}

fn builder(
    status: u16,
    content_type: &str,
    headers: &[(&'static str, String)],
) -> worker::Result<ResponseBuilder> {
    let mut builder = ResponseBuilder::new()
        .with_status(status)
        .with_header("content-type", content_type)?
        // State is read from the object each time; a stored copy would be a lie.
        .with_header("cache-control", "no-store")?
        .with_header("x-content-type-options", "nosniff")?;
    for (name, value) in headers {
        builder = builder.with_header(name, value)?;
    }
    Ok(builder)
}

/// Adds the common headers to a finished answer.
pub fn with_common(mut response: Response, common: &CommonHeaders) -> worker::Result<Response> {
    for (name, value) in common {
        response.headers_mut().set(name, value)?;
    }
    Ok(response)
}
