//! Token estimates: 3.5 UTF-16 units a token (models.md 4.1). They decide where a context is cut, so they must agree
//! with pi-ai to the unit.

use crate::message::{
    AssistantBlock, AssistantMessage, Message, StopReason, SystemMessage, Usage, UserBlock, UserContent,
};
use crate::system::system_text;
use serde::Serialize;
use tidehold_delta::{Json, utf16_len};

/// What an image counts, in UTF-16 units.
const IMAGE_UNITS: u64 = 4_800;

/// Tokens of a whole context, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEstimate {
    /// `usage_tokens + trailing_tokens`.
    pub tokens: u64,
    /// Reported by the provider for everything up to the anchor.
    pub usage_tokens: u64,
    /// Estimated for everything after it.
    pub trailing_tokens: u64,
    /// The anchor: the last answer whose usage counts.
    pub last_usage_index: Option<usize>,
}

/// The tokens a usage stands for: the provider's total, or the sum of the parts.
pub fn calculate_context_tokens(usage: &Usage) -> u64 {
    if usage.total_tokens != 0 {
        return usage.total_tokens;
    }
    usage
        .input
        .saturating_add(usage.output)
        .saturating_add(usage.cache_read)
        .saturating_add(usage.cache_write)
}

/// Tokens of a text.
pub fn estimate_text_tokens(text: &str) -> u64 {
    tokens(units(text))
}

/// Tokens of one message, rounded up once.
pub fn estimate_message_tokens(message: &Message) -> u64 {
    match message {
        Message::System(message) => estimate_system(message),
        Message::User(message) => match &message.content {
            UserContent::Text(text) => tokens(units(text)),
            UserContent::Blocks(blocks) => tokens(blocks_units(blocks)),
        },
        Message::ToolResult(message) => tokens(blocks_units(&message.content)),
        Message::Assistant(message) => estimate_answer_tokens(message),
    }
}

/// Tokens of an answer: its text, its thoughts, and its calls' names and arguments.
pub fn estimate_answer_tokens(message: &AssistantMessage) -> u64 {
    let block_units = |block: &AssistantBlock| match block {
        AssistantBlock::Text(block) => units(&block.text),
        AssistantBlock::Thinking(block) => units(&block.thinking),
        AssistantBlock::ToolCall(call) => units(&call.name) + json_units(&call.arguments),
    };
    tokens(message.content.iter().map(block_units).sum())
}

/// Tokens of a context: the usage of its last usable answer plus the estimates of what follows, or the sum of all
/// estimates. An answer is unusable when it failed, reports nothing, or is older than a message before it.
pub fn estimate_context_tokens(messages: &[Message]) -> ContextEstimate {
    let anchor = anchor(messages);
    let after = anchor.map_or(0, |(index, _)| index + 1);
    let usage_tokens = anchor.map_or(0, |(_, tokens)| tokens);
    let trailing_tokens = messages.iter().skip(after).map(estimate_message_tokens).sum();
    ContextEstimate {
        tokens: usage_tokens.saturating_add(trailing_tokens),
        usage_tokens,
        trailing_tokens,
        last_usage_index: anchor.map(|(index, _)| index),
    }
}

fn anchor(messages: &[Message]) -> Option<(usize, u64)> {
    let mut newest = None;
    let mut anchor = None;
    for (index, message) in messages.iter().enumerate() {
        let timestamp = message.timestamp();
        if let Message::Assistant(answer) = message
            && newest.is_none_or(|newest| timestamp >= newest)
            && !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted)
        {
            let tokens = calculate_context_tokens(&answer.usage);
            if tokens > 0 {
                anchor = Some((index, tokens));
            }
        }
        newest = newest.max(Some(timestamp));
    }
    anchor
}

fn estimate_system(message: &SystemMessage) -> u64 {
    let added = message.tools_added.as_deref().unwrap_or_default();
    let removed = message.tools_removed.as_deref().unwrap_or_default();
    let text = tokens(units(&system_text(message)));
    text + if added.is_empty() {
        0
    } else {
        tokens(serialized_units(added))
    } + if removed.is_empty() {
        0
    } else {
        tokens(serialized_units(removed))
    }
}

fn blocks_units(blocks: &[UserBlock]) -> u64 {
    let block_units = |block: &UserBlock| match block {
        UserBlock::Text(block) => units(&block.text),
        UserBlock::Image(_) => IMAGE_UNITS,
    };
    blocks.iter().map(block_units).sum()
}

fn serialized_units<T: Serialize>(values: &[T]) -> u64 {
    Json::from_serialize(values)
        .map(|value| json_units(&value))
        .unwrap_or(0)
}

fn json_units(value: &Json) -> u64 {
    units(&value.to_string())
}

fn units(text: &str) -> u64 {
    utf16_len(text) as u64
}

/// `ceil(units / 3.5)` without floating point.
fn tokens(units: u64) -> u64 {
    units.saturating_mul(2).div_ceil(7)
}
