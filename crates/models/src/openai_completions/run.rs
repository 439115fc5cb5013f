//! One request over a transport: send, read, decode, and give up in time.

use super::decode::{BodyEnd, Decoder, with_raw_metadata};
use super::request::{ApiKey, Prepared, prepare};
use crate::errors::text::{Cause, ProviderError, format_provider_error, is_truthy};
use crate::http::{self, SendError, SendOptions};
use crate::limits::IDLE_TIMEOUT_MS;
use crate::message::{StopReason, Timestamp};
use crate::models::StreamRequest;
use crate::stream::StreamEvent;
use crate::transport::{HttpResponse, Transport, TransportError};
use crate::wait::{Idle, Interrupted, within};
use futures::stream::{LocalBoxStream, StreamExt, once, unfold};
use std::collections::VecDeque;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

/// The answer to a request.
pub fn stream(
    request: StreamRequest,
    key: ApiKey,
    transport: Rc<dyn Transport>,
    host: Rc<dyn Host>,
) -> LocalBoxStream<'static, StreamEvent> {
    let opened = async move { open(request, key, transport, host).await };
    once(opened).flatten().boxed_local()
}

/// Sends the request. A failure before the answer began is a lone error event.
async fn open(
    request: StreamRequest,
    key: ApiKey,
    transport: Rc<dyn Transport>,
    host: Rc<dyn Host>,
) -> LocalBoxStream<'static, StreamEvent> {
    let now = Timestamp::try_from(host.now()).unwrap_or(Timestamp::MAX);
    let lone = |reason: StopReason, text: &str| {
        let message = Box::new(request.model.failed_answer(now, reason, text));
        once(async move { StreamEvent::Error { message } }).boxed_local()
    };
    if request.signal.is_aborted() {
        return lone(StopReason::Aborted, "Request aborted");
    }
    let prepared = prepare(&request.model, &request.messages, &request.options, &key, now);
    let Prepared {
        http,
        grammar_tools,
        needs_finish_reason,
    } = match prepared {
        Ok(prepared) => prepared,
        Err(text) => return lone(StopReason::Error, &text),
    };
    let options = SendOptions::from(&request.options);
    match http::send(&*transport, http, &options, &host, &request.signal).await {
        Ok(response) => {
            let decoder = Decoder::new(Rc::clone(&request.model), now, needs_finish_reason, grammar_tools);
            let idle = Idle::new(&host, request.options.timeout_ms.unwrap_or(IDLE_TIMEOUT_MS));
            let signal = request.signal;
            read(Reading {
                response: Some(response),
                decoder,
                queue: VecDeque::new(),
                idle,
                signal,
            })
        }
        Err(SendError::Aborted) => lone(StopReason::Aborted, "Request aborted"),
        Err(SendError::TimedOut) => lone(StopReason::Error, "Request timed out."),
        Err(SendError::Connection(error)) => {
            let error = ProviderError::connection("Connection error.", cause(error));
            lone(StopReason::Error, &format_provider_error(&error, None))
        }
        Err(SendError::Status { status, body }) => lone(StopReason::Error, &response_error(status, &body)),
        Err(SendError::DelayTooLong {
            seconds,
            limit,
            status,
            body,
        }) => {
            let error = response_error(status, &body);
            let text = format!("Server requested {seconds}s retry delay (max: {limit}s). {error}");
            lone(StopReason::Error, &text)
        }
    }
}

fn cause(error: TransportError) -> Cause {
    Cause {
        message: error.message,
        code: error.code,
    }
}

/// The text of a response that is no success. The error value is the body's `error`, else the body.
fn response_error(status: u16, body: &str) -> String {
    let parsed = crate::json::parse(body).ok().filter(is_truthy);
    let value = parsed.map(|body| match body.get("error") {
        Some(error) if !error.is_null() => error.clone(),
        _ => body,
    });
    let raw_from = value.clone().unwrap_or(Json::Null);
    let text = format_provider_error(&ProviderError::from_response(status, value, body), None);
    with_raw_metadata(text, &raw_from)
}

struct Reading {
    /// Gone once the answer is complete, which closes the connection.
    response: Option<HttpResponse>,
    decoder: Decoder,
    queue: VecDeque<StreamEvent>,
    idle: Idle,
    signal: AbortSignal,
}

fn read(mut reading: Reading) -> LocalBoxStream<'static, StreamEvent> {
    reading.queue.extend(reading.decoder.take());
    unfold(reading, |mut reading| async move {
        reading.next().await.map(|event| (event, reading))
    })
    .boxed_local()
}

impl Reading {
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            let body = &mut self.response.as_mut()?.body;
            let piece = within(body.next(), &mut self.idle, &self.signal).await;
            self.idle.touch();
            // The piece that arrives together with the signal is dropped.
            let aborted = self.signal.is_aborted();
            match piece {
                _ if aborted => self.decoder.finish(BodyEnd::Aborted),
                Err(Interrupted::Aborted) => self.decoder.finish(BodyEnd::Aborted),
                Err(Interrupted::TimedOut) => self
                    .decoder
                    .finish(BodyEnd::Failed("Request timed out.".to_owned())),
                Ok(Some(Ok(bytes))) => self.decoder.feed(&bytes),
                Ok(Some(Err(error))) => {
                    let error = ProviderError::connection("terminated", cause(error));
                    self.decoder
                        .finish(BodyEnd::Failed(format_provider_error(&error, None)));
                }
                Ok(None) => self.decoder.finish(BodyEnd::Complete),
            }
            if self.decoder.is_finished() {
                self.response = None;
            }
            self.queue.extend(self.decoder.take());
        }
    }
}
