//! Undelivered frames of one reader. A slow reader costs a bounded amount of memory and no commit ever waits for it:
//! past the bound everything undelivered collapses, and the reader gets one snapshot instead (http.md "Streams").

use super::Frame;
use crate::limits::{OUTBOX_BATCHES, OUTBOX_BYTES};
use crate::platform::life::EndReason;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// What the reader gets next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Frame(Frame),
    /// Frames were dropped. The carrier takes a snapshot of the newest committed state, calls [`Outbox::restart`] in
    /// the turn in which it was captured, and sends it.
    Collapsed,
    /// Nothing follows.
    End(EndReason),
}

#[derive(Default)]
struct Shared {
    frames: VecDeque<Frame>,
    bytes: usize,
    collapsed: bool,
    ended: Option<EndReason>,
    reader: Option<Waker>,
}

/// Handle to the frames of one reader; clones share them. The session's end pushes, the carrier takes.
#[derive(Clone, Default)]
pub struct Outbox(Rc<RefCell<Shared>>);

impl Outbox {
    /// Adds a frame in the turn of its commit. Never fails and never waits.
    pub fn push(&self, frame: Frame) {
        let mut shared = self.0.borrow_mut();
        if shared.collapsed || shared.ended.is_some() {
            return;
        }
        shared.bytes += frame.data.len();
        shared.frames.push_back(frame);
        // A single frame is delivered whatever its size: a snapshot in its place would not be smaller.
        if shared.frames.len() > OUTBOX_BATCHES || (shared.bytes > OUTBOX_BYTES && shared.frames.len() > 1) {
            shared.drop_frames();
            shared.collapsed = true;
        }
        wake(shared);
    }

    /// Forgets everything pushed so far: a snapshot that contains it has just been captured.
    pub fn restart(&self) {
        let mut shared = self.0.borrow_mut();
        shared.drop_frames();
        shared.collapsed = false;
    }

    /// Ends it once the frames before are delivered. A failed session's frames are committed all the same.
    pub fn end(&self, reason: EndReason) {
        let mut shared = self.0.borrow_mut();
        shared.ended.get_or_insert(reason);
        wake(shared);
    }

    /// Whether both are handles to the same frames.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The next thing to deliver; waits for it. One reader at a time.
    pub async fn next(&self) -> Next {
        poll_fn(|context| {
            let mut shared = self.0.borrow_mut();
            if let Some(frame) = shared.frames.pop_front() {
                shared.bytes -= frame.data.len();
                return Poll::Ready(Next::Frame(frame));
            }
            match (shared.ended, shared.collapsed) {
                (Some(reason), _) => Poll::Ready(Next::End(reason)),
                (None, true) => Poll::Ready(Next::Collapsed),
                (None, false) => {
                    shared.reader = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Shared {
    fn drop_frames(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}

fn wake(mut shared: std::cell::RefMut<'_, Shared>) {
    let reader = shared.reader.take();
    drop(shared);
    if let Some(reader) = reader {
        reader.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::FrameKind;
    use futures::FutureExt;

    fn frame(seq: usize, bytes: usize) -> Frame {
        let id = format!("i-{seq}").into();
        Frame {
            kind: FrameKind::Batch,
            id,
            data: "x".repeat(bytes).into(),
        }
    }

    fn next(outbox: &Outbox) -> Option<Next> {
        outbox.next().now_or_never()
    }

    #[test]
    fn frames_arrive_in_order_and_then_the_end() {
        let outbox = Outbox::default();
        assert_eq!(next(&outbox), None);
        outbox.push(frame(1, 10));
        outbox.push(frame(2, OUTBOX_BYTES - 10));
        outbox.end(EndReason::Failed);
        outbox.push(frame(3, 1));
        assert_eq!(next(&outbox), Some(Next::Frame(frame(1, 10))));
        assert_eq!(next(&outbox), Some(Next::Frame(frame(2, OUTBOX_BYTES - 10))));
        assert_eq!(next(&outbox), Some(Next::End(EndReason::Failed)));
    }

    #[test]
    fn too_many_frames_or_bytes_collapse() {
        let outbox = Outbox::default();
        (0..OUTBOX_BATCHES).for_each(|seq| outbox.push(frame(seq, 1)));
        assert_eq!(next(&outbox), Some(Next::Frame(frame(0, 1))));
        (0..2).for_each(|seq| outbox.push(frame(seq, 1)));
        outbox.push(frame(9, 1));
        assert_eq!(next(&outbox), Some(Next::Collapsed));
        outbox.restart();
        assert_eq!(next(&outbox), None);
        outbox.push(frame(1, OUTBOX_BYTES * 2));
        assert_eq!(next(&outbox), Some(Next::Frame(frame(1, OUTBOX_BYTES * 2))));
        outbox.push(frame(2, OUTBOX_BYTES));
        outbox.push(frame(3, 1));
        assert_eq!(next(&outbox), Some(Next::Collapsed));
    }
}
