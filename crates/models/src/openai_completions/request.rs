//! The request (models.md 12.2): a pure function of model, messages, options and key.

use super::compat::{Compat, compat};
use super::grammar::GrammarTools;
use super::messages::Converter;
use super::thinking::Thinking;
use super::tools::{declarations, grammar_tools, transcript_tools};
use crate::hash::short_hash;
use crate::headers::Headers;
use crate::message::{Message, Timestamp};
use crate::model::Model;
use crate::models::{CacheRetention, StreamOptions, ThinkingBudgets, ToolChoice};
use crate::options::{clamp_max_tokens_to_context, resolve_sampling_params};
use crate::system::collapse_system_messages;
use crate::thinking::{ThinkingLevel, clamp_thinking_level};
use crate::transform::transform_messages;
use crate::transport::HttpRequest;
use tidehold_delta::{Json, Object, json};

/// Longest call id that OpenAI takes.
const CALL_ID_UNITS: usize = 40;

/// Longest prompt cache key, in code points.
const CACHE_KEY_CHARACTERS: usize = 64;

/// The key of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiKey {
    /// The provider takes none.
    Unneeded,
    /// The configuration names a secret, and nobody has it.
    Missing,
    /// Sent as bearer token.
    Key(String),
}

/// A request and what its answer must be decoded with.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What to send.
    pub http: HttpRequest,
    /// Grammar tools of the conversation.
    pub grammar_tools: GrammarTools,
    /// Whether an answer without a finish reason is broken.
    pub needs_finish_reason: bool,
}

/// Builds the request. The error is the text of the failed answer.
pub fn prepare(
    model: &Model,
    messages: &[Message],
    options: &StreamOptions,
    key: &ApiKey,
    now: Timestamp,
) -> Result<Prepared, String> {
    let compat = compat(model);
    let headers = headers(model, options, &compat, key)?;
    let grammar_tools = grammar_tools(messages, &compat);
    let body = body(model, messages, options, &compat, &grammar_tools, now)?;
    let http = HttpRequest {
        url: format!("{}/chat/completions", model.base_url.trim_end_matches('/')),
        headers,
        body: body.to_string().into_bytes(),
    };
    Ok(Prepared {
        http,
        grammar_tools,
        needs_finish_reason: compat.supports_finish_reason,
    })
}

fn headers(
    model: &Model,
    options: &StreamOptions,
    compat: &Compat,
    key: &ApiKey,
) -> Result<Vec<(String, String)>, String> {
    let mut headers = Headers::new();
    headers.set("content-type", "application/json");
    headers.set("accept", "application/json");
    if let ApiKey::Key(key) = key {
        headers.set("authorization", &format!("Bearer {key}"));
    }
    headers.merge(model.headers.as_ref());
    let retention = options.cache_retention.unwrap_or_default();
    if let Some(session) = options.session_id.as_deref().filter(|id| !id.is_empty())
        && compat.session_headers
        && retention != CacheRetention::None
    {
        let names: &[&str] = match compat.session_format.as_str() {
            "openrouter" => &["x-session-id"],
            "openai-nosession" => &["x-client-request-id", "x-session-affinity"],
            _ => &["session_id", "x-client-request-id", "x-session-affinity"],
        };
        for name in names {
            headers.set(name, session);
        }
    }
    headers.merge(options.headers.as_ref());
    let authorized = headers.has("authorization") || headers.has("cf-aig-authorization");
    if *key == ApiKey::Missing && !authorized {
        return Err(format!("No API key for provider: {}", model.provider));
    }
    Ok(headers.into_vec())
}

