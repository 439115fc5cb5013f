//! The message so far: a reducer over [`StreamEvent`]s.

use crate::message::{AssistantBlock, AssistantMessage, ThinkingContent, ToolCall, Usage};
use crate::stream::{StreamEvent, Update};
use crate::tool_arguments::ArgumentsParser;
use tidehold_delta::{Json, string_len};

/// An answer that is still arriving.
///
/// Applying an event costs time in proportion to what the event brings; [`Partial::message`] costs time in proportion
/// to the whole message. Consumers that keep a copy of a long message follow [`crate::changes::Changes`] instead.
/// Events that fit no block are ignored: a reducer must not fail on what it is fed.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    message: Option<AssistantMessage>,
    /// Parsers of the open tool calls, by content index.
    arguments: Vec<(usize, ArgumentsParser)>,
    /// About what the content so far takes as JSON.
    bytes: usize,
}

impl Partial {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// The message so far, `None` before the first event. After a terminal event it is the final message.
    pub fn message(&self) -> Option<AssistantMessage> {
        let message = self.message.clone()?;
        Some(with_shown_arguments(message, &self.arguments))
    }

    /// The final message, or what had arrived.
    pub fn into_message(self) -> Option<AssistantMessage> {
        Some(with_shown_arguments(self.message?, &self.arguments))
    }

    /// The blocks so far. Open tool calls show the arguments they opened with.
    pub fn content(&self) -> &[AssistantBlock] {
        self.message
            .as_ref()
            .map(|message| message.content.as_slice())
            .unwrap_or_default()
    }

    /// Takes one event in, unless the message would then take more than `limit` bytes as JSON; whether it did. For
    /// consumers that take every event in this way: [`Partial::apply`] counts nothing.
    #[must_use]
    pub fn apply_within(&mut self, limit: usize, event: &StreamEvent) -> bool {
        let bytes = match event {
            StreamEvent::Start { .. } | StreamEvent::Done { .. } | StreamEvent::Error { .. } => {
                event_bytes(event)
            }
            _ => self.bytes.saturating_add(event_bytes(event)),
        };
        if bytes > limit {
            return false;
        }
        self.bytes = bytes;
        self.apply(event);
        true
    }

