//! `GET …/events`: attach to a conversation's committed events.

use super::errors::harness_error;
use super::{Answer, Session, head};
use crate::frame::Reply;
use crate::protocol::{Accept, Code, OperationError};
use crate::streams::sse::{FrameSource, Next};
use crate::streams::{Frame, FrameKind};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_harness::events::hub::{self, EventReader};
use tidehold_session::ids::{ConversationId, Seq};

pub async fn watch(session: Session, id: ConversationId, after: Option<&str>, accept: Accept) -> Answer {
    let harness = &session.harness;
    harness
        .conversation(id)
        .await
        .map_err(harness_error)?
        .ok_or_else(OperationError::not_found)?;
    let head = head(&session).await?.ok_or_else(OperationError::not_found)?;
    let after = after.map(|after| position(after, &head)).transpose()?;
    let incarnation: Rc<str> = head
        .rsplit_once('-')
        .map_or("", |(incarnation, _)| incarnation)
        .into();
    match accept {
        Accept::EventStream => {
            let attached = harness.events().attach(id, after).await;
            let reader = attached.map_err(|error| harness_error(error.into()))?;
            Ok(Reply::Events(Box::new(Frames { reader, incarnation })))
        }
        Accept::Json => {
            let read = harness.events().snapshot(id).await;
            let (seq, snapshot) = read.map_err(|error| harness_error(error.into()))?;
            let stream_id = Json::from(format!("{incarnation}-{seq}"));
            Ok(Reply::Json(Json::object([
                ("id", stream_id),
                ("snapshot", snapshot),
            ])))
        }
    }
}

/// The commit a client holds. Another incarnation, a malformed id or one beyond the head is gone for good.
fn position(after: &str, head: &str) -> Result<Seq, OperationError> {
    let parse = |id: &str| -> Option<(String, Seq)> {
        let (incarnation, seq) = id.rsplit_once('-')?;
        // Digits only: `+1` and the like are no ids of ours.
        let digits = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        Some((incarnation.to_owned(), Seq(seq.parse().ok().filter(|_| digits)?)))
    };
    match (parse(after), parse(head)) {
        (Some((meant, seq)), Some((current, newest))) if meant == current && seq <= newest => Ok(seq),
        _ => Err(
            OperationError::new(Code::StreamCursorGone, "the stream has no such position")
                .with_extra(Json::object([("head", Json::from(head))])),
        ),
    }
}

/// The hub's reader as frames on the wire.
struct Frames {
    reader: EventReader,
    incarnation: Rc<str>,
}

impl FrameSource for Frames {
    fn next(&mut self) -> LocalBoxFuture<'_, Next> {
        async move {
            let (kind, seq, data) = match self.reader.next().await {
                hub::Frame::Snapshot { seq, value } => (FrameKind::Snapshot, seq, value),
                hub::Frame::Batch { seq, events } => (FrameKind::Batch, seq, events),
                hub::Frame::End { reason } => return Next::End(reason),
            };
            let id = format!("{}-{seq}", self.incarnation).into();
            Next::Frame(Frame {
                kind,
                id,
                data: data.to_string().into(),
            })
        }
        .boxed_local()
    }
}
