//! Sending a request until its answer begins (models.md 10.1). Once it began, nothing is ever sent again.

use crate::limits::{ERROR_BODY_BYTES, HEADERS_TIMEOUT_MS, IDLE_TIMEOUT_MS};
use crate::models::StreamOptions;
use crate::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use crate::wait::{Idle, Interrupted, pause, within};
use futures::stream::StreamExt;
use std::rc::Rc;
use tidehold_session::host::Host;
use tidehold_session::signal::AbortSignal;

/// Longest delay before a repeat that nobody asked a delay for, in milliseconds.
const LONGEST_BACKOFF_MS: u64 = 8_000;

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendOptions {
    timeout_ms: u64,
    max_retries: u32,
    /// 0: no limit.
    max_retry_delay_ms: u64,
}

impl From<&StreamOptions> for SendOptions {
    fn from(options: &StreamOptions) -> Self {
        Self {
            timeout_ms: options.timeout_ms.unwrap_or(HEADERS_TIMEOUT_MS),
            max_retries: options.max_retries.unwrap_or(0),
            max_retry_delay_ms: options.max_retry_delay_ms.unwrap_or(60_000),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SendError {
    /// The caller gave up.
    Aborted,
    /// No headers in time.
    TimedOut,
    /// No connection.
    Connection(TransportError),
    /// A status that is no success.
    Status { status: u16, body: String },
    /// A status that is no success, and a longer wait than the caller wants.
    DelayTooLong {
        seconds: u64,
        limit: u64,
        status: u16,
        body: String,
    },
}

/// Sends until a success, an error that no repeat helps, or no repeat is left.
pub(crate) async fn send(
    transport: &dyn Transport,
    request: HttpRequest,
    options: &SendOptions,
    host: &Rc<dyn Host>,
    signal: &AbortSignal,
) -> Result<HttpResponse, SendError> {
    let mut attempt = 0;
    loop {
        let sent = transport.send(request.clone(), signal.clone());
        let (error, asked) = match within(sent, &mut Idle::new(host, options.timeout_ms), signal).await {
            _ if signal.is_aborted() => return Err(SendError::Aborted),
            Err(Interrupted::Aborted) => return Err(SendError::Aborted),
            Ok(Ok(response)) if (200..300).contains(&response.status) => return Ok(response),
            Err(Interrupted::TimedOut) => (SendError::TimedOut, Asked::Retry(None)),
            Ok(Err(error)) => (SendError::Connection(error), Asked::Retry(None)),
            Ok(Ok(response)) => {
                let asked = asked(&response, host.now());
                let (status, body) = (
                    response.status,
                    error_body(response, options, host, signal).await?,
                );
                (SendError::Status { status, body }, asked)
            }
        };
        let Asked::Retry(delay) = asked else {
            return Err(error);
        };
        if attempt >= options.max_retries {
            return Err(error);
        }
        let limit = options.max_retry_delay_ms;
        let delay = match (delay, error) {
            (Some(delay), SendError::Status { status, body }) if limit > 0 && delay > limit => {
                let seconds = |milliseconds: u64| milliseconds.div_ceil(1_000);
                return Err(SendError::DelayTooLong {
                    seconds: seconds(delay),
                    limit: seconds(limit),
                    status,
                    body,
                });
            }
            (Some(delay), _) => delay,
            (None, _) => backoff(attempt, host),
        };
        pause(host, signal, delay).await.map_err(|_| SendError::Aborted)?;
        attempt += 1;
    }
}

/// Half a second, doubled with every attempt, less up to a quarter so that callers spread.
fn backoff(attempt: u32, host: &Rc<dyn Host>) -> u64 {
    let base = 500u64
        .saturating_mul(1 << attempt.min(10))
        .min(LONGEST_BACKOFF_MS);
    let mut random = [0u8; 1];
    host.entropy(&mut random);
    base - base * u64::from(random[0]) / 1_024
}

/// What a failed response asks for.
enum Asked {
    /// Not to try again.
    Stop,
    /// To try again, after so many milliseconds if it says so.
    Retry(Option<u64>),
}

fn asked(response: &HttpResponse, now: u64) -> Asked {
    let retry = match response.header("x-should-retry") {
        Some("true") => true,
        Some("false") => false,
        _ => matches!(response.status, 408 | 409 | 429 | 500..),
    };
    if !retry {
        return Asked::Stop;
    }
    let milliseconds = response
        .header("retry-after-ms")
        .and_then(|value| value.trim().parse::<f64>().ok());
    let after = response.header("retry-after").map(str::trim);
    let seconds = after
        .and_then(|value| value.parse::<f64>().ok())
        .map(|seconds| seconds * 1_000.0);
    let date = || {
        after
            .and_then(crate::http_date::parse)
            .map(|at| at.saturating_sub(now))
    };
    // A float cast saturates: nonsense becomes no wait or a wait above every limit.
    let said = milliseconds
        .or(seconds)
        .filter(|wait| wait.is_finite() && *wait >= 0.0)
        .map(|wait| wait as u64);
    Asked::Retry(said.or_else(date))
}

/// The text of an error body, as much of it as anybody reads. A body that breaks off counts as far as it came.
async fn error_body(
    mut response: HttpResponse,
    options: &SendOptions,
    host: &Rc<dyn Host>,
    signal: &AbortSignal,
) -> Result<String, SendError> {
    let mut bytes = Vec::new();
    let mut idle = Idle::new(host, options.timeout_ms.min(IDLE_TIMEOUT_MS));
    while bytes.len() < ERROR_BODY_BYTES {
        match within(response.body.next(), &mut idle, signal).await {
            Ok(Some(Ok(piece))) => {
                idle.touch();
                bytes.extend_from_slice(&piece);
            }
            Err(Interrupted::Aborted) => return Err(SendError::Aborted),
            _ => break,
        }
    }
    bytes.truncate(ERROR_BODY_BYTES);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