    /// The usage so far.
    pub fn usage(&self) -> Option<&Usage> {
        self.message.as_ref().map(|message| &message.usage)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Start { message }
            | StreamEvent::Done { message }
            | StreamEvent::Error { message } => {
                self.message = Some((**message).clone());
                self.arguments.clear();
            }
            StreamEvent::TextStart { block, .. } => self.push(AssistantBlock::Text(block.clone())),
            StreamEvent::ThinkingStart { block, .. } => self.push(AssistantBlock::Thinking(block.clone())),
            StreamEvent::ToolCallStart { content_index, block } => {
                self.push(AssistantBlock::ToolCall((**block).clone()));
                self.arguments.push((*content_index, ArgumentsParser::default()));
            }
            StreamEvent::TextDelta { content_index, delta } => {
                if let Some(AssistantBlock::Text(block)) = self.block(*content_index) {
                    block.text.push_str(delta);
                }
            }
            StreamEvent::ThinkingDelta { content_index, delta } => {
                if let Some(block) = self.thinking(*content_index) {
                    block.thinking.push_str(delta);
                }
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                if let Some((_, parser)) = self
                    .arguments
                    .iter_mut()
                    .find(|(index, _)| index == content_index)
                {
                    parser.append(delta);
                }
            }
            StreamEvent::ToolCallEnd {
                content_index,
                tool_call,
            } => {
                self.arguments.retain(|(index, _)| index != content_index);
                if let Some(call) = self.call(*content_index) {
                    call.clone_from(tool_call);
                }
            }
            StreamEvent::TextEnd { .. } | StreamEvent::ThinkingEnd { .. } => {}
            StreamEvent::Update(update) => self.update(update),
        }
    }

    fn update(&mut self, update: &Update) {
        match update {
            Update::ThinkingSignature {
                content_index,
                signature,
            } => {
                if let Some(block) = self.thinking(*content_index) {
                    block.thinking_signature = Some(signature.clone());
                }
            }
            Update::ToolCallId { content_index, id } => {
                if let Some(call) = self.call(*content_index) {
                    call.id.clone_from(id);
                }
            }
            Update::ToolCallName { content_index, name } => {
                if let Some(call) = self.call(*content_index) {
                    call.name.clone_from(name);
                }
            }
            of_message => {
                if let Some(message) = &mut self.message {
                    update_message(message, of_message);
                }
            }
        }
    }

    fn push(&mut self, block: AssistantBlock) {
        if let Some(message) = &mut self.message {
            message.content.push(block);
        }
    }

    fn block(&mut self, index: usize) -> Option<&mut AssistantBlock> {
        self.message.as_mut()?.content.get_mut(index)
    }

    fn thinking(&mut self, index: usize) -> Option<&mut ThinkingContent> {
        match self.block(index)? {
            AssistantBlock::Thinking(block) => Some(block),
            _ => None,
        }
    }

    fn call(&mut self, index: usize) -> Option<&mut ToolCall> {
        match self.block(index)? {
            AssistantBlock::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}

/// About what the event adds to the message as JSON; for events with a whole message, all of it.
fn event_bytes(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Start { message } | StreamEvent::Done { message } | StreamEvent::Error { message } => {
            message.content.iter().map(block_bytes).sum()
        }
        StreamEvent::TextStart { block, .. } => text_bytes(&block.text),
        StreamEvent::ThinkingStart { block, .. } => thinking_bytes(block),
        StreamEvent::ToolCallStart { block, .. } => call_bytes(block),
        StreamEvent::TextDelta { delta, .. } | StreamEvent::ThinkingDelta { delta, .. } => text_bytes(delta),
        // The text of the arguments is JSON already.
        StreamEvent::ToolCallDelta { delta, .. } => delta.len(),
        StreamEvent::Update(Update::ThinkingSignature { signature: text, .. })
        | StreamEvent::Update(Update::ToolCallId { id: text, .. })
        | StreamEvent::Update(Update::ToolCallName { name: text, .. }) => text_bytes(text),
        StreamEvent::TextEnd { .. }
        | StreamEvent::ThinkingEnd { .. }
        | StreamEvent::ToolCallEnd { .. }
        | StreamEvent::Update(_) => 0,
    }
}

fn block_bytes(block: &AssistantBlock) -> usize {
    match block {
        AssistantBlock::Text(block) => text_bytes(&block.text),
        AssistantBlock::Thinking(block) => thinking_bytes(block),
        AssistantBlock::ToolCall(call) => call_bytes(call),
    }
}

fn thinking_bytes(block: &ThinkingContent) -> usize {
    text_bytes(&block.thinking) + block.thinking_signature.as_deref().map_or(0, text_bytes)
}

fn call_bytes(call: &ToolCall) -> usize {
    call.arguments.encoded_len() + text_bytes(&call.id) + text_bytes(&call.name)
}

/// Without the quotes: a text arrives in many pieces and has two.
fn text_bytes(text: &str) -> usize {
    string_len(text).saturating_sub(2)
}

fn update_message(message: &mut AssistantMessage, update: &Update) {
    match update {
        Update::ResponseId(id) => message.response_id = Some(id.clone()),
        Update::ResponseModel(model) => message.response_model = Some(model.clone()),
        Update::Usage(usage) => message.usage.clone_from(usage),
        Update::Stopping { reason, raw, error } => {
            message.stop_reason = *reason;
            message.raw_stop_reason = Some(raw.clone());
            message.error_message.clone_from(error);
        }
        Update::Diagnostic(diagnostic) => message
            .diagnostics
            .get_or_insert_default()
            .push((**diagnostic).clone()),
        Update::ThinkingSignature { .. } | Update::ToolCallId { .. } | Update::ToolCallName { .. } => {}
    }
}

fn with_shown_arguments(
    mut message: AssistantMessage,
    open: &[(usize, ArgumentsParser)],
) -> AssistantMessage {
    for (index, parser) in open {
        if let Some(AssistantBlock::ToolCall(call)) = message.content.get_mut(*index)
            && parser.has_value()
        {
            call.arguments = shown_arguments(parser);
        }
    }
    message
}

/// What a partial shows of unfinished arguments: an object, whatever the model writes.
pub fn shown_arguments(parser: &ArgumentsParser) -> Json {
    parser
        .snapshot()
        .filter(|value| value.as_object().is_some())
        .unwrap_or_else(Json::empty_object)
}
