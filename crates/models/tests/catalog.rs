//! Configuration: what is read, and which path a problem names.

use tidehold_delta::{Json, json};
use tidehold_models::catalog::Catalog;
use tidehold_models::model::{Api, ModelRef};

fn catalog(providers: &Json) -> Result<Catalog, String> {
    Catalog::from_config(providers, "providers").map_err(|error| error.to_string())
}

#[track_caller]
fn refused(providers: Json, problem: &str) {
    assert_eq!(catalog(&providers).expect_err("a broken configuration"), problem);
}

#[test]
fn the_documented_configuration_reads() {
    let catalog = catalog(&json!({
        "scripted": { "api": "scripted", "models": { "echo": {}, "small": { "contextWindow": 4000, "maxTokens": 1000 } } },
        "local": { "api": "openai-completions", "baseUrl": "http://127.0.0.1:8080/v1/", "keySecret": "LOCAL_KEY",
            "headers": { "x-a": "1", "x-b": null }, "compat": { "supportsStore": false },
            "models": { "any": { "id": "org/any", "cost": { "input": 1.5 }, "reasoning": true, "headers": { "x-a": "2" },
                "input": ["text", "image"], "thinkingLevelMap": { "xhigh": "max", "off": null }, "unknown": 1 } } }
    }))
    .expect("a valid configuration");
    let echo = catalog.model("scripted", "echo").expect("a model");
    assert_eq!(
        (echo.context_window, echo.max_tokens, echo.api),
        (200_000, 64_000, Api::Scripted)
    );
    assert_eq!(
        catalog
            .model("scripted", "small")
            .expect("a model")
            .context_window,
        4000
    );
    let any = catalog.model("local", "any").expect("a model");
    assert_eq!(
        (any.id.as_str(), any.wire_id(), any.base_url.as_str()),
        ("any", "org/any", "http://127.0.0.1:8080/v1")
    );
    assert_eq!(
        (any.cost.input, any.cost.output, any.accepts_images()),
        (1.5, 0.0, true)
    );
    assert_eq!(
        any.headers.as_ref().and_then(|headers| headers.get("x-a")),
        Some(&Some("2".to_owned()))
    );
    assert_eq!(
        catalog
            .provider("local")
            .and_then(|provider| provider.key_secret.as_deref()),
        Some("LOCAL_KEY")
    );
    assert!(catalog.model("scripted", "none").is_none() && catalog.model("nobody", "echo").is_none());
}

#[test]
fn problems_name_their_path() {
    refused(json!([]), "providers: must be an object");
    refused(json!({ "p": 1 }), "providers.p: must be an object");
    refused(json!({ "p": { "models": {} } }), "providers.p.api: is missing");
    refused(
        json!({ "p": { "api": "soap", "models": {} } }),
        "providers.p.api: unknown api \"soap\"",
    );
    refused(
        json!({ "p": { "api": "anthropic-messages", "baseUrl": "https://x", "models": {} } }),
        "providers.p.api: api \"anthropic-messages\" is not supported yet",
    );
    refused(
        json!({ "p": { "api": "openai-completions", "models": {} } }),
        "providers.p.baseUrl: is missing",
    );
    refused(
        json!({ "p": { "api": "openai-completions", "baseUrl": "ftp://x", "models": {} } }),
        "providers.p.baseUrl: must be an http or https address",
    );
    refused(
        json!({ "p": { "api": "scripted" } }),
        "providers.p.models: is missing",
    );
    refused(
        json!({ "p": { "api": "scripted", "models": { "m": 1 } } }),
        "providers.p.models.m: must be an object",
    );
    refused(
        json!({ "p": { "api": "scripted", "models": { "m": { "contextWindow": -1 } } } }),
        "providers.p.models.m.contextWindow: must be a whole number of tokens",
    );
    refused(
        json!({ "p": { "api": "scripted", "keySecret": 1, "models": {} } }),
        "providers.p.keySecret: must be a text",
    );
    refused(
        json!({ "p": { "api": "scripted", "models": { "m": { "cost": { "input": "1" } } } } }),
        "providers.p.models.m.cost: must be an object of prices per million tokens",
    );
    refused(
        json!({ "p": { "api": "scripted", "models": { "m": { "cost": { "output": -1 } } } } }),
        "providers.p.models.m.cost: must be an object of prices per million tokens",
    );
}

#[test]
fn references_read_and_print() {
    let parsed = ModelRef::parse("openrouter/org/model").expect("a reference");
    assert_eq!(
        (parsed.provider.as_str(), parsed.model_id.as_str()),
        ("openrouter", "org/model")
    );
    assert_eq!(parsed.to_string(), "openrouter/org/model");
    assert_eq!(
        [
            ModelRef::parse("model"),
            ModelRef::parse("/m"),
            ModelRef::parse("p/")
        ],
        [None, None, None]
    );
}
