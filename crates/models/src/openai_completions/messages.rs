//! Messages on the wire (models.md 12.3).

use super::compat::Compat;
use super::grammar::GrammarTools;
use super::reasoning;
use super::tools::declarations;
use crate::message::{
    AssistantBlock, AssistantMessage, ImageContent, Message, SystemMessage, ThinkingContent, ToolCall,
    ToolResultMessage, UserBlock, UserContent, text_of_blocks,
};
use crate::model::Model;
use crate::system::{system_text, system_update_text};
use tidehold_delta::{Json, Object, json};

/// Fields that thoughts can be sent back in; a thinking block's signature names the one it came from.
const THOUGHT_FIELDS: [&str; 3] = ["reasoning", "reasoning_content", "reasoning_text"];

/// What a service that wants an assistant between results and user is told.
const FILLER: &str = "I have processed the tool results.";

/// Converts transformed messages.
pub(super) struct Converter<'a> {
    pub(super) model: &'a Model,
    pub(super) compat: &'a Compat,
    pub(super) grammar_tools: &'a GrammarTools,
}

impl Converter<'_> {
    /// All messages in order. Tools of a system message that are still on it are declared in place.
    pub(super) fn convert(&self, messages: &[Message]) -> Result<Vec<Json>, String> {
        let mut out = Vec::with_capacity(messages.len());
        let mut images: Vec<Json> = Vec::new();
        let mut after_result = false;
        for (index, message) in messages.iter().enumerate() {
            let is_result = matches!(message, Message::ToolResult(_));
            if !is_result && !images.is_empty() {
                out.extend(
                    [self.filler(), attached_images(std::mem::take(&mut images))]
                        .into_iter()
                        .flatten(),
                );
                after_result = false;
            }
            match message {
                Message::System(message) => self.system(message, index == 0, &mut out)?,
                Message::User(message) => {
                    if let Some(content) = user_content(&message.content) {
                        out.extend(self.filler().filter(|_| after_result));
                        out.push(json!({ "role": "user", "content": content }));
                    }
                }
                Message::Assistant(message) => out.extend(self.assistant(message)),
                Message::ToolResult(message) => {
                    out.push(self.tool_result(message));
                    if self.model.accepts_images() {
                        images.extend(message.content.iter().filter_map(image_part));
                    }
                }
            }
            after_result = is_result || (after_result && matches!(message, Message::System(_)));
        }
        if !images.is_empty() {
            out.extend([self.filler(), attached_images(images)].into_iter().flatten());
        }
        Ok(out)
    }

    fn filler(&self) -> Option<Json> {
        let needed = self.compat.requires_assistant_after_tool_result;
        needed.then(|| json!({ "role": "assistant", "content": FILLER }))
    }

    fn system(&self, message: &SystemMessage, leading: bool, out: &mut Vec<Json>) -> Result<(), String> {
        let developer = self.model.reasoning && self.compat.supports_developer_role;
        let role = if developer { "developer" } else { "system" };
        if let Some(tools) = message.tools_added.as_ref().filter(|tools| !tools.is_empty()) {
            out.push(json!({ "role": "system", "tools": declarations(tools, self.compat)? }));
        }
        let text = if leading {
            system_text(message)
        } else {
            system_update_text(message)
        };
        if !text.is_empty() {
            out.push(json!({ "role": role, "content": text }));
        }
        Ok(())
    }

    /// `None` for an answer that says and calls nothing.
    fn assistant(&self, message: &AssistantMessage) -> Option<Json> {
        let mut out = Object::new();
        out.insert("role", Json::from("assistant"));
        let texts: Vec<&str> = message
            .content
            .iter()
            .filter_map(|block| match block {
                AssistantBlock::Text(text) if !text.text.trim().is_empty() => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        let thoughts: Vec<&ThinkingContent> = message
            .content
            .iter()
            .filter_map(|block| match block {
                AssistantBlock::Thinking(thinking) => Some(thinking),
                _ => None,
            })
            .collect();
        let spoken = thoughts
            .iter()
            .map(|block| block.thinking.as_str())
            .filter(|text| !text.trim().is_empty());
        let spoken: Vec<&str> = spoken.collect();
        let non_null =
            self.compat.requires_non_null_content || self.compat.requires_assistant_after_tool_result;
        let content = if self.compat.requires_thinking_as_text && !spoken.is_empty() {
            let parts = [spoken.join("\n\n")]
                .into_iter()
                .chain(texts.iter().map(|text| (*text).to_owned()));
            Json::array(parts.map(|text| json!({ "type": "text", "text": text })))
        } else if !texts.is_empty() {
            Json::from(texts.concat())
        } else if non_null {
            Json::from("")
        } else {
            Json::Null
        };
        let says_nothing = content.is_null() || content.as_str() == Some("");
        out.insert("content", content);
        if !self.compat.requires_thinking_as_text {
            insert_thoughts(&mut out, message, &thoughts, &spoken);
        }
        let calls: Vec<Json> = message.tool_calls().map(|call| self.call(call)).collect();
        if says_nothing && calls.is_empty() {
            return None;
        }
        if !calls.is_empty() {
            out.insert("tool_calls", Json::from(calls));
        }
        if self.compat.requires_reasoning_content
            && self.model.reasoning
            && !out.contains_key("reasoning_content")
        {
            out.insert("reasoning_content", Json::from(""));
        }
        Some(Json::Object(out))
    }

    fn call(&self, call: &ToolCall) -> Json {
        match self.grammar_tools.get(&call.name) {
            Some(parameter) => {
                let input = call
                    .arguments
                    .get(parameter)
                    .and_then(Json::as_str)
                    .unwrap_or_default();
                json!({ "id": &call.id, "type": "custom", "custom": { "name": &call.name, "input": input } })
            }
            None => json!({ "id": &call.id, "type": "function", "function": {
                "name": &call.name,
                "arguments": call.arguments.to_string()
            } }),
        }
    }

    fn tool_result(&self, message: &ToolResultMessage) -> Json {
        let text = text_of_blocks(&message.content);
        let has_images = message
            .content
            .iter()
            .any(|block| matches!(block, UserBlock::Image(_)));
        let content = match text.trim().is_empty() {
            false => text,
            true if has_images => "(see attached image)".to_owned(),
            true => "(no tool output)".to_owned(),
        };
        let mut out = Object::new();
        out.insert("role", Json::from("tool"));
        out.insert("content", Json::from(content));
        out.insert("tool_call_id", Json::from(&message.tool_call_id));
        if self.compat.requires_tool_result_name {
            out.insert("name", Json::from(&message.tool_name));
        }
        Json::Object(out)
    }
}

/// Details go back as they came, from the thoughts or (older messages) from the calls they belong to; else the thoughts
/// go back in the field they came from.
fn insert_thoughts(
    out: &mut Object,
    message: &AssistantMessage,
    thoughts: &[&ThinkingContent],
    spoken: &[&str],
) {
    let mut details: Vec<Json> = thoughts
        .iter()
        .filter_map(|block| reasoning::details_of_signature(block.thinking_signature.as_deref()?))
        .flatten()
        .collect();
    if details.is_empty() {
        let signatures = message
            .tool_calls()
            .filter_map(|call| call.thought_signature.as_deref());
        details.extend(signatures.filter_map(reasoning::detail_of_call));
    }
    if !details.is_empty() {
        out.insert("reasoning_details", Json::from(details));
        return;
    }
    let first = thoughts.iter().find(|block| !block.thinking.trim().is_empty());
    let field = first
        .and_then(|block| block.thinking_signature.as_deref())
        .unwrap_or_default();
    if THOUGHT_FIELDS.contains(&field) {
        out.insert(field, Json::from(spoken.join("\n")));
    }
}

/// `None` when nothing is left to say.
fn user_content(content: &UserContent) -> Option<Json> {
    let blocks = match content {
        UserContent::Text(text) => return Some(Json::from(text)),
        UserContent::Blocks(blocks) => blocks,
    };
    let part = |block: &UserBlock| match block {
        UserBlock::Text(text) if text.text.is_empty() => None,
        UserBlock::Text(text) => Some(json!({ "type": "text", "text": &text.text })),
        UserBlock::Image(_) => image_part(block),
    };
    let parts: Vec<Json> = blocks.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| Json::from(parts))
}

fn image_part(block: &UserBlock) -> Option<Json> {
    let UserBlock::Image(ImageContent { data, mime_type }) = block else {
        return None;
    };
    let url = format!("data:{mime_type};base64,{data}");
    Some(json!({ "type": "image_url", "image_url": { "url": url } }))
}

/// Tool messages carry text only: images of a run of results follow as a user message.
fn attached_images(images: Vec<Json>) -> Option<Json> {
    let caption = json!({ "type": "text", "text": "Attached image(s) from tool result:" });
    let parts: Vec<Json> = [caption].into_iter().chain(images).collect();
    Some(json!({ "role": "user", "content": parts }))
}
