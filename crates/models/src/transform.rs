//! Makes a context fit for a model: what every wire format needs before conversion (models.md 6).

use crate::message::{
    AssistantBlock, AssistantMessage, Message, StopReason, SystemMessage, TextContent, Timestamp, ToolCall,
    ToolResultMessage, UserBlock, UserContent, UserMessage,
};
use crate::model::Model;
use std::collections::{HashMap, HashSet};

const USER_IMAGE_OMITTED: &str = "(image omitted: model does not support images)";
const TOOL_IMAGE_OMITTED: &str = "(tool image omitted: model does not support images)";
const NO_RESULT: &str = "No result provided";

/// The messages as this model may see them: images it cannot see are named, thoughts and signatures of other models are
/// gone, failed answers are gone, every call has a result. `normalize_id` rewrites call ids of other models; results
/// follow. `now` stamps the results made up here.
pub fn transform_messages(
    messages: &[Message],
    model: &Model,
    normalize_id: Option<&dyn Fn(&str) -> String>,
    now: Timestamp,
) -> Vec<Message> {
    let mut renamed: HashMap<String, String> = HashMap::new();
    let mut sequence = Sequence {
        out: Vec::new(),
        pending: Vec::new(),
        answered: HashSet::new(),
        held: Vec::new(),
        now,
    };
    for message in messages {
        match message {
            Message::System(message) => sequence.system(message.clone()),
            Message::User(message) => sequence.user(visible_user(message, model)),
            Message::ToolResult(message) => {
                let mut result = visible_result(message, model);
                if let Some(id) = renamed.get(&result.tool_call_id) {
                    result.tool_call_id.clone_from(id);
                }
                sequence.result(result);
            }
            Message::Assistant(message) => {
                sequence.assistant(visible_answer(message, model, normalize_id, &mut renamed));
            }
        }
    }
    sequence.close();
    sequence.out
}

/// Puts the messages in an order that providers accept.
struct Sequence {
    out: Vec<Message>,
    /// Calls of the last answer.
    pending: Vec<ToolCall>,
    answered: HashSet<String>,
    /// System messages that may not stand between calls and results.
    held: Vec<SystemMessage>,
    now: Timestamp,
}

impl Sequence {
    fn system(&mut self, message: SystemMessage) {
        if self.pending.is_empty() {
            self.out.push(Message::System(message));
        } else {
            self.held.push(message);
        }
    }

    fn user(&mut self, message: UserMessage) {
        self.close();
        self.out.push(Message::User(message));
    }

    fn result(&mut self, message: ToolResultMessage) {
        self.answered.insert(message.tool_call_id.clone());
        self.out.push(Message::ToolResult(message));
    }

    fn assistant(&mut self, message: AssistantMessage) {
        self.close();
        if matches!(message.stop_reason, StopReason::Error | StopReason::Aborted) {
            return;
        }
        self.pending = message.tool_calls().cloned().collect();
        self.answered.clear();
        self.out.push(Message::Assistant(message));
    }

    fn close(&mut self) {
        for call in std::mem::take(&mut self.pending) {
            if !self.answered.contains(&call.id) {
                self.out.push(Message::ToolResult(missing_result(call, self.now)));
            }
        }
        self.answered.clear();
        self.out.extend(self.held.drain(..).map(Message::System));
    }
}

fn missing_result(call: ToolCall, now: Timestamp) -> ToolResultMessage {
    ToolResultMessage {
        tool_call_id: call.id,
        tool_name: call.name,
        content: vec![text_block(NO_RESULT)],
        details: None,
        usage: None,
        nested_calls: None,
        is_error: true,
        timestamp: now,
        duration_ms: None,
    }
}

fn visible_user(message: &UserMessage, model: &Model) -> UserMessage {
    match &message.content {
        UserContent::Blocks(blocks) if !model.accepts_images() => UserMessage {
            content: UserContent::Blocks(without_images(blocks, USER_IMAGE_OMITTED)),
            timestamp: message.timestamp,
        },
        _ => message.clone(),
    }
}

fn visible_result(message: &ToolResultMessage, model: &Model) -> ToolResultMessage {
    let mut result = message.clone();
    if !model.accepts_images() {
        result.content = without_images(&message.content, TOOL_IMAGE_OMITTED);
    }
    result
}

/// Each run of images becomes one placeholder; none follows a text that already is one.
fn without_images(blocks: &[UserBlock], placeholder: &str) -> Vec<UserBlock> {
    let mut kept: Vec<UserBlock> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let is_named = || matches!(kept.last(), Some(UserBlock::Text(last)) if last.text == placeholder);
        match block {
            UserBlock::Text(_) => kept.push(block.clone()),
            UserBlock::Image(_) if !is_named() => kept.push(text_block(placeholder)),
            UserBlock::Image(_) => {}
        }
    }
    kept
}

fn text_block(text: &str) -> UserBlock {
    UserBlock::Text(TextContent {
        text: text.to_owned(),
        text_signature: None,
    })
}

fn visible_answer(
    message: &AssistantMessage,
    model: &Model,
    normalize_id: Option<&dyn Fn(&str) -> String>,
    renamed: &mut HashMap<String, String>,
) -> AssistantMessage {
    let own =
        message.provider == model.provider && message.api == model.api.name() && message.model == model.id;
    let mut answer = message.clone();
    answer.content = message
        .content
        .iter()
        .filter_map(|block| match block {
            AssistantBlock::Thinking(thinking) => {
                let sealed = thinking.redacted == Some(true)
                    || thinking
                        .thinking_signature
                        .as_ref()
                        .is_some_and(|signature| !signature.is_empty());
                (own && (sealed || !thinking.thinking.trim().is_empty())).then(|| block.clone())
            }
            AssistantBlock::Text(text) if !own => Some(AssistantBlock::Text(TextContent {
                text: text.text.clone(),
                text_signature: None,
            })),
            AssistantBlock::ToolCall(call) if !own => {
                let mut call = call.clone();
                call.thought_signature = None;
                if let Some(normalize) = normalize_id {
                    let id = normalize(&call.id);
                    if id != call.id {
                        renamed.insert(std::mem::replace(&mut call.id, id.clone()), id);
                    }
                }
                Some(AssistantBlock::ToolCall(call))
            }
            _ => Some(block.clone()),
        })
        .collect();
    answer
}
