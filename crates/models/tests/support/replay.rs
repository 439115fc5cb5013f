//! A transport that replays the recorded responses of a stream vector.

use futures::future::{FutureExt, LocalBoxFuture};
use futures::stream::{self, StreamExt};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::signal::{AbortController, AbortSignal};

pub struct Replay {
    responses: Vec<Json>,
    sent: Cell<usize>,
    pub requests: RefCell<Vec<HttpRequest>>,
    controller: AbortController,
}

impl Replay {
    pub fn new(responses: Vec<Json>, controller: AbortController) -> Rc<Self> {
        let (sent, requests) = (Cell::new(0), RefCell::new(Vec::new()));
        Rc::new(Self {
            responses,
            sent,
            requests,
            controller,
        })
    }
}

impl Transport for Replay {
    fn send(
        &self,
        request: HttpRequest,
        _signal: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        self.requests.borrow_mut().push(request);
        let index = self.sent.replace(self.sent.get() + 1);
        let response = self
            .responses
            .get(index)
            .or(self.responses.last())
            .cloned()
            .unwrap_or_default();
        let controller = self.controller.clone();
        async move {
            if response.get("abortBeforeResponse").and_then(Json::as_bool) == Some(true) {
                controller.abort("vector");
                return futures::future::pending().await;
            }
            match response.get("networkError") {
                Some(error) => Err(transport_error(error)),
                None => Ok(replayed(&response, controller)),
            }
        }
        .boxed_local()
    }
}

fn replayed(response: &Json, controller: AbortController) -> HttpResponse {
    let header = |(name, value): (&tidehold_delta::Text, &Json)| {
        (name.to_string(), value.as_str().expect("a header").to_owned())
    };
    let headers = response
        .get("headers")
        .and_then(Json::as_object)
        .into_iter()
        .flat_map(|headers| headers.iter());
    let chunks: Vec<Vec<u8>> = response
        .get("chunks")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .map(chunk_bytes)
        .collect();
    let abort_after = response.get("abortAfterChunk").and_then(Json::as_u64);
    let broken = response
        .get("streamError")
        .map(|error| Err(transport_error(error)));
    let pieces = chunks.into_iter().map(Ok).chain(broken).enumerate();
    let body = stream::iter(pieces).map(move |(index, piece)| {
        if abort_after == Some(index as u64) {
            controller.abort("vector");
        }
        piece
    });
    HttpResponse {
        status: response.get("status").and_then(Json::as_u64).unwrap_or(200) as u16,
        headers: headers.map(header).collect(),
        body: body.boxed_local(),
    }
}

/// The deepest cause, as a platform would report it.
fn transport_error(error: &Json) -> TransportError {
    if let Some(cause) = error.get("cause") {
        return transport_error(cause);
    }
    let text = |name: &str| error.get(name).and_then(Json::as_str).map(str::to_owned);
    TransportError {
        message: text("message").unwrap_or_default(),
        code: text("code"),
    }
}

fn chunk_bytes(chunk: &Json) -> Vec<u8> {
    match chunk.as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => base64(chunk.get("base64").and_then(Json::as_str).expect("a chunk")),
    }
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for character in text.chars().filter(|character| *character != '=') {
        bits = bits << 6 | ALPHABET.find(character).expect("base64") as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}
