//! Server-sent events: the carrier of frames.

use super::body::{Body, ReaderGone};
use super::outbox::{Next, Outbox};
use super::{Frame, FrameKind};
use crate::limits::HEARTBEAT_MS;
use crate::platform::life::{EndReason, Life};
use crate::platform::timer::sleep;
use futures::future::{Either, LocalBoxFuture, select};
use std::pin::pin;

/// One reader's view of a session.
pub struct EventStream {
    /// Sent first: a snapshot, or the frames after the position the client holds.
    pub first: Vec<Frame>,
    pub outbox: Outbox,
    pub source: Box<dyn FrameSource>,
}

/// Where the carrier gets a fresh start from. Dropping it ends the subscription that fills the outbox.
pub trait FrameSource {
    /// The newest committed state. The implementation calls [`Outbox::restart`] in the turn in which it captures it,
    /// so that no frame is missed or sent twice. `None`: the session is no more.
    fn snapshot(&self) -> LocalBoxFuture<'_, Option<Frame>>;
}

/// Carries `stream` to the reader until either is gone. A session that fails or is deleted says so in a last event.
pub async fn carry(stream: EventStream, body: Body, life: Life) {
    let EventStream {
        first,
        outbox,
        source,
    } = stream;
    let carried = async {
        for frame in &first {
            body.write(&encode(frame)).await?;
        }
        loop {
            match select(pin!(outbox.next()), sleep(HEARTBEAT_MS)).await {
                Either::Left((Next::Frame(frame), _)) => body.write(&encode(&frame)).await?,
                Either::Left((Next::Collapsed, _)) => match source.snapshot().await {
                    Some(frame) => body.write(&encode(&frame)).await?,
                    None => return Ok(EndReason::Failed),
                },
                Either::Left((Next::End(reason), _)) => return Ok(reason),
                Either::Right(_) => body.write(": hb\n\n").await?,
            }
        }
    };
    let ended: Result<EndReason, ReaderGone> = match select(pin!(carried), life.until_end()).await {
        Either::Left((ended, _)) => ended,
        // A write may still wait for a slow reader; the end is queued behind it.
        Either::Right((reason, _)) => Ok(reason),
    };
    drop(source);
    if let Ok(reason) = ended {
        let written = body.write(&format!(
            "event: end\ndata: {{\"reason\":\"{}\"}}\n\n",
            reason.name()
        ));
        let closed = body.close();
        // What a reader does with the last words no longer matters to anyone here.
        let _ = (written.await, closed.await);
    }
}

/// One frame on the wire. JSON text holds no line breaks, so it is one `data:` line.
fn encode(frame: &Frame) -> String {
    let Frame { kind, id, data } = frame;
    format!("event: {}\nid: {id}\ndata: {data}\n\n", FrameKind::name(*kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_an_event() {
        let frame = Frame {
            kind: FrameKind::Snapshot,
            id: "a-1".into(),
            data: r#"{"x":"\n"}"#.into(),
        };
        assert_eq!(
            encode(&frame),
            "event: snapshot\nid: a-1\ndata: {\"x\":\"\\n\"}\n\n"
        );
    }
}
