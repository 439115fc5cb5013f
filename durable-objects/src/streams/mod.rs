//! Answers that take their time: event streams and waiting foreground calls.
//!
//! [`sse`] carries frames to the client, [`waiting`] keeps a foreground call alive. Both write through [`body::Body`],
//! the only kind of response stream whose bytes the output gate holds back (invariant 2). That a slow reader never
//! slows a commit is the event hub's doing, below: it keeps a bounded queue a reader.

pub mod body;
pub mod sse;
pub mod waiting;

use std::rc::Rc;

/// One event for one reader, encoded when that reader takes it: a reader that lags costs no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: FrameKind,
    /// `<incarnation>-<seq>` of the commit that made it true.
    pub id: Rc<str>,
    /// One JSON value, without line breaks.
    pub data: Rc<str>,
}

/// What a frame is to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Replaces everything the reader holds.
    Snapshot,
    /// Applies on top of what the reader holds.
    Batch,
}

impl FrameKind {
    /// The SSE event name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Batch => "batch",
        }
    }
}