fn body(
    model: &Model,
    messages: &[Message],
    options: &StreamOptions,
    compat: &Compat,
    grammar_tools: &GrammarTools,
    now: Timestamp,
) -> Result<Json, String> {
    let systems_in_place;
    let placed = if compat.supports_mid_system {
        messages
    } else {
        systems_in_place = collapse_system_messages(messages);
        &systems_in_place
    };
    let tools = transcript_tools(placed, compat);
    let normalize = |id: &str| normalize_call_id(id, &model.provider);
    let visible = transform_messages(
        &without_folded(placed, tools.folded),
        model,
        Some(&normalize),
        now,
    );
    let converter = Converter {
        model,
        compat,
        grammar_tools,
    };
    // Off is not a level to be raised to one that the model has.
    let level = match options.reasoning {
        None | Some(ThinkingLevel::Off) => ThinkingLevel::Off,
        Some(level) => clamp_thinking_level(model, level),
    };
    let max_tokens =
        clamp_max_tokens_to_context(model, messages, options.max_tokens.unwrap_or(model.max_tokens));

    let mut body = Object::new();
    body.insert("model", Json::from(model.wire_id()));
    body.insert("messages", Json::from(converter.convert(&visible)?));
    body.insert("stream", Json::from(true));
    write_cache(&mut body, model, options, compat);
    if compat.supports_usage_in_streaming {
        body.insert("stream_options", json!({ "include_usage": true }));
    }
    if compat.supports_store {
        body.insert("store", Json::from(false));
    }
    body.insert(compat.max_tokens_field.as_str(), Json::from(max_tokens));
    if let Some(temperature) = options.temperature {
        body.insert("temperature", Json::from(temperature));
    }
    write_tools(&mut body, declarations(&tools.request, compat)?, &visible, compat);
    if let Some(choice) = options.tool_choice.filter(|_| body.contains_key("tools")) {
        let choice = match choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
        };
        body.insert("tool_choice", Json::from(choice));
    }
    write_routing(&mut body, compat, |compat| (&compat.vllm_priority, "priority"));
    let no_budgets = ThinkingBudgets::default();
    let budgets = options.thinking_budgets.as_ref().unwrap_or(&no_budgets);
    Thinking {
        model,
        compat,
        level,
        budgets,
        max_tokens,
    }
    .write(&mut body);
    write_routing(&mut body, compat, |compat| {
        (&compat.open_router_routing, "provider")
    });
    if let Some(routing) = &compat.vercel_routing {
        body.insert("providerOptions", json!({ "gateway": routing.clone() }));
    }
    if compat.cache_control && options.cache_retention != Some(CacheRetention::None) {
        super::cache_control::mark(&mut body, options.cache_retention == Some(CacheRetention::Long));
    }
    let sampling = resolve_sampling_params(model, level, options.sampling_params.as_ref());
    for (name, value) in sampling
        .iter()
        .filter_map(Json::as_object)
        .flat_map(|sampling| sampling.iter())
    {
        body.insert(name.clone(), value.clone());
    }
    Ok(Json::Object(body))
}

/// System messages before `folded` declare their tools with the request.
fn without_folded(messages: &[Message], folded: usize) -> Vec<Message> {
    let strip = |(index, message): (usize, &Message)| match message {
        Message::System(system) if index < folded => {
            let mut system = system.clone();
            (system.tools_added, system.tools_removed) = (None, None);
            Message::System(system)
        }
        _ => message.clone(),
    };
    messages.iter().enumerate().map(strip).collect()
}

fn write_cache(body: &mut Object, model: &Model, options: &StreamOptions, compat: &Compat) {
    let retention = options.cache_retention.unwrap_or_default();
    if retention == CacheRetention::None {
        return;
    }
    let long = retention == CacheRetention::Long && compat.supports_long_retention;
    let automatic = compat.prompt_cache_key == "auto" && (model.base_url.contains("api.openai.com") || long);
    if let Some(session) = options.session_id.as_deref().filter(|id| !id.is_empty())
        && (compat.prompt_cache_key == "enabled" || automatic)
    {
        let key: String = session.chars().take(CACHE_KEY_CHARACTERS).collect();
        body.insert("prompt_cache_key", Json::from(key));
    }
    if long {
        body.insert("prompt_cache_retention", Json::from("24h"));
    }
}

fn write_tools(body: &mut Object, tools: Vec<Json>, messages: &[Message], compat: &Compat) {
    let history = || {
        messages.iter().any(|message| match message {
            Message::ToolResult(_) => true,
            Message::Assistant(message) => message.tool_calls().next().is_some(),
            _ => false,
        })
    };
    if tools.is_empty() && !(compat.requires_tools_with_history && history()) {
        return;
    }
    let streams = compat.zai_tool_stream && !tools.is_empty();
    body.insert("tools", Json::from(tools));
    if streams {
        body.insert("tool_stream", Json::from(true));
    }
}

fn write_routing(
    body: &mut Object,
    compat: &Compat,
    member: impl Fn(&Compat) -> (&Option<Json>, &'static str),
) {
    if let (Some(value), name) = member(compat) {
        body.insert(name, value.clone());
    }
}

/// Call ids of other models in a form this API takes: OpenAI's own compound ids keep their first part, with a hash when
/// the whole is too long.
fn normalize_call_id(id: &str, provider: &str) -> String {
    let cut = |text: &str, length: usize| text.chars().take(length).collect::<String>();
    let Some((call, item)) = id.split_once('|') else {
        return if provider == "openai" {
            cut(id, CALL_ID_UNITS)
        } else {
            id.to_owned()
        };
    };
    let (call, item) = (sanitized(call), sanitized(item));
    if item.is_empty() {
        return cut(&call, CALL_ID_UNITS);
    }
    let whole = format!("{call}_{item}");
    if whole.len() <= CALL_ID_UNITS {
        return whole;
    }
    format!("{}_{}", cut(&call, CALL_ID_UNITS - 9), cut(&short_hash(id), 8))
}

fn sanitized(text: &str) -> String {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    text.chars()
        .map(|character| if allowed(character) { character } else { '_' })
        .collect()
}
