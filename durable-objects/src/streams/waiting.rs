//! A JSON answer that is still being made: white space keeps the connection alive until it is there.

use super::body::Body;
use crate::limits::WAITING_BYTE_MS;
use crate::platform::guard::{Guarded, guard};
use crate::platform::life::Life;
use crate::platform::timer::sleep;
use futures::future::{Either, LocalBoxFuture, select};

/// Writes spaces until `answer` resolves, then its text. When the session ends first the body ends cut: no valid JSON
/// has been sent, so no client can take it for an answer. A reader that leaves never ends the work itself, which is
/// durable and belongs to the session.
pub async fn carry(
    answer: LocalBoxFuture<'static, String>,
    body: Body,
    life: Life,
    on_panic: impl FnOnce(String),
) {
    let mut answer = guard(&life, answer);
    loop {
        match select(answer, sleep(WAITING_BYTE_MS)).await {
            Either::Left((Guarded::Completed(text), _)) => {
                if body.write(&text).await.is_ok() {
                    let _ = body.close().await;
                }
                return;
            }
            Either::Left((Guarded::Panicked(message), _)) => return on_panic(message),
            Either::Left((Guarded::Ended(_), _)) => return,
            Either::Right((_, waiting)) => {
                answer = waiting;
                if body.write(" ").await.is_err() {
                    return;
                }
            }
        }
    }
}
