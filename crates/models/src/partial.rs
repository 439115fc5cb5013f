//! The message so far: a reducer over [`StreamEvent`]s.

use crate::message::{AssistantBlock, AssistantMessage, TextContent, ThinkingContent, ToolCall, Usage};
use crate::stream::{StreamEvent, Update};
use crate::tool_arguments::ArgumentsParser;
use tidehold_delta::Json;

/// An answer that is still arriving.
///
/// Applying an event costs time in proportion to what the event brings; [`Partial::message`] costs time in proportion
/// to the whole message, so consumers call it as often as they publish, not for every event. Events that fit no block
/// are ignored: a reducer must not fail on what it is fed.
#[derive(Clone, Debug, Default)]
pub struct Partial {
    message: Option<AssistantMessage>,
    /// Parsers of the open tool calls, by content index.
    arguments: Vec<(usize, ArgumentsParser)>,
}

impl Partial {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// The message so far, `None` before the first event. After a terminal event it is the final message.
    pub fn message(&self) -> Option<AssistantMessage> {
        let mut message = self.message.clone()?;
        for (index, parser) in &self.arguments {
            if let Some(AssistantBlock::ToolCall(call)) = message.content.get_mut(*index) {
                call.arguments = shown_arguments(parser);
            }
        }
        Some(message)
    }

    /// The final message, or what had arrived.
    pub fn into_message(mut self) -> Option<AssistantMessage> {
        let mut message = self.message.take()?;
        for (index, parser) in &self.arguments {
            if let Some(AssistantBlock::ToolCall(call)) = message.content.get_mut(*index) {
                call.arguments = shown_arguments(parser);
            }
        }
        Some(message)
    }

    /// The blocks so far. Arguments of open tool calls are `{}` here.
    pub fn content(&self) -> &[AssistantBlock] {
        self.message.as_ref().map(|message| message.content.as_slice()).unwrap_or_default()
    }

    /// The usage so far.
    pub fn usage(&self) -> Option<&Usage> {
        self.message.as_ref().map(|message| &message.usage)
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Start { message } | StreamEvent::Done { message } | StreamEvent::Error { message } => {
                self.message = Some((**message).clone());
                self.arguments.clear();
            }
            StreamEvent::TextStart { .. } => self.push(AssistantBlock::Text(TextContent::default())),
            StreamEvent::ThinkingStart { .. } => self.push(AssistantBlock::Thinking(ThinkingContent::default())),
            StreamEvent::ToolCallStart { content_index, id, name } => {
                self.push(AssistantBlock::ToolCall(open_call(id, name)));
                self.arguments.push((*content_index, ArgumentsParser::default()));
            }
            StreamEvent::TextDelta { content_index, delta } => {
                if let Some(AssistantBlock::Text(block)) = self.block(*content_index) {
                    block.text.push_str(delta);
                }
            }
            StreamEvent::ThinkingDelta { content_index, delta } => {
                if let Some(AssistantBlock::Thinking(block)) = self.block(*content_index) {
                    block.thinking.push_str(delta);
                }
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                if let Some((_, parser)) = self.arguments.iter_mut().find(|(index, _)| index == content_index) {
                    parser.append(delta);
                }
            }
            StreamEvent::ToolCallEnd { content_index, tool_call } => {
                self.arguments.retain(|(index, _)| index != content_index);
                if let Some(AssistantBlock::ToolCall(call)) = self.block(*content_index) {
                    call.clone_from(tool_call);
                }
            }
            StreamEvent::TextEnd { .. } | StreamEvent::ThinkingEnd { .. } => {}
            StreamEvent::Update(update) => self.update(update),
        }
    }

    fn update(&mut self, update: &Update) {
        match update {
            Update::ThinkingSignature { content_index, signature } => {
                if let Some(AssistantBlock::Thinking(block)) = self.block(*content_index) {
                    block.thinking_signature = Some(signature.clone());
                }
                return;
            }
            Update::ThinkingRedacted { content_index } => {
                if let Some(AssistantBlock::Thinking(block)) = self.block(*content_index) {
                    block.redacted = Some(true);
                }
                return;
            }
            Update::ToolCallId { content_index, id } => {
                if let Some(AssistantBlock::ToolCall(call)) = self.block(*content_index) {
                    call.id.clone_from(id);
                }
                return;
            }
            Update::ToolCallName { content_index, name } => {
                if let Some(AssistantBlock::ToolCall(call)) = self.block(*content_index) {
                    call.name.clone_from(name);
                }
                return;
            }
            _ => {}
        }
        let Some(message) = &mut self.message else { return };
        match update {
            Update::ResponseId(id) => message.response_id = Some(id.clone()),
            Update::ResponseModel(model) => message.response_model = Some(model.clone()),
            Update::Usage(usage) => message.usage.clone_from(usage),
            Update::RawStopReason(reason) => message.raw_stop_reason = Some(reason.clone()),
            Update::Diagnostic(diagnostic) => {
                message.diagnostics.get_or_insert_default().push((**diagnostic).clone());
            }
            _ => {}
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
}

fn open_call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: Json::empty_object(),
        thought_signature: None,
        namespace: None,
        arguments_error: None,
    }
}

/// What a partial shows of unfinished arguments: an object, whatever the model writes.
pub fn shown_arguments(parser: &ArgumentsParser) -> Json {
    parser.snapshot().filter(|value| value.as_object().is_some()).unwrap_or_else(Json::empty_object)
}
