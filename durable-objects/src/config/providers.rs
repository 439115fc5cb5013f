//! Who answers: providers, the harnesses built on them, and the roles that use a harness.

use super::ConfigError;
use super::reader::At;
use std::collections::BTreeMap;
use tidehold_delta::MAX_SAFE_INTEGER;
use tidehold_models::thinking::ThinkingLevel;

/// The wire format a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Scripted,
    AnthropicMessages,
    OpenaiCompletions,
}

/// One provider and its models, by the names callers use.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    pub api: Api,
    /// Absent only for `scripted`.
    pub base_url: Option<String>,
    /// Name of the secret with the key; absent for a provider without keys.
    pub key_secret: Option<String>,
    pub models: BTreeMap<String, ModelConfig>,
}

/// What is known of one model. Token counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// The provider's own name; absent: the name of the member.
    pub id: Option<String>,
    pub context_window: Option<u64>,
    pub max_tokens: Option<u64>,
    /// Whether it can think.
    pub reasoning: bool,
    pub cost: Cost,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// A model that runs children.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessConfig {
    pub model: ModelName,
    pub thinking_level: Option<ThinkingLevel>,
}

/// `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    pub provider: String,
    pub model: String,
}

/// A kind of child.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    pub instructions: String,
    pub harness: String,
}

pub(super) fn read_provider(at: &At<'_>) -> Result<Provider, ConfigError> {
    let members = at.members(&["api", "baseUrl", "keySecret", "models"])?;
    let api = members.required("api")?.word(&[
        ("scripted", Api::Scripted),
        ("anthropic-messages", Api::AnthropicMessages),
        ("openai-completions", Api::OpenaiCompletions),
    ])?;
    let base_url = members.optional("baseUrl", read_base_url)?;
    if base_url.is_none() && api == Api::OpenaiCompletions {
        return Err(at.problem("member \"baseUrl\" is missing"));
    }
    let key_secret = members.optional("keySecret", At::string)?;
    let mut models = BTreeMap::new();
    for (name, model) in members.required("models")?.named()? {
        models.insert(name, read_model(&model)?);
    }
    Ok(Provider {
        api,
        base_url,
        key_secret,
        models,
    })
}

fn read_base_url(at: &At<'_>) -> Result<String, ConfigError> {
    let url = at.string()?;
    match url.starts_with("https://") || url.starts_with("http://") {
        true => Ok(url.trim_end_matches('/').to_owned()),
        false => Err(at.problem("must begin with https:// or http://")),
    }
}

fn read_model(at: &At<'_>) -> Result<ModelConfig, ConfigError> {
    let members = at.members(&["id", "contextWindow", "maxTokens", "reasoning", "cost"])?;
    let tokens = |at: &At<'_>| at.integer(1, MAX_SAFE_INTEGER);
    Ok(ModelConfig {
        id: members.optional("id", At::string)?,
        context_window: members.optional("contextWindow", tokens)?,
        max_tokens: members.optional("maxTokens", tokens)?,
        reasoning: members.optional("reasoning", At::boolean)?.unwrap_or(false),
        cost: members.optional("cost", read_cost)?.unwrap_or_default(),
    })
}

fn read_cost(at: &At<'_>) -> Result<Cost, ConfigError> {
    let members = at.members(&["input", "output", "cacheRead", "cacheWrite"])?;
    let price = |name| Ok(members.optional(name, At::amount)?.unwrap_or(0.0));
    Ok(Cost {
        input: price("input")?,
        output: price("output")?,
        cache_read: price("cacheRead")?,
        cache_write: price("cacheWrite")?,
    })
}

/// A harness whose model `providers` knows.
pub(super) fn read_harness(
    at: &At<'_>,
    providers: &BTreeMap<String, Provider>,
) -> Result<HarnessConfig, ConfigError> {
    let members = at.members(&["model", "thinkingLevel"])?;
    let place = members.required("model")?;
    let name = place.string()?;
    let (provider, model) = name
        .split_once('/')
        .ok_or_else(|| place.problem("must have the form \"provider/model\""))?;
    let Some(known) = providers.get(provider) else {
        return Err(place.problem(format!("no provider is named \"{provider}\"")));
    };
    if !known.models.contains_key(model) {
        return Err(place.problem(format!("provider \"{provider}\" has no model \"{model}\"")));
    }
    let levels = ThinkingLevel::ALL.map(|level| (level.name(), level));
    Ok(HarnessConfig {
        model: ModelName {
            provider: provider.to_owned(),
            model: model.to_owned(),
        },
        thinking_level: members.optional("thinkingLevel", |at| at.word(&levels))?,
    })
}

/// A role on a known harness; `default` when it names none.
pub(super) fn read_role(
    at: &At<'_>,
    harnesses: &BTreeMap<String, HarnessConfig>,
) -> Result<Role, ConfigError> {
    let members = at.members(&["instructions", "harness"])?;
    let instructions = members.required("instructions")?.string()?;
    let harness = members
        .optional("harness", At::string)?
        .unwrap_or_else(|| "default".to_owned());
    if !harnesses.contains_key(&harness) {
        let place = members.get("harness").unwrap_or(at);
        return Err(place.problem(format!("no harness is named \"{harness}\"")));
    }
    Ok(Role {
        instructions,
        harness,
    })
}
