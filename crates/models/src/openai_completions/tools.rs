//! Tool declarations on the wire (models.md 12.5), and which of them go where (5.3).

use super::compat::Compat;
use super::grammar::{GrammarTools, resolve_grammar};
use super::strict::make_strict_schema;
use crate::message::{Message, Tool};
use crate::system::current_tools;
use std::collections::HashSet;
use tidehold_delta::{Json, Object, json};

/// Where the tools of a transcript are declared.
pub(super) struct TranscriptTools {
    /// With the request.
    pub(super) request: Vec<Tool>,
    /// System messages before this index declare nothing in place.
    pub(super) folded: usize,
}

/// With the request, all of them; for services that take additions in place, only those up to the last change that is
/// no addition.
pub(super) fn transcript_tools(messages: &[Message], compat: &Compat) -> TranscriptTools {
    if !(compat.supports_mid_system && compat.supports_mid_tool_additions) {
        return TranscriptTools {
            request: current_tools(messages),
            folded: messages.len(),
        };
    }
    let mut seen: HashSet<&str> = HashSet::new();
    let mut folded = usize::from(matches!(messages.first(), Some(Message::System(_))));
    for (index, message) in messages.iter().enumerate() {
        let Message::System(message) = message else {
            continue;
        };
        let removes = message
            .tools_removed
            .as_ref()
            .is_some_and(|removed| !removed.is_empty());
        let repeats = message
            .tools_added
            .iter()
            .flatten()
            .any(|tool| seen.contains(tool.name.as_str()));
        if removes || repeats {
            folded = index + 1;
        }
        seen.extend(
            message
                .tools_added
                .iter()
                .flatten()
                .map(|tool| tool.name.as_str()),
        );
    }
    TranscriptTools {
        request: current_tools(messages.get(..folded).unwrap_or_default()),
        folded,
    }
}

/// Grammar tools among all that were ever offered: an answer may still call an older one.
pub(super) fn grammar_tools(messages: &[Message], compat: &Compat) -> GrammarTools {
    if !compat.supports_grammar_tools {
        return GrammarTools::new();
    }
    let systems = messages.iter().filter_map(|message| match message {
        Message::System(message) => message.tools_added.as_deref(),
        _ => None,
    });
    let named = |tool: &Tool| {
        let grammar = resolve_grammar(tool).ok().flatten()?;
        Some((tool.name.clone(), grammar.parameter))
    };
    systems.flatten().filter_map(named).collect()
}

/// The declarations in order.
pub(super) fn declarations(tools: &[Tool], compat: &Compat) -> Result<Vec<Json>, String> {
    tools.iter().map(|tool| declaration(tool, compat)).collect()
}

fn declaration(tool: &Tool, compat: &Compat) -> Result<Json, String> {
    if compat.supports_grammar_tools
        && let Some(grammar) = resolve_grammar(tool)?
    {
        let grammar = json!({ "syntax": grammar.syntax, "definition": grammar.definition });
        return Ok(json!({ "type": "custom", "custom": {
            "name": &tool.name,
            "description": &tool.description,
            "format": { "type": "grammar", "grammar": grammar }
        } }));
    }
    let mut function = Object::new();
    function.insert("name", Json::from(&tool.name));
    function.insert("description", Json::from(&tool.description));
    let strict = resolve_strict_schema(tool, compat.supports_strict_mode)?;
    function.insert(
        "parameters",
        strict.clone().unwrap_or_else(|| tool.parameters.clone()),
    );
    if compat.supports_strict_mode {
        function.insert("strict", Json::from(strict.is_some()));
    }
    Ok(json!({ "type": "function", "function": Json::Object(function) }))
}

/// The strict form of a tool's schema, when the tool asks for it and can have it. The error: it must have it and cannot.
pub fn resolve_strict_schema(tool: &Tool, supported: bool) -> Result<Option<Json>, String> {
    let Some(sampling) = &tool.constrained_sampling else {
        return Ok(None);
    };
    if sampling.get("type").and_then(Json::as_str) != Some("json_schema") {
        return Ok(None);
    }
    let strict = match supported {
        true => make_strict_schema(&tool.parameters),
        false => Err("strict tools are unsupported".to_owned()),
    };
    match (strict, sampling.get("strict").and_then(Json::as_str)) {
        (Ok(schema), _) => Ok(Some(schema)),
        (Err(reason), Some("require")) => Err(format!(
            "Tool \"{}\" requires JSON-schema constrained sampling, but {reason}.",
            tool.name
        )),
        (Err(_), _) => Ok(None),
    }
}
