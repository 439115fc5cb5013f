//! The models of a configuration.
//!
//! [`Catalog::from_config`] reads the object `providers` of the configuration (docs/http.md). Every problem names its
//! path. Unknown members are ignored: catalogs are copied from elsewhere and carry more than is used here.

mod read;

use crate::model::{Api, CostTier, HeaderMap, InputKind, Model, ModelCost};
use indexmap::IndexMap;
use read::Reader;
use std::rc::Rc;
use tidehold_delta::Json;

/// Context window of a model whose configuration names none.
const DEFAULT_CONTEXT_WINDOW: u64 = 200_000;

/// Answer limit of a model whose configuration names none.
const DEFAULT_MAX_TOKENS: u64 = 64_000;

/// Dearer is a typing error, and a bill that is no finite number could not be stored.
const HIGHEST_PRICE: f64 = 1e9;

/// Why a configuration has no catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct CatalogError {
    /// Where, for example `providers.local.baseUrl`.
    pub path: String,
    /// What is wrong there.
    pub problem: CatalogProblem,
}

/// What is wrong with a place of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogProblem {
    /// A required member is absent.
    #[error("is missing")]
    Missing,
    /// A value of another type is needed.
    #[error("must be {0}")]
    Expected(&'static str),
    /// No wire format has this name.
    #[error("unknown api {0:?}")]
    UnknownApi(String),
    /// The wire format has no adapter in this version.
    #[error("api {0:?} is not supported yet")]
    UnsupportedApi(&'static str),
}

/// A configured provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// Wire format of its models.
    pub api: Api,
    /// Name of the secret that holds its key; `None`: it takes none.
    pub key_secret: Option<String>,
    /// Its models by key.
    pub models: IndexMap<String, Rc<Model>>,
}

/// All configured providers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    providers: IndexMap<String, Provider>,
}

impl Catalog {
    /// Reads the value of `providers`; `path` is where it stands.
    pub fn from_config(providers: &Json, path: &str) -> Result<Self, CatalogError> {
        let entries = Reader::new(providers, path).members()?;
        let read = |(name, reader): (String, Reader<'_>)| Ok((name.clone(), provider(&name, &reader)?));
        Ok(Self {
            providers: entries
                .into_iter()
                .map(read)
                .collect::<Result<_, CatalogError>>()?,
        })
    }

    /// A provider by name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.get(name)
    }

    /// All providers in configuration order.
    pub fn providers(&self) -> impl Iterator<Item = (&str, &Provider)> {
        self.providers
            .iter()
            .map(|(name, provider)| (name.as_str(), provider))
    }

    /// A model by its provider and key.
    pub fn model(&self, provider: &str, id: &str) -> Option<Rc<Model>> {
        self.providers.get(provider)?.models.get(id).cloned()
    }
}

fn provider(name: &str, reader: &Reader<'_>) -> Result<Provider, CatalogError> {
    let api_reader = reader.required("api")?;
    let api_name = api_reader.text()?;
    let api = match Api::parse(&api_name) {
        Some(Api::AnthropicMessages) => {
            return Err(api_reader.error(CatalogProblem::UnsupportedApi(Api::AnthropicMessages.name())));
        }
        Some(api) => api,
        None => return Err(api_reader.error(CatalogProblem::UnknownApi(api_name))),
    };
    let base_url = match api {
        Api::Scripted => String::new(),
        _ => base_url(&reader.required("baseUrl")?)?,
    };
    let common = Model {
        provider: name.to_owned(),
        api,
        base_url,
        headers: reader
            .optional("headers")
            .map(|reader| headers(&reader))
            .transpose()?,
        compat: reader
            .optional("compat")
            .map(|reader| reader.object())
            .transpose()?,
        ..Model::default()
    };
    let mut models = IndexMap::new();
    for (id, reader) in reader.required("models")?.members()? {
        let model = model(&id, &reader, &common)?;
        models.insert(id, Rc::new(model));
    }
    let key_secret = reader
        .optional("keySecret")
        .map(|reader| reader.text())
        .transpose()?;
    Ok(Provider {
        api,
        key_secret,
        models,
    })
}

