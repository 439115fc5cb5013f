//! Errors that say the context is too long (models.md 4.2).

use super::pattern::Part::{Digits, Either, Grouped, Maybe, Spaces, Text};
use super::pattern::{Part, any_found, is_line_end, is_space};
use crate::message::{AssistantMessage, StopReason};

const PATTERNS: &[&[Part]] = &[
    &[Text("prompt "), Maybe(&[Text("is ")]), Text("too long")],
    &[Text("prompt exceeds max length")],
    &[Text("request_too_large")],
    &[Text("input is too long for requested model")],
    &[Text("exceeds the context window")],
    &[
        Text("exceeds "),
        Maybe(&[Text("the ")]),
        Maybe(&[Either(&["model's ", "models "])]),
        Text("maximum context length of "),
        Grouped,
        Text(" token"),
    ],
    &[
        Text("exceeds "),
        Maybe(&[Text("the ")]),
        Maybe(&[Either(&["model's ", "models "])]),
        Text("maximum context length"),
        Spaces,
        Text("("),
        Grouped,
        Text(")"),
    ],
    &[Text("context window exceeded")],
    &[Text("maximum prompt length is "), Digits],
    &[Text("reduce the length of the messages")],
    &[Text("maximum context length is "), Digits, Text(" tokens")],
    &[
        Text("exceeds "),
        Maybe(&[Text("the ")]),
        Text("maximum allowed input length of "),
        Grouped,
        Text(" token"),
    ],
    &[
        Text("input ("),
        Digits,
        Text(" tokens) is longer than the model"),
        Either(&["'s", "s"]),
        Text(" context length ("),
        Digits,
        Text(" tokens)"),
    ],
    &[Text("exceeds the limit of "), Digits],
    &[Text("exceeds the available context size")],
    &[Text("greater than the context length")],
    &[Text("context window exceeds limit")],
    &[Text("exceeded model token limit")],
    &[
        Text("too large for model with "),
        Digits,
        Text(" maximum context length"),
    ],
    &[
        Text("prompt has "),
        Grouped,
        Text(" token"),
        Maybe(&[Text("s")]),
        Text(", but the configured context size is "),
        Grouped,
        Text(" token"),
    ],
    &[Text("model_context_window_exceeded")],
    &[
        Text("prompt too long; exceeded "),
        Maybe(&[Text("max ")]),
        Text("context length"),
    ],
    &[Text("range of input length should be")],
    &[
        Text("context"),
        Either(&["_", " "]),
        Text("length"),
        Either(&["_", " "]),
        Text("exceeded"),
    ],
    &[Text("too many tokens")],
    &[Text("token limit exceeded")],
];

const EXCLUDED: &[&[Part]] = &[&[Text("rate limit")], &[Text("too many requests")]];

/// Whether a message failed because its context was too long.
///
/// Beyond the error text, a `stop` whose prompt is larger than `context_window`, and a `length` without any output at
/// its edge, count too; pass `None` to leave these two out.
pub fn is_context_overflow(message: &AssistantMessage, context_window: Option<u64>) -> bool {
    let error = message.error_message.as_deref().unwrap_or_default();
    if message.stop_reason == StopReason::Error && !error.is_empty() {
        let lower = error.to_ascii_lowercase();
        if !is_excluded(&lower) {
            if matches(&lower) {
                return true;
            }
            if message.provider == "cerebras" && is_empty_refusal(&lower) {
                return true;
            }
        }
    }
    let Some(window) = context_window.filter(|window| *window > 0) else {
        return false;
    };
    let prompt = message.usage.input.saturating_add(message.usage.cache_read);
    match message.stop_reason {
        StopReason::Stop => prompt > window,
        StopReason::Length => message.usage.output == 0 && prompt as f64 >= 0.99 * window as f64,
        _ => false,
    }
}

/// Whether an error text says that the context is too long.
pub fn is_overflow_text(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !is_excluded(&lower) && matches(&lower)
}

/// Whether an answer was cut before the output it was allowed, so that asking for the rest makes sense.
pub fn is_recoverable_length(message: &AssistantMessage, desired_max_output: i64) -> bool {
    message.stop_reason == StopReason::Length
        && u64::try_from(desired_max_output)
            .is_ok_and(|desired| desired > 0 && message.usage.output < desired)
}

fn matches(lower: &str) -> bool {
    any_found(PATTERNS, lower) || input_token_count(lower) || status_413(lower)
}

fn is_excluded(lower: &str) -> bool {
    lower.starts_with("throttling error:")
        || lower.starts_with("service unavailable:")
        || any_found(EXCLUDED, lower)
}

/// `input token count.*exceeds the maximum`, both on one line.
fn input_token_count(lower: &str) -> bool {
    lower.split(is_line_end).any(|line| {
        line.split_once("input token count")
            .is_some_and(|(_, rest)| rest.contains("exceeds the maximum"))
    })
}

/// `^(?:[\w -]+ API error \(413\):|413(?:\s|:|$))`
fn status_413(lower: &str) -> bool {
    if let Some(rest) = lower.strip_prefix("413") {
        return rest
            .chars()
            .next()
            .is_none_or(|next| next == ':' || is_space(next));
    }
    let name = lower
        .split_once(" api error (413):")
        .map(|(name, _)| name)
        .unwrap_or_default();
    let belongs = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | ' ' | '-');
    !name.is_empty() && name.chars().all(belongs)
}

/// `^4(?:00|13)\s*(?:status code)?\s*\(no body\)`
fn is_empty_refusal(lower: &str) -> bool {
    let rest = lower.strip_prefix("400").or_else(|| lower.strip_prefix("413"));
    rest.is_some_and(|rest| {
        let rest = rest.trim_start_matches(is_space);
        let rest = rest.strip_prefix("status code").unwrap_or(rest);
        rest.trim_start_matches(is_space).starts_with("(no body)")
    })
}
