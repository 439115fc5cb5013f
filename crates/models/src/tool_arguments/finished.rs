//! The arguments of a complete tool call (models.md 7.2).

use super::repair::repair_json;
use crate::json;
use crate::surrogates;
use tidehold_delta::{Json, ParseError};

/// What the text of a tool call's arguments means.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedArguments {
    /// A JSON object; `{}` with an error.
    pub arguments: Json,
    /// Why the text is no JSON object, and the text.
    pub error: Option<String>,
}

/// Parses the whole text. Blank text is `{}`. A text that only parses after [`repair_json`] counts as what it was
/// meant to be.
pub fn parse_tool_call_arguments(text: &str) -> FinishedArguments {
    let failed = |reason: &str| FinishedArguments {
        arguments: Json::empty_object(),
        error: Some(format!("{reason}\n\nReceived arguments:\n{text}")),
    };
    if text.trim().is_empty() {
        return FinishedArguments {
            arguments: Json::empty_object(),
            error: None,
        };
    }
    match parse_json_with_repair(text) {
        Ok(arguments) if arguments.as_object().is_some() => FinishedArguments {
            arguments,
            error: None,
        },
        Ok(_) => failed("Tool arguments must be a JSON object"),
        Err(error) => failed(&error.to_string()),
    }
}

/// Strict parse of the text, else of the repaired text. The error is that of the last parse. Halves of surrogate pairs,
/// which a model may write as escapes, become U+FFFD.
pub fn parse_json_with_repair(text: &str) -> Result<Json, ParseError> {
    let first = match parse_well_formed(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let repaired = repair_json(text);
    if repaired == text {
        Err(first)
    } else {
        parse_well_formed(&repaired)
    }
}

fn parse_well_formed(text: &str) -> Result<Json, ParseError> {
    match json::parse(text) {
        Err(ParseError::LoneSurrogate { .. }) => json::parse(&surrogates::replace_lone(text)),
        result => result,
    }
}