fn model(id: &str, reader: &Reader<'_>, common: &Model) -> Result<Model, CatalogError> {
    reader.object()?;
    let number =
        |name: &str, default: u64| reader.optional(name).map_or(Ok(default), |reader| reader.count());
    let wire_id = reader.optional("id").map(|reader| reader.text()).transpose()?;
    let name = reader.optional("name").map(|reader| reader.text()).transpose()?;
    Ok(Model {
        id: id.to_owned(),
        wire_id: wire_id.filter(|wire_id| wire_id != id),
        name: name.unwrap_or_else(|| id.to_owned()),
        input: match reader.optional("input") {
            Some(reader) => reader.typed("an array of \"text\" and \"image\"")?,
            None => vec![InputKind::Text],
        },
        cost: match reader.optional("cost") {
            Some(reader) => prices(&reader)?,
            None => ModelCost::default(),
        },
        headers: match reader.optional("headers") {
            Some(reader) => Some(merged(common.headers.as_ref(), headers(&reader)?)),
            None => common.headers.clone(),
        },
        reasoning: reader
            .optional("reasoning")
            .map_or(Ok(false), |reader| reader.boolean())?,
        thinking_level_map: reader
            .optional("thinkingLevelMap")
            .map(|reader| reader.typed("an object of texts and nulls by level"))
            .transpose()?,
        context_window: number("contextWindow", DEFAULT_CONTEXT_WINDOW)?,
        max_tokens: number("maxTokens", DEFAULT_MAX_TOKENS)?,
        sampling_params: reader
            .optional("samplingParams")
            .map(|reader| reader.object())
            .transpose()?,
        sampling_params_by_thinking_level: reader
            .optional("samplingParamsByThinkingLevel")
            .map(|reader| reader.typed("an object of objects by level"))
            .transpose()?,
        compat: match reader.optional("compat") {
            Some(reader) => Some(merged_objects(common.compat.as_ref(), &reader.object()?)),
            None => common.compat.clone(),
        },
        ..common.clone()
    })
}

fn prices(reader: &Reader<'_>) -> Result<ModelCost, CatalogError> {
    const WHAT: &str = "an object of prices per million tokens";
    let cost: ModelCost = reader.typed(WHAT)?;
    let of_tier = |tier: &CostTier| [tier.input, tier.output, tier.cache_read, tier.cache_write];
    let base = [cost.input, cost.output, cost.cache_read, cost.cache_write];
    let all = base.into_iter().chain(cost.tiers.iter().flat_map(of_tier));
    let mut wrong = all.filter(|price| !(0.0..=HIGHEST_PRICE).contains(price));
    match wrong.next() {
        Some(_) => Err(reader.error(CatalogProblem::Expected(WHAT))),
        None => Ok(cost),
    }
}

fn base_url(reader: &Reader<'_>) -> Result<String, CatalogError> {
    let url = reader.text()?;
    let has_host = ["https://", "http://"]
        .iter()
        .any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if !has_host || url.contains(char::is_whitespace) {
        return Err(reader.error(CatalogProblem::Expected("an http or https address")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn headers(reader: &Reader<'_>) -> Result<HeaderMap, CatalogError> {
    let mut headers = HeaderMap::new();
    for (name, reader) in reader.members()? {
        let value = if reader.is_null() {
            None
        } else {
            Some(reader.text()?)
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

fn merged(common: Option<&HeaderMap>, own: HeaderMap) -> HeaderMap {
    let mut headers = common.cloned().unwrap_or_default();
    headers.extend(own);
    headers
}

fn merged_objects(common: Option<&Json>, own: &Json) -> Json {
    let members = [common, Some(own)]
        .into_iter()
        .flatten()
        .filter_map(Json::as_object);
    Json::object(members.flat_map(|object| object.iter().map(|(key, value)| (key.clone(), value.clone()))))
}
