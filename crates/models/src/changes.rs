//! What changes in a message while it arrives: a reducer from events to edits.
//!
//! A consumer that publishes a growing message every so often would copy all of it each time. The edits say only what is
//! new, so keeping a copy up to date costs time in proportion to the answer.

use crate::message::{AssistantBlock, Message};
use crate::partial::shown_arguments;
use crate::stream::{StreamEvent, Update};
use crate::tool_arguments::{ArgumentsParser, Change};
use serde::Serialize;
use tidehold_delta::{Json, Path, Segment};

/// Collects the edits of one message. Their paths start at the message's JSON form.
///
/// Applied in order they give what [`crate::partial::Partial`] gives, but for numbers and literals within unfinished
/// arguments, which appear when they are complete.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pending: Vec<Change>,
    open: Vec<OpenCall>,
    diagnostics: u64,
}

/// A tool call whose arguments still arrive.
#[derive(Clone, Debug)]
struct OpenCall {
    content_index: usize,
    parser: ArgumentsParser,
    shown: Shown,
}

/// How a call's arguments are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// Edit by edit.
    Edits,
    /// Not at all: they are no object, which a partial does not show.
    Nothing,
    /// As a whole, because a path would hold a name that paths may not hold.
    Whole,
}

impl Changes {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// The edits since the last call.
    pub fn take(&mut self) -> Vec<Change> {
        for call in self.open.iter().filter(|call| call.shown == Shown::Whole) {
            let path = block_path(call.content_index, Some("arguments"));
            self.pending.push(Change::Set {
                path,
                value: shown_arguments(&call.parser),
            });
        }
        std::mem::take(&mut self.pending)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Start { message }
            | StreamEvent::Done { message }
            | StreamEvent::Error { message } => {
                self.pending.clear();
                self.open.clear();
                // With its role: the copy is the message as it is stored, not the bare struct.
                self.set(Vec::new(), &Message::Assistant(message.as_ref().clone()));
            }
            StreamEvent::TextStart { content_index, block } => {
                self.set(
                    block_path(*content_index, None),
                    &AssistantBlock::Text(block.clone()),
                );
            }
            StreamEvent::ThinkingStart { content_index, block } => {
                self.set(
                    block_path(*content_index, None),
                    &AssistantBlock::Thinking(block.clone()),
                );
            }
            StreamEvent::ToolCallStart { content_index, block } => {
                self.set(
                    block_path(*content_index, None),
                    &AssistantBlock::ToolCall((**block).clone()),
                );
                let (parser, shown) = (ArgumentsParser::default(), Shown::Edits);
                self.open.push(OpenCall {
                    content_index: *content_index,
                    parser,
                    shown,
                });
            }
            StreamEvent::TextDelta { content_index, delta } => {
                self.append(block_path(*content_index, Some("text")), delta);
            }
            StreamEvent::ThinkingDelta { content_index, delta } => {
                self.append(block_path(*content_index, Some("thinking")), delta);
            }
            StreamEvent::ToolCallDelta { content_index, delta } => self.arguments(*content_index, delta),
            StreamEvent::ToolCallEnd {
                content_index,
                tool_call,
            } => {
                self.open.retain(|call| call.content_index != *content_index);
                self.set(
                    block_path(*content_index, None),
                    &AssistantBlock::ToolCall((**tool_call).clone()),
                );
            }
            StreamEvent::TextEnd { .. } | StreamEvent::ThinkingEnd { .. } => {}
            StreamEvent::Update(update) => self.update(update),
        }
    }

    fn update(&mut self, update: &Update) {
        match update {
            Update::ResponseId(id) => self.set(member_path("responseId"), id),
            Update::ResponseModel(model) => self.set(member_path("responseModel"), model),
            Update::Usage(usage) => self.set(member_path("usage"), usage),
            Update::Stopping { reason, raw, error } => {
                self.set(member_path("stopReason"), reason);
                self.set(member_path("rawStopReason"), raw);
                if let Some(error) = error {
                    self.set(member_path("errorMessage"), error);
                }
            }
            Update::ThinkingSignature {
                content_index,
                signature,
            } => {
                self.set(block_path(*content_index, Some("thinkingSignature")), signature);
            }
            Update::ToolCallId { content_index, id } => self.set(block_path(*content_index, Some("id")), id),
            Update::ToolCallName { content_index, name } => {
                self.set(block_path(*content_index, Some("name")), name);
            }
            Update::Diagnostic(diagnostic) => {
                let mut path = member_path("diagnostics");
                if self.diagnostics == 0 {
                    self.set(path.clone(), &[(); 0]);
                }
                path.push(Segment::Index(self.diagnostics));
                self.diagnostics += 1;
                self.set(path, diagnostic);
            }
        }
    }

    fn arguments(&mut self, content_index: usize, delta: &str) {
        let Some(call) = self
            .open
            .iter_mut()
            .find(|call| call.content_index == content_index)
        else {
            return;
        };
        let changes = call.parser.append(delta);
        for change in changes {
            call.shown = shown_after(call.shown, &change);
            if call.shown == Shown::Edits {
                let prefix = block_path(content_index, Some("arguments"));
                let below = |path: Path| prefix.into_iter().chain(path).collect();
                let change = match change {
                    Change::Set { path, value } => Change::Set {
                        path: below(path),
                        value,
                    },
                    Change::Append { path, text } => Change::Append {
                        path: below(path),
                        text,
                    },
                };
                push(&mut self.pending, change);
            }
        }
    }

    fn set<T: Serialize + ?Sized>(&mut self, path: Path, value: &T) {
        // Messages are plain data of bounded depth; what could not be converted is left for the final message.
        if let Ok(value) = Json::from_serialize(value) {
            self.pending.push(Change::Set { path, value });
        }
    }

    fn append(&mut self, path: Path, text: &str) {
        push(
            &mut self.pending,
            Change::Append {
                path,
                text: text.to_owned(),
            },
        );
    }
}

fn shown_after(shown: Shown, change: &Change) -> Shown {
    let (Change::Set { path, .. } | Change::Append { path, .. }) = change;
    match change {
        Change::Set { path, value } if path.is_empty() && value.as_object().is_none() => Shown::Nothing,
        _ if shown == Shown::Edits && path.iter().any(Segment::is_reserved) => Shown::Whole,
        _ => shown,
    }
}

/// Joins pieces of one text, so that a hundred deltas between two publications are one edit.
fn push(pending: &mut Vec<Change>, change: Change) {
    match (pending.last_mut(), change) {
        (Some(Change::Append { path: last, text }), Change::Append { path, text: more }) if *last == path => {
            text.push_str(&more);
        }
        (_, change) => pending.push(change),
    }
}

fn member_path(name: &str) -> Path {
    vec![Segment::Key(name.into())]
}

fn block_path(content_index: usize, member: Option<&str>) -> Path {
    let mut path = vec![
        Segment::Key("content".into()),
        Segment::Index(content_index as u64),
    ];
    path.extend(member.map(|name| Segment::Key(name.into())));
    path
}
