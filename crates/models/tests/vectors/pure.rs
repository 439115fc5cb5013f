//! Functions from values to values.

use crate::reader::{Outcome, Tally, same};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tidehold_delta::Json;
use tidehold_models::cost::{apply_open_router_cost, calculate_cost};
use tidehold_models::errors::{
    RetryPolicy, is_context_overflow, is_recoverable_length, is_retryable_assistant_error, retry_delay_ms,
};
use tidehold_models::estimate::{
    calculate_context_tokens, estimate_context_tokens, estimate_message_tokens, estimate_text_tokens,
};
use tidehold_models::hash::short_hash;
use tidehold_models::message::{Message, SystemMessage, Usage};
use tidehold_models::model::Model;
use tidehold_models::system::{
    collapse_system_messages, current_system_message, current_system_prompt, current_tools, system_text,
    system_update_text,
};
use tidehold_models::thinking::{ThinkingLevel, clamp_thinking_level, supported_thinking_levels};

pub fn run(tally: &mut Tally) {
    estimates(tally);
    errors(tally);
    system(tally);
    models(tally);
}

fn estimates(tally: &mut Tally) {
    tally.file("calculateContextTokens", |case| {
        if whole_tokens(case, "usage") { pure(case, |input| calculate_context_tokens(&typed::<Usage>(input, "usage"))) } else { Outcome::LeftOut }
    });
    tally.file("estimateTextTokens", |case| pure(case, |input| estimate_text_tokens(&text(input, "text"))));
    tally.file("estimateMessageTokens", |case| {
        pure(case, |input| estimate_message_tokens(&typed(input, "message")))
    });
    tally.file("estimateContextTokens", |case| {
        // A context counts by its messages alone.
        let of = |input: &Json| if input.get("context").is_some() { member(input, "context") } else { input.clone() };
        pure(case, |input| estimate_context_tokens(&typed::<Vec<Message>>(&of(input), "messages")))
    });
    tally.file("shortHash", |case| pure(case, |input| short_hash(&text(input, "text"))));
}

fn errors(tally: &mut Tally) {
    tally.file("isRetryableAssistantError", |case| {
        pure(case, |input| match typed(input, "message") {
            Message::Assistant(message) => is_retryable_assistant_error(&message),
            _ => false,
        })
    });
    tally.file("isContextOverflow", |case| {
        pure(case, |input| match typed(input, "message") {
            Message::Assistant(message) => is_context_overflow(&message, optional(input, "contextWindow")),
            _ => false,
        })
    });
    tally.file("isRecoverableLength", |case| {
        pure(case, |input| match typed(input, "message") {
            Message::Assistant(message) => is_recoverable_length(&message, typed(input, "desiredMaxOutput")),
            _ => false,
        })
    });
    tally.file("retryDelayMs", |case| {
        pure(case, |input| retry_delay_ms(&typed::<RetryPolicy>(input, "policy"), typed(input, "attempt")))
    });
}

fn system(tally: &mut Tally) {
    let messages = |input: &Json| typed::<Vec<Message>>(input, "messages");
    tally.file("getCurrentTools", |case| pure(case, |input| current_tools(&messages(input))));
    tally.file("getCurrentSystemMessage", |case| {
        pure(case, |input| current_system_message(&messages(input)).map(Message::System))
    });
    tally.file("getCurrentSystemPrompt", |case| {
        pure(case, |input| current_system_prompt(&messages(input)).unwrap_or_default())
    });
    tally.file("getSystemMessageText", |case| {
        pure(case, |input| system_text(&typed::<SystemMessage>(input, "message")))
    });
    tally.file("renderSystemMessageUpdate", |case| {
        pure(case, |input| system_update_text(&typed::<SystemMessage>(input, "message")))
    });
    tally.file("collapseSystemMessages", |case| {
        pure(case, |input| {
            let messages = collapse_system_messages(&messages(&member(input, "context")));
            Json::object([("messages", Json::from_serialize(&messages).expect("plain data"))])
        })
    });
}

fn models(tally: &mut Tally) {
    tally.file("calculateCost", |case| {
        pure(case, |input| calculate_cost(&typed::<Model>(input, "model"), &typed::<Usage>(input, "usage")))
    });
    tally.file("applyOpenRouterReportedCost", |case| {
        pure(case, |input| {
            let mut cost = typed::<Usage>(input, "usage").cost;
            apply_open_router_cost(&mut cost, &member(input, "reported"));
            cost
        })
    });
    tally.file("clampThinkingLevel", |case| {
        pure(case, |input| {
            clamp_thinking_level(&typed::<Model>(input, "model"), typed::<ThinkingLevel>(input, "level"))
        })
    });
    tally.file("getSupportedThinkingLevels", |case| {
        pure(case, |input| supported_thinking_levels(&typed::<Model>(input, "model")))
    });
}

/// Compares `function(input)` with `output`; `null` also stands for an absent result.
pub fn pure<T: Serialize>(case: &Json, function: impl FnOnce(&Json) -> T) -> Outcome {
    let actual = Json::from_serialize(&function(&member(case, "input"))).expect("plain data");
    same(&actual, &member(case, "output"))
}

pub fn member(value: &Json, name: &str) -> Json {
    value.get(name).cloned().unwrap_or(Json::Null)
}

pub fn text(value: &Json, name: &str) -> String {
    member(value, name).as_str().expect("a text").to_owned()
}

#[track_caller]
pub fn typed<T: DeserializeOwned>(value: &Json, name: &str) -> T {
    let member = member(value, name);
    member.to_typed().unwrap_or_else(|error| panic!("{name}: {error}: {member}"))
}

pub fn optional<T: DeserializeOwned>(value: &Json, name: &str) -> Option<T> {
    value.get(name).filter(|value| !value.is_null()).map(|value| value.to_typed().expect(name))
}

fn whole_tokens(case: &Json, name: &str) -> bool {
    let usage = member(&member(case, "input"), name);
    let mut counts = usage.as_object().into_iter().flat_map(|usage| usage.values().filter_map(Json::as_f64));
    counts.all(|count| count >= 0.0 && count.fract() == 0.0)
}
