//! Performs a script against the clock.

use super::producer::{Output, Producer};
use super::reply::reply;
use crate::limits::{SCRIPT_YIELD_BYTES, SCRIPT_YIELD_EVENTS};
use crate::message::{StopReason, Timestamp};
use crate::models::StreamRequest;
use crate::stream::StreamEvent;
use crate::wait;
use futures::stream::{LocalBoxStream, StreamExt, once, unfold};
use std::rc::Rc;
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

struct Play {
    producer: Producer,
    host: Rc<dyn Host>,
    signal: AbortSignal,
    /// Since other work last had a turn.
    bytes: usize,
    events: usize,
}

/// The answer to a request, with its pauses.
pub fn stream(request: StreamRequest, host: Rc<dyn Host>) -> LocalBoxStream<'static, StreamEvent> {
    let now = Timestamp::try_from(host.now()).unwrap_or(Timestamp::MAX);
    if request.signal.is_aborted() {
        return once(async move { failed(&request, now, StopReason::Aborted, "Request aborted") })
            .boxed_local();
    }
    let reply = match reply(&request.messages, request.purpose, request.ordinal) {
        Ok(reply) => reply,
        Err(line) => {
            let event = failed(&request, now, StopReason::Error, &line.error_text());
            return once(async move { event }).boxed_local();
        }
    };
    let producer = Producer::new(request.model, reply, now);
    let play = Play {
        producer,
        host,
        signal: request.signal,
        bytes: 0,
        events: 0,
    };
    unfold(play, |mut play| async move {
        play.next().await.map(|event| (event, play))
    })
    .boxed_local()
}

impl Play {
    /// The next event. The signal is looked at before every event and ends every pause.
    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if self.signal.is_aborted() {
                return self.producer.abort();
            }
            let waited = match self.producer.next()? {
                Output::Event(event) => {
                    self.bytes += event.delta_bytes();
                    self.events += 1;
                    if event.is_terminal() || !self.is_due() || self.rest().await.is_ok() {
                        return Some(event);
                    }
                    Err(wait::Aborted)
                }
                Output::Pause(milliseconds) => wait::pause(&self.host, &self.signal, milliseconds).await,
            };
            if waited.is_err() {
                return self.producer.abort();
            }
        }
    }

    fn is_due(&self) -> bool {
        self.bytes >= SCRIPT_YIELD_BYTES || self.events >= SCRIPT_YIELD_EVENTS
    }

    /// A long answer must not keep the thread to itself.
    async fn rest(&mut self) -> Result<(), wait::Aborted> {
        (self.bytes, self.events) = (0, 0);
        wait::breathe(&self.host, &self.signal).await
    }
}

/// A request that fails before it is answered.
fn failed(request: &StreamRequest, now: Timestamp, reason: StopReason, text: &str) -> StreamEvent {
    StreamEvent::Error {
        message: Box::new(request.model.failed_answer(now, reason, text)),
    }
}
