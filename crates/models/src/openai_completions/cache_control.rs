//! Anthropic's cache marks, for Anthropic models behind this API (models.md 12.2).

use tidehold_delta::{Array, Json, Object, json};

/// Marks the first system message, the last tool, and the last message that has text.
pub(super) fn mark(body: &mut Object, long: bool) {
    let mark = if long {
        json!({ "type": "ephemeral", "ttl": "1h" })
    } else {
        json!({ "type": "ephemeral" })
    };
    if let Some(messages) = body.get("messages").and_then(Json::as_array).cloned() {
        body.insert("messages", Json::Array(marked_messages(messages, &mark)));
    }
    let tools = body.get("tools").and_then(Json::as_array).cloned();
    if let Some((mut tools, last)) = tools.and_then(|tools| Some((tools.clone(), tools.last()?.clone()))) {
        // The index is that of an element, so nothing is given back.
        let _ = tools.set(tools.len() - 1, with(&last, "cache_control", mark));
        body.insert("tools", Json::Array(tools));
    }
}

fn marked_messages(mut messages: Array, mark: &Json) -> Array {
    let role = |message: &Json, roles: &[&str]| {
        message
            .get("role")
            .and_then(Json::as_str)
            .is_some_and(|role| roles.contains(&role))
    };
    let first = messages
        .iter()
        .position(|message| role(message, &["system", "developer"]));
    let marked = first.and_then(|index| Some((index, marked_message(messages.get(index)?, mark)?)));
    if let Some((index, message)) = marked {
        let _ = messages.set(index, message);
    }
    let last = messages.iter().enumerate().rev().find_map(|(index, message)| {
        let spoken = role(message, &["user", "assistant", "tool"]);
        Some((index, marked_message(message, mark).filter(|_| spoken)?))
    });
    if let Some((index, message)) = last {
        let _ = messages.set(index, message);
    }
    messages
}

/// The message with a mark on its last text; `None` when it has none.
fn marked_message(message: &Json, mark: &Json) -> Option<Json> {
    let content = match message.get("content")? {
        Json::String(text) if !text.is_empty() => {
            json!([{ "type": "text", "text": text, "cache_control": mark.clone() }])
        }
        Json::Array(parts) => {
            let is_text = |part: &Json| part.get("type").and_then(Json::as_str) == Some("text");
            let last = parts.iter().enumerate().rfind(|(_, part)| is_text(part));
            let (index, part) = last?;
            let mut parts = parts.clone();
            let _ = parts.set(index, with(part, "cache_control", mark.clone()));
            Json::Array(parts)
        }
        _ => return None,
    };
    Some(with(message, "content", content))
}

fn with(value: &Json, name: &str, member: Json) -> Json {
    let mut object = value.as_object().cloned().unwrap_or_default();
    object.insert(name, member);
    Json::Object(object)
}
