//! HTTP as this crate needs it. Workers implement it over `fetch`, tests replay recorded answers.

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;
use tidehold_session::signal::AbortSignal;

/// Sends requests. The signal cancels a request that is still waiting; what it does to a body is up to the
/// implementation, because the readers here stop reading by themselves.
pub trait Transport {
    /// Resolves once the response headers are in.
    fn send(
        &self,
        request: HttpRequest,
        signal: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<HttpResponse, TransportError>>;
}

/// A request. Every provider request is a `POST` with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The whole address.
    pub url: String,
    /// Lowercase names; later entries never repeat an earlier name.
    pub headers: Vec<(String, String)>,
    /// JSON text.
    pub body: Vec<u8>,
}

/// A response whose body is still to be read. Dropping it ends the connection.
pub struct HttpResponse {
    /// HTTP status.
    pub status: u16,
    /// Names in any case.
    pub headers: Vec<(String, String)>,
    /// The body in pieces as the network cuts them.
    pub body: LocalBoxStream<'static, Result<Vec<u8>, TransportError>>,
}

/// The connection failed, before or within a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransportError {
    /// What the platform says. Empty: nothing.
    pub message: String,
    /// A system code such as `ECONNRESET`, where the platform has one.
    pub code: Option<String>,
}

impl HttpResponse {
    /// The first header of that name, whatever the case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}
