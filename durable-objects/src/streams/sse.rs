//! Server-sent events: the carrier of frames.

use super::Frame;
use super::body::{Body, ReaderGone};
use crate::limits::HEARTBEAT_MS;
use crate::platform::life::Life;
use crate::platform::timer::sleep;
use futures::future::{Either, LocalBoxFuture, select};
use std::pin::pin;

/// Where the frames of one reader come from. Dropping it detaches the reader.
pub trait FrameSource {
    /// What comes next; waits for it. The carrier keeps the future until it resolves, so it need not survive being
    /// dropped halfway.
    fn next(&mut self) -> LocalBoxFuture<'_, Next>;
}

/// What a source has next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Frame(Frame),
    /// Nothing follows, for this reason.
    End(&'static str),
}

/// Carries the frames of `source` to the reader until either is gone. A session that fails or is deleted says so in a
/// last event.
pub async fn carry(source: Box<dyn FrameSource>, body: Body, life: Life) {
    // The life first: when the session ends, its sources end too, for reasons that mean nothing to the reader. A write
    // may then still wait for a slow reader; the end is queued behind it.
    let ended = match select(life.until_end(), pin!(deliver(source, &body))).await {
        Either::Left((reason, _)) => Ok(reason.name()),
        Either::Right((ended, _)) => ended,
    };
    if let Ok(reason) = ended {
        let written = body.write(&end(reason));
        let closed = body.close();
        // What a reader does with the last words no longer matters to anyone here.
        let _ = (written.await, closed.await);
    }
}

/// Frames at the reader's pace, and a heartbeat while there are none. Resolves with the reason of the end.
async fn deliver(mut source: Box<dyn FrameSource>, body: &Body) -> Result<&'static str, ReaderGone> {
    loop {
        let mut coming = source.next();
        let next = loop {
            match select(coming, sleep(HEARTBEAT_MS)).await {
                Either::Left((next, _)) => break next,
                Either::Right((_, waiting)) => {
                    coming = waiting;
                    body.write(": hb\n\n").await?;
                }
            }
        };
        match next {
            Next::Frame(frame) => body.write(&encode(&frame)).await?,
            Next::End(reason) => return Ok(reason),
        }
    }
}

/// One frame on the wire. JSON text holds no line breaks, so it is one `data:` line.
fn encode(frame: &Frame) -> String {
    let Frame { kind, id, data } = frame;
    format!("event: {}\nid: {id}\ndata: {data}\n\n", kind.name())
}

fn end(reason: &str) -> String {
    format!("event: end\ndata: {{\"reason\":\"{reason}\"}}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::FrameKind;

    #[test]
    fn frames_and_ends_are_events() {
        let frame = Frame {
            kind: FrameKind::Snapshot,
            id: "a-1".into(),
            data: r#"{"x":"\n"}"#.into(),
        };
        assert_eq!(
            encode(&frame),
            "event: snapshot\nid: a-1\ndata: {\"x\":\"\\n\"}\n\n"
        );
        assert_eq!(end("deleted"), "event: end\ndata: {\"reason\":\"deleted\"}\n\n");
    }
}
