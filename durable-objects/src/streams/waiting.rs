//! An answer that is still being made: white space, or progress events, keep the connection alive until it is there.

use super::body::Body;
use crate::limits::WAITING_BYTE_MS;
use crate::platform::guard::{Guarded, guard};
use crate::platform::life::Life;
use crate::platform::timer::sleep;
use futures::future::{Either, LocalBoxFuture, select};

/// How the client reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON text; white space before it.
    Json,
    /// Events `progress`, and `result` last.
    EventStream,
}

impl Format {
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::EventStream => "text/event-stream",
        }
    }

    fn alive(self) -> &'static str {
        match self {
            Self::Json => " ",
            Self::EventStream => "event: progress\ndata: {}\n\n",
        }
    }

    fn last(self, answer: String) -> String {
        match self {
            Self::Json => answer,
            Self::EventStream => format!("event: result\ndata: {answer}\n\n"),
        }
    }
}

/// Writes signs of life until `answer` resolves, then its text; `cut` without one, or when the session ends first. After a
/// panic the body ends cut: no valid JSON has been sent, so no client can take it for an answer. A reader that leaves never ends the work itself, which is
/// durable and belongs to the session.
pub async fn carry(
    answer: LocalBoxFuture<'static, Option<String>>,
    cut: String,
    format: Format,
    body: Body,
    life: Life,
    on_panic: impl FnOnce(String),
) {
    let mut answer = guard(&life, answer);
    let text = loop {
        match select(answer, sleep(WAITING_BYTE_MS)).await {
            Either::Left((Guarded::Completed(Some(text)), _)) => break text,
            Either::Left((Guarded::Panicked(message), _)) => return on_panic(message),
            Either::Left((Guarded::Completed(None) | Guarded::Ended(_), _)) => break cut,
            Either::Right((_, waiting)) => {
                answer = waiting;
                if body.write(format.alive()).await.is_err() {
                    return;
                }
            }
        }
    };
    if body.write(&format.last(text)).await.is_ok() {
        let _ = body.close().await;
    }
}
