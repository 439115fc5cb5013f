//! What operations answer with, and how that becomes a response to the Worker.

use crate::platform::host::spawn_caught;
use crate::platform::life::Life;
use crate::protocol::{OUTCOME, OperationError, Outcome, STREAM_ID};
use crate::streams::body::Body;
use crate::streams::sse::{self, FrameSource};
use crate::streams::waiting::{self, Format};
use futures::future::LocalBoxFuture;
use tidehold_delta::Json;
use worker::{Response, ResponseBuilder};

/// The result of an operation.
pub enum Reply {
    /// A finished answer.
    Json(Json),
    /// A finished answer to a write, with the head after its commit (`<incarnation>-<seq>`); `None` where nothing was
    /// ever committed.
    Written { body: Json, head: Option<String> },
    /// JSON text that is still being made: a foreground call. What fails from here on is part of that text; `cut` takes its
    /// place when the session ends under it. The head is the one after the launch.
    Waiting {
        answer: LocalBoxFuture<'static, Option<String>>,
        format: Format,
        head: Option<String>,
        cut: String,
    },
    /// Committed batches as they come.
    Events(Box<dyn FrameSource>),
    /// Everything of the session is to be deleted. The frame does it and answers [`Reply::Empty`].
    Delete,
    /// Done, and nothing to say.
    Empty,
}

/// `on_panic` is told of a panic that comes after the response began.
pub(super) fn reply_response(
    reply: Reply,
    life: &Life,
    on_panic: impl FnOnce(String) + 'static,
) -> worker::Result<Response> {
    match reply {
        Reply::Json(body) => json_response(Outcome::Ok, &body.to_string(), None),
        Reply::Written { body, head } => json_response(Outcome::Ok, &body.to_string(), head.as_deref()),
        Reply::Delete | Reply::Empty => json_response(Outcome::Empty, "", None),
        Reply::Waiting {
            answer,
            format,
            head,
            cut,
        } => {
            let (readable, body) = Body::new()?;
            spawn_caught(waiting::carry(answer, cut, format, body, life.clone(), on_panic));
            stream_response(readable, format.content_type(), head.as_deref())
        }
        Reply::Events(source) => {
            let (readable, body) = Body::new()?;
            spawn_caught(sse::carry(source, body, life.clone()));
            stream_response(readable, "text/event-stream", None)
        }
    }
}

pub(super) fn error_response(error: &OperationError) -> worker::Result<Response> {
    json_response(Outcome::Error, &serde_json::to_string(error)?, None)
}

fn json_response(outcome: Outcome, body: &str, head: Option<&str>) -> worker::Result<Response> {
    let builder = builder(outcome, "application/json", head)?;
    Ok(builder.fixed(body.as_bytes().to_vec()))
}

fn stream_response(
    readable: web_sys::ReadableStream,
    content_type: &str,
    head: Option<&str>,
) -> worker::Result<Response> {
    Ok(builder(Outcome::Stream, content_type, head)?.stream(readable))
}

fn builder(outcome: Outcome, content_type: &str, head: Option<&str>) -> worker::Result<ResponseBuilder> {
    let builder = ResponseBuilder::new()
        .with_header(OUTCOME, outcome.name())?
        .with_header("content-type", content_type)?;
    match head {
        Some(head) => builder.with_header(STREAM_ID, head),
        None => Ok(builder),
    }
}
