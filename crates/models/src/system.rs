//! System messages: replay and rendering (models.md 5.1 and 5.2).

use crate::message::{Message, SystemContent, SystemMessage, Tool};
use indexmap::IndexMap;

/// The whole prompt a system message states: its text, then its sections, with blank lines between the non-empty parts.
pub fn system_text(message: &SystemMessage) -> String {
    let content = message.content.text();
    let sections = ordered_sections(message)
        .into_iter()
        .filter_map(|(_, value)| value);
    let parts: Vec<&str> = [content.as_str()]
        .into_iter()
        .chain(sections)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n\n")
}

/// What a later system message says when it is sent where it stands: its text, then a paragraph for each section.
pub fn system_update_text(message: &SystemMessage) -> String {
    let content = message.content.text();
    let sections = ordered_sections(message)
        .into_iter()
        .map(|(name, value)| match value {
            Some(value) => format!("Updated system prompt section \"{name}\":\n\n{value}"),
            None => format!("Removed system prompt section \"{name}\"."),
        });
    let parts: Vec<String> = Some(content)
        .into_iter()
        .filter(|part| !part.is_empty())
        .chain(sections)
        .collect();
    parts.join("\n\n")
}

/// A context that starts with this prompt and these tools: one more system message in front, unless there is neither.
pub fn normalize_context(prompt: &str, tools: Vec<Tool>, messages: Vec<Message>) -> Vec<Message> {
    if prompt.is_empty() && tools.is_empty() {
        return messages;
    }
    let system = SystemMessage {
        content: SystemContent::Text(prompt.to_owned()),
        sections: None,
        tools_added: (!tools.is_empty()).then_some(tools),
        tools_removed: None,
        timestamp: 0,
    };
    [Message::System(system)].into_iter().chain(messages).collect()
}

/// The tools on offer after all system messages, in the order they were first offered. Removing a tool and adding it
/// again moves it to the end.
pub fn current_tools(messages: &[Message]) -> Vec<Tool> {
    let mut tools: IndexMap<&str, &Tool> = IndexMap::new();
    for message in system_messages(messages) {
        for removed in message.tools_removed.iter().flatten() {
            tools.shift_remove(removed.name.as_str());
        }
        for added in message.tools_added.iter().flatten() {
            tools.insert(&added.name, added);
        }
    }
    tools.into_values().cloned().collect()
}

/// All system messages replayed into one; `None` when there is none.
pub fn current_system_message(messages: &[Message]) -> Option<SystemMessage> {
    let timestamp = system_messages(messages).next()?.timestamp;
    let mut sections: IndexMap<String, Option<String>> = IndexMap::new();
    for (name, value) in system_messages(messages).flat_map(|message| message.sections.iter().flatten()) {
        match value {
            Some(_) => drop(sections.insert(name.clone(), value.clone())),
            None => drop(sections.shift_remove(name)),
        }
    }
    let texts: Vec<String> = system_messages(messages)
        .map(|message| message.content.text())
        .filter(|text| !text.is_empty())
        .collect();
    let tools = current_tools(messages);
    Some(SystemMessage {
        content: SystemContent::Text(texts.join("\n\n")),
        sections: (!sections.is_empty()).then_some(sections),
        tools_added: (!tools.is_empty()).then_some(tools),
        tools_removed: None,
        timestamp,
    })
}

/// The prompt in effect after all system messages.
pub fn current_system_prompt(messages: &[Message]) -> Option<String> {
    current_system_message(messages).map(|message| system_text(&message))
}

/// For providers that take one prompt only: the replayed system message in front, all others gone.
pub fn collapse_system_messages(messages: &[Message]) -> Vec<Message> {
    let rest = messages
        .iter()
        .filter(|message| !matches!(message, Message::System(_)))
        .cloned();
    current_system_message(messages)
        .map(Message::System)
        .into_iter()
        .chain(rest)
        .collect()
}

/// Sections as JavaScript iterates them: names that are array indexes first, ascending, the others as written. The
/// order is part of the prompt, and of every provider's cache of it.
fn ordered_sections(message: &SystemMessage) -> Vec<(&str, Option<&str>)> {
    let sections = message
        .sections
        .iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value.as_deref()));
    let mut sections: Vec<(&str, Option<&str>)> = sections.collect();
    sections.sort_by_key(|(name, _)| array_index(name).unwrap_or(u32::MAX));
    sections
}

/// The index a name denotes: digits without a leading zero, below 2^32 - 1.
fn array_index(name: &str) -> Option<u32> {
    let canonical = name == "0" || !name.starts_with(['0', '+']);
    name.parse().ok().filter(|index| canonical && *index < u32::MAX)
}

fn system_messages(messages: &[Message]) -> impl Iterator<Item = &SystemMessage> {
    messages.iter().filter_map(|message| match message {
        Message::System(message) => Some(message),
        _ => None,
    })
}
