//! What test Workers share that run sessions of their own in the product's frame. Included by path: each is a workspace of its own.

use serde::Serialize;
use tidehold_delta::FromJson;
use tidehold_durable_objects::frame::Request as FrameRequest;
use tidehold_durable_objects::protocol::{
    Accept, CALL, Call, Caller, OUTCOME, Operation, OperationError, from_json_text, to_ascii_json,
};
use worker::{Env, Headers, Method, Request, RequestInit, Response, Result};

/// The Durable Object class `$name` around the frame of `$app`. `$begin` is given the state before the frame is.
macro_rules! object_in_frame {
    ($name:ident, $app:ty, $begin:expr) => {
        #[worker::durable_object]
        pub struct $name {
            frame: std::panic::AssertUnwindSafe<tidehold_durable_objects::frame::Frame<$app>>,
        }

        // All handlers are written out: the defaults of the trait panic.
        impl worker::DurableObject for $name {
            fn new(state: worker::State, env: worker::Env) -> Self {
                let begin: fn(&worker::State) = $begin;
                begin(&state);
                Self {
                    frame: std::panic::AssertUnwindSafe(tidehold_durable_objects::frame::Frame::new(
                        state, env,
                    )),
                }
            }

            async fn fetch(&self, request: worker::Request) -> worker::Result<worker::Response> {
                self.frame.fetch(request).await
            }

            async fn alarm(&self) -> worker::Result<worker::Response> {
                self.frame.alarm().await
            }

            async fn connect(&self, _socket: worker::Socket) -> worker::Result<()> {
                Ok(())
            }

            async fn websocket_message(
                &self,
                _socket: worker::WebSocket,
                _message: worker::WebSocketIncomingMessage,
            ) -> worker::Result<()> {
                Ok(())
            }

            async fn websocket_close(
                &self,
                _socket: worker::WebSocket,
                _code: usize,
                _reason: String,
                _clean: bool,
            ) -> worker::Result<()> {
                Ok(())
            }

            async fn websocket_error(
                &self,
                _socket: worker::WebSocket,
                _error: worker::Error,
            ) -> worker::Result<()> {
                Ok(())
            }
        }
    };
}
pub(crate) use object_in_frame;

/// Passes the operation in a request's body on to the object of its path, as the product's Worker does. The inner error is
/// the operation's.
pub async fn pass_on<O: Serialize + FromJson>(
    mut request: Request,
    env: &Env,
    accept: Accept,
) -> Result<std::result::Result<Response, OperationError>> {
    let session = request.url()?.path().trim_matches('/').to_owned();
    let operation: O = read(&request.text().await?)?;
    let call = Call {
        operation,
        caller: Caller {
            project: "test".to_owned(),
            subject: None,
            rate_limited: false,
        },
        session: session.clone(),
        accept,
        if_incarnation: None,
        request_id: String::new(),
        traceparent: None,
    };
    let headers = Headers::new();
    headers.set(CALL, &to_ascii_json(&call)?)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_headers(headers);
    let request = Request::new_with_init("https://session.internal/", &init)?;
    let mut answer = env
        .durable_object("SESSIONS")?
        .get_by_name(&session)?
        .fetch_with_request(request)
        .await?;
    if answer.headers().get(OUTCOME)?.as_deref() != Some("error") {
        return Ok(Ok(answer));
    }
    Ok(Err(read(&answer.text().await?)?))
}

/// A call of a test's own as one of the product's.
pub fn product_request<O>(call: Call<O>, operation: Operation, body: String) -> FrameRequest<Operation> {
    let Call {
        caller,
        session,
        accept,
        if_incarnation,
        request_id,
        traceparent,
        ..
    } = call;
    let call = Call {
        operation,
        caller,
        session,
        accept,
        if_incarnation,
        request_id,
        traceparent,
    };
    FrameRequest { call, body }
}

fn read<T: FromJson>(text: &str) -> Result<T> {
    from_json_text(text).map_err(Into::into)
}
