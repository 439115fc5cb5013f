//! [`Transport`] over the Workers `fetch`.

use crate::platform::life::Life;
use crate::platform::storage::describe;
use futures::future::{Either, LocalBoxFuture, select};
use futures::{FutureExt, Stream, StreamExt};
use js_sys::Uint8Array;
use js_sys::futures::JsFuture;
use std::pin::pin;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::signal::AbortSignal;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_name = fetch)]
    fn js_fetch(url: &str, init: &web_sys::RequestInit) -> Result<js_sys::Promise, JsValue>;
}

/// Sends over the network of the Worker. The platform's limit of six connections is kept by its caller.
pub struct FetchTransport {
    life: Life,
}

impl FetchTransport {
    /// Requests end with `life`, whoever still holds them.
    pub fn new(life: Life) -> Self {
        Self { life }
    }
}

impl Transport for FetchTransport {
    fn send(
        &self,
        request: HttpRequest,
        signal: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        let ended = self.life.until_end();
        let stopped = async move {
            match select(signal.aborted(), ended).await {
                Either::Left((reason, _)) => reason,
                Either::Right(_) => "the session ended",
            }
        };
        send(request, stopped.boxed_local()).boxed_local()
    }
}

async fn send(
    request: HttpRequest,
    stopped: LocalBoxFuture<'static, &'static str>,
) -> Result<HttpResponse, TransportError> {
    let connection = Connection::new()?;
    let answer = js_fetch(&request.url, &init(&request, &connection)?).map_err(|thrown| failed(&thrown))?;
    // Returning early drops `connection`, which aborts the request.
    let answer = match select(pin!(JsFuture::from(answer)), stopped).await {
        Either::Left((answer, _)) => answer.map_err(|thrown| failed(&thrown))?,
        Either::Right((reason, _)) => return Err(aborted(reason)),
    };
    let answer: web_sys::Response = answer.unchecked_into();
    let headers = worker::Headers(answer.headers()).entries().collect();
    let body = match answer.body() {
        Some(body) => read(body, connection).boxed_local(),
        None => futures::stream::empty().boxed_local(),
    };
    Ok(HttpResponse {
        status: answer.status(),
        headers,
        body,
    })
}

fn init(request: &HttpRequest, connection: &Connection) -> Result<web_sys::RequestInit, TransportError> {
    let headers = web_sys::Headers::new().map_err(|thrown| failed(&thrown))?;
    for (name, value) in &request.headers {
        headers.append(name, value).map_err(|thrown| failed(&thrown))?;
    }
    let init = web_sys::RequestInit::new();
    init.set_method("POST");
    init.set_headers(&headers);
    init.set_body(&Uint8Array::from(request.body.as_slice()));
    init.set_signal(Some(&connection.0.signal()));
    Ok(init)
}

/// The body as the network cuts it. Dropping the stream drops the connection.
fn read(
    body: web_sys::ReadableStream,
    connection: Connection,
) -> impl Stream<Item = Result<Vec<u8>, TransportError>> {
    let reader: web_sys::ReadableStreamDefaultReader = body.get_reader().unchecked_into();
    futures::stream::unfold(Some((reader, connection)), |open| async {
        let (reader, connection) = open?;
        match JsFuture::from(reader.read()).await {
            Err(thrown) => Some((Err(failed(&thrown)), None)),
            Ok(step) => {
                let chunk = js_sys::Reflect::get(&step, &JsValue::from_str("value")).ok()?;
                let bytes: Uint8Array = chunk.dyn_into().ok()?;
                Some((Ok(bytes.to_vec()), Some((reader, connection))))
            }
        }
    })
}

/// Aborts its request when dropped. After the end of the body that changes nothing.
struct Connection(web_sys::AbortController);

impl Connection {
    fn new() -> Result<Self, TransportError> {
        web_sys::AbortController::new()
            .map(Self)
            .map_err(|thrown| failed(&thrown))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn failed(thrown: &JsValue) -> TransportError {
    TransportError {
        message: describe(thrown),
        code: None,
    }
}

fn aborted(reason: &str) -> TransportError {
    TransportError {
        message: format!("aborted: {reason}"),
        code: None,
    }
}
