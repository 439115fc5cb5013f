//! What a model's answer looks like while it arrives (models.md 3).
//!
//! An event carries only what is new; [`crate::partial::Partial`] reproduces the message so far from the events, so a
//! long answer costs time and memory in proportion to its length, not to its length times its pieces.

use crate::message::{
    AssistantMessage, Diagnostic, StopReason, TextContent, ThinkingContent, ToolCall, Usage,
};

/// One event of an answer.
///
/// The order is `Start`, anything, then `Done` or `Error`, after which nothing follows. A request that fails before
/// the provider answered is a lone `Error`. Blocks may interleave: `content_index` tells which block an event is about.
/// A block that is open when the answer fails gets no end.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider answers. The message has no content yet and is pending.
    Start {
        /// The message before its first block.
        message: Box<AssistantMessage>,
    },
    /// A text block opens at the end of the content.
    TextStart {
        /// Its place in the content.
        content_index: usize,
        /// The block as it opens, mostly empty.
        block: TextContent,
    },
    /// Text is appended to a text block.
    TextDelta {
        /// The block.
        content_index: usize,
        /// The new text.
        delta: String,
    },
    /// A text block is complete.
    TextEnd {
        /// The block.
        content_index: usize,
    },
    /// A thinking block opens at the end of the content.
    ThinkingStart {
        /// Its place in the content.
        content_index: usize,
        /// The block as it opens, mostly without thoughts.
        block: ThinkingContent,
    },
    /// Thoughts are appended to a thinking block.
    ThinkingDelta {
        /// The block.
        content_index: usize,
        /// The new thoughts.
        delta: String,
    },
    /// A thinking block is complete.
    ThinkingEnd {
        /// The block.
        content_index: usize,
    },
    /// A tool call opens at the end of the content.
    ToolCallStart {
        /// Its place in the content.
        content_index: usize,
        /// The call as it opens. Id and name may be empty and follow as updates; the arguments stand until the first
        /// piece of their text shows something.
        block: Box<ToolCall>,
    },
    /// A piece of the JSON text of a call's arguments; may be empty.
    ToolCallDelta {
        /// The block.
        content_index: usize,
        /// The new piece.
        delta: String,
    },
    /// A tool call is complete.
    ToolCallEnd {
        /// The block.
        content_index: usize,
        /// The whole call with its finished arguments.
        tool_call: Box<ToolCall>,
    },
    /// Something outside the blocks' text became known. pi-ai changes its live partial silently instead.
    Update(Update),
    /// The answer is complete: stop reason `stop`, `length`, `toolUse` or `deferred`.
    Done {
        /// The whole message.
        message: Box<AssistantMessage>,
    },
    /// The answer failed: stop reason `error` or `aborted`.
    Error {
        /// The message with what had arrived, and why it failed.
        message: Box<AssistantMessage>,
    },
}

/// A change of a partial message that is no text.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// The provider's id of the answer.
    ResponseId(String),
    /// The provider names another model than the requested one.
    ResponseModel(String),
    /// Usage so far.
    Usage(Box<Usage>),
    /// How the answer will end, known before its end.
    Stopping {
        /// The stop reason.
        reason: StopReason,
        /// The provider's own word for it.
        raw: String,
        /// Why that is an error.
        error: Option<String>,
    },
    /// The signature of a thinking block, whole.
    ThinkingSignature {
        /// The block.
        content_index: usize,
        /// The signature.
        signature: String,
    },
    /// The id of a tool call that opened without one.
    ToolCallId {
        /// The block.
        content_index: usize,
        /// The id.
        id: String,
    },
    /// The name of a tool call that opened without one.
    ToolCallName {
        /// The block.
        content_index: usize,
        /// The name.
        name: String,
    },
    /// An oddity.
    Diagnostic(Box<Diagnostic>),
}

impl StreamEvent {
    /// The message of a terminal event.
    pub fn into_terminal(self) -> Option<AssistantMessage> {
        match self {
            Self::Done { message } | Self::Error { message } => Some(*message),
            _ => None,
        }
    }

    /// Whether nothing follows.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Error { .. })
    }

    /// How many bytes of answer the event brings.
    pub fn delta_bytes(&self) -> usize {
        match self {
            Self::TextDelta { delta, .. }
            | Self::ThinkingDelta { delta, .. }
            | Self::ToolCallDelta { delta, .. } => delta.len(),
            _ => 0,
        }
    }
}
