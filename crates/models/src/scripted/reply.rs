//! What a request to the scripted model is answered with: a pure function of the request.

use super::directive::Directive;
use super::script::{BadLine, Block, Prompt, parse_prompt};
use crate::estimate::estimate_message_tokens;
use crate::hash::short_hash;
use crate::message::{Message, Timestamp};
use crate::models::RequestPurpose;

/// A decided answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What it plays, in order.
    pub directives: Vec<Directive>,
    /// The lines it comes from, for a deferred answer; empty for an echo.
    pub source: String,
    /// The request's ordinal within its generation.
    pub ordinal: u32,
    /// Tells this answer from every other one of the conversation: the ids of its tool calls derive from it.
    pub seed: String,
    /// Estimated tokens of the request.
    pub input_tokens: u64,
}

/// The last user message of a context, and the rounds of tool results after it.
struct LastPrompt {
    text: String,
    timestamp: Timestamp,
    rounds: usize,
}

/// Decides the answer. A script is refused as a whole when one of its lines is bad.
pub fn reply(messages: &[Message], purpose: RequestPurpose, ordinal: u32) -> Result<Reply, BadLine> {
    let prompt = last_prompt(messages);
    let block = match purpose {
        RequestPurpose::Summary { messages } => say(format!("Summary of {messages} messages.")),
        RequestPurpose::Answer => match parse_prompt(&prompt.text)? {
            Prompt::Echo(text) => say(text),
            Prompt::Script(script) => script.block(prompt.rounds),
        },
    };
    Ok(Reply {
        directives: block.for_attempt(ordinal),
        source: block.source,
        ordinal,
        seed: seed(&prompt, messages.len(), ordinal),
        input_tokens: messages.iter().map(estimate_message_tokens).sum(),
    })
}

fn say(text: String) -> Block {
    Block {
        directives: vec![Directive::Say(text)],
        source: String::new(),
    }
}

/// A round is a run of results; a system message within it does not end it.
fn last_prompt(messages: &[Message]) -> LastPrompt {
    let mut prompt = LastPrompt {
        text: String::new(),
        timestamp: 0,
        rounds: 0,
    };
    let last = messages
        .iter()
        .rposition(|message| matches!(message, Message::User(_)));
    if let Some(Message::User(user)) = last.and_then(|index| messages.get(index)) {
        (prompt.text, prompt.timestamp) = (user.content.text(), user.timestamp);
    }
    let mut in_round = false;
    for message in messages.iter().skip(last.map_or(0, |index| index + 1)) {
        let is_result = matches!(message, Message::ToolResult(_));
        if is_result && !in_round {
            prompt.rounds += 1;
        }
        in_round = is_result || (in_round && matches!(message, Message::System(_)));
    }
    prompt
}

/// A repeated request (same committed context, same attempt) has the same seed; a later turn or attempt has not.
fn seed(prompt: &LastPrompt, messages: usize, ordinal: u32) -> String {
    let LastPrompt {
        text,
        timestamp,
        rounds,
    } = prompt;
    short_hash(&format!("{timestamp} {messages} {rounds} {ordinal} {text}"))
}
