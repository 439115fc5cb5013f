//! Functions from values to values.

use crate::reader::{Outcome, Tally, same};
use serde::Serialize;
use tidehold_delta::{FromJson, Json};
use tidehold_models::cost::{apply_open_router_cost, calculate_cost};
use tidehold_models::errors::text::{
    Cause, ErrorBody, ProviderError, format_provider_error, truncate_error_text, with_cause_detail,
};
use tidehold_models::errors::{
    RetryPolicy, is_context_overflow, is_recoverable_length, is_retryable_assistant_error, retry_delay_ms,
};
use tidehold_models::estimate::{
    calculate_context_tokens, estimate_context_tokens, estimate_message_tokens, estimate_text_tokens,
};
use tidehold_models::hash::short_hash;
use tidehold_models::message::{Message, SystemMessage, Usage};
use tidehold_models::model::Model;
use tidehold_models::openai_completions::grammar::resolve_grammar;
use tidehold_models::openai_completions::strict::make_strict_schema;
use tidehold_models::openai_completions::tools::resolve_strict_schema;
use tidehold_models::options::{clamp_max_tokens_to_context, resolve_sampling_params, thinking_budget};
use tidehold_models::system::{
    collapse_system_messages, current_system_message, current_system_prompt, current_tools, system_text,
    system_update_text,
};
use tidehold_models::thinking::{ThinkingLevel, clamp_thinking_level, supported_thinking_levels};
use tidehold_models::transform::transform_messages;

pub fn run(tally: &mut Tally) {
    estimates(tally);
    errors(tally);
    system(tally);
    models(tally);
    context(tally);
    options(tally);
    error_texts(tally);
}

fn estimates(tally: &mut Tally) {
    tally.file("calculateContextTokens", |case| {
        if whole_tokens(case, "usage") {
            pure(case, |input| {
                calculate_context_tokens(&typed::<Usage>(input, "usage"))
            })
        } else {
            Outcome::LeftOut
        }
    });
    for name in ["estimateTextTokens", "estimateTextTokens.surrogates"] {
        tally.file(name, |case| {
            pure(case, |input| estimate_text_tokens(&text(input, "text")))
        });
    }
    for name in ["estimateMessageTokens", "estimateMessageTokens.surrogates"] {
        tally.file(name, |case| {
            pure(case, |input| estimate_message_tokens(&typed(input, "message")))
        });
    }
    tally.file("estimateContextTokens", |case| {
        // A context counts by its messages alone.
        let of = |input: &Json| {
            if input.get("context").is_some() {
                member(input, "context")
            } else {
                input.clone()
            }
        };
        pure(case, |input| {
            estimate_context_tokens(&typed::<Vec<Message>>(&of(input), "messages"))
        })
    });
    for name in ["shortHash", "shortHash.surrogates"] {
        tally.file(name, |case| pure(case, |input| short_hash(&text(input, "text"))));
    }
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
        pure(case, |input| {
            retry_delay_ms(&typed::<RetryPolicy>(input, "policy"), typed(input, "attempt"))
        })
    });
}

fn system(tally: &mut Tally) {
    let messages = |input: &Json| typed::<Vec<Message>>(input, "messages");
    tally.file("getCurrentTools", |case| {
        pure(case, |input| current_tools(&messages(input)))
    });
    tally.file("getCurrentSystemMessage", |case| {
        pure(case, |input| {
            current_system_message(&messages(input)).map(Message::System)
        })
    });
    tally.file("getCurrentSystemPrompt", |case| {
        pure(case, |input| {
            current_system_prompt(&messages(input)).unwrap_or_default()
        })
    });
    tally.file("getSystemMessageText", |case| {
        pure(case, |input| {
            system_text(&typed::<SystemMessage>(input, "message"))
        })
    });
    tally.file("renderSystemMessageUpdate", |case| {
        pure(case, |input| {
            system_update_text(&typed::<SystemMessage>(input, "message"))
        })
    });
    tally.file("collapseSystemMessages", |case| {
        pure(case, |input| {
            let messages = collapse_system_messages(&messages(&member(input, "context")));
            Json::object([("messages", Json::from_serialize(&messages).expect("plain data"))])
        })
    });
}

/// Cases of other wire formats run under the name of one that is built: only its being another one matters.
fn with_known_api(case: &Json) -> Json {
    let text = case
        .to_string()
        .replace("\"openai-responses\"", "\"openai-completions\"");
    Json::parse(&text, 512).expect("JSON")
}

fn context(tally: &mut Tally) {
    tally.file("normalizeContext", |case| {
        pure(case, |input| {
            let messages = crate::request::context(&member(input, "context"));
            Json::object([("messages", Json::from_serialize(&messages).expect("plain data"))])
        })
    });
    tally.file("transformMessages", |case| {
        // Messages without content do not exist here: reading them fails.
        if text(&member(case, "input"), "case").starts_with("nullContent") {
            return Outcome::LeftOut;
        }
        pure(&with_known_api(case), |input| {
            let anthropic = |id: &str| {
                let safe =
                    |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
                id.chars()
                    .take(64)
                    .map(|character| if safe(character) { character } else { '_' })
                    .collect()
            };
            let normalize: Option<&dyn Fn(&str) -> String> = input
                .get("normalizer")
                .filter(|name| !name.is_null())
                .map(|_| &anthropic as _);
            let messages: Vec<Message> = typed(input, "messages");
            transform_messages(
                &messages,
                &typed(input, "model"),
                normalize,
                crate::support::START as i64,
            )
        })
    });
    tally.file("makeStrictJsonSchema", |case| {
        pure(case, |input| match make_strict_schema(&member(input, "schema")) {
            Ok(schema) => schema,
            Err(error) => Json::object([("error", Json::from(error))]),
        })
    });
    tally.file("resolveJsonSchemaStrictSampling", |case| {
        pure(case, |input| {
            let supported = typed(input, "supportsStrictMode");
            match resolve_strict_schema(&typed(input, "tool"), supported) {
                Ok(schema) => schema.map(|_| Json::from(true)).unwrap_or_default(),
                Err(error) => Json::object([("error", Json::from(error))]),
            }
        })
    });
    tally.file("resolveGrammarConstrainedSampling", |case| {
        pure(case, |input| {
            if !typed::<bool>(input, "supportsOpenAIGrammarTools") {
                return Json::Null;
            }
            match resolve_grammar(&typed(input, "tool")) {
                Ok(None) => Json::Null,
                Ok(Some(grammar)) => Json::object([
                    ("format", Json::from(grammar.syntax)),
                    ("definition", Json::from(grammar.definition)),
                    ("inputProperty", Json::from(grammar.parameter)),
                ]),
                Err(error) => Json::object([("error", Json::from(error))]),
            }
        })
    });
}

fn options(tally: &mut Tally) {
    tally.file("clampMaxTokensToContext", |case| {
        pure(case, |input| {
            let messages = crate::request::context(&member(input, "context"));
            clamp_max_tokens_to_context(&typed(input, "model"), &messages, typed(input, "maxTokens"))
        })
    });
    tally.file("thinkingBudgetForLevel", |case| {
        pure(case, |input| {
            thinking_budget(
                typed(input, "level"),
                &optional(input, "budgets").unwrap_or_default(),
            )
        })
    });
    tally.file("resolveSamplingParams", |case| {
        pure(case, |input| {
            resolve_sampling_params(
                &typed(input, "model"),
                typed(input, "level"),
                input.get("requestParams"),
            )
        })
    });
}

/// The shapes that JavaScript errors come in, as this crate knows errors.
fn provider_error(error: &Json) -> ProviderError {
    let at = |path: &[&str]| {
        path.iter()
            .try_fold(error, |value, name| value.get(name))
            .cloned()
    };
    let status = [
        &["status"][..],
        &["statusCode"],
        &["$metadata", "httpStatusCode"],
        &["$response", "statusCode"],
    ];
    let body = [&["body"][..], &["$response", "body"]];
    let mut causes = Vec::new();
    let mut cause = error.get("cause");
    while let Some(found) = cause {
        let message = text(found, "message");
        causes.push(Cause {
            message,
            code: found.get("code").and_then(Json::as_str).map(str::to_owned),
        });
        cause = found.get("cause");
    }
    ProviderError {
        message: text(error, "message"),
        status: status
            .into_iter()
            .find_map(at)
            .and_then(|status| status.as_u64())
            .map(|status| status as u16),
        body: match (error.get("error"), body.into_iter().find_map(at)) {
            (Some(value), _) => ErrorBody::Value(value.clone()),
            (None, Some(text)) => ErrorBody::Text(text.as_str().expect("a text").to_owned()),
            (None, None) => ErrorBody::None,
        },
        causes,
    }
}

fn error_texts(tally: &mut Tally) {
    tally.file("formatProviderError", |case| {
        pure(case, |input| {
            let prefix: Option<String> = optional(input, "prefix");
            format_provider_error(&provider_error(&member(input, "error")), prefix.as_deref())
        })
    });
    tally.file("withCauseDetail", |case| {
        pure(case, |input| {
            with_cause_detail(&provider_error(&member(input, "error")))
        })
    });
    tally.file("truncateErrorText", |case| {
        pure(case, |input| {
            truncate_error_text(&text(input, "text"), typed(input, "maxChars"))
        })
    });
}

fn models(tally: &mut Tally) {
    tally.file("calculateCost", |case| {
        pure(case, |input| {
            calculate_cost(&typed::<Model>(input, "model"), &typed::<Usage>(input, "usage"))
        })
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
            clamp_thinking_level(
                &typed::<Model>(input, "model"),
                typed::<ThinkingLevel>(input, "level"),
            )
        })
    });
    tally.file("getSupportedThinkingLevels", |case| {
        pure(case, |input| {
            supported_thinking_levels(&typed::<Model>(input, "model"))
        })
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
pub fn typed<T: FromJson>(value: &Json, name: &str) -> T {
    let member = member(value, name);
    member
        .to_typed()
        .unwrap_or_else(|error| unreachable!("{name}: {error}: {member}"))
}

pub fn optional<T: FromJson>(value: &Json, name: &str) -> Option<T> {
    value
        .get(name)
        .filter(|value| !value.is_null())
        .map(|value| value.to_typed().expect(name))
}

fn whole_tokens(case: &Json, name: &str) -> bool {
    let usage = member(&member(case, "input"), name);
    let mut counts = usage
        .as_object()
        .into_iter()
        .flat_map(|usage| usage.values().filter_map(Json::as_f64));
    counts.all(|count| count >= 0.0 && count.fract() == 0.0)
}
