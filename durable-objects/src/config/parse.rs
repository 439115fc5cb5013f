//! The whole configuration from its text.

use super::policy::{read_cors, read_limits, read_remote_tool};
use super::providers::{read_harness, read_provider, read_role};
use super::reader::At;
use super::{Config, ConfigError};
use crate::limits::CONFIG_DEPTH;
use std::collections::BTreeMap;
use tidehold_delta::Json;

/// Reads and checks the configuration. The first problem in reading order wins: providers before the harnesses that
/// name them, harnesses before the roles.
pub fn parse(text: &str) -> Result<Config, ConfigError> {
    let json = Json::parse(text, CONFIG_DEPTH).map_err(|error| ConfigError {
        path: "TIDEHOLD_CONFIG".to_owned(),
        message: format!("is not valid JSON: {error}"),
    })?;
    from_json(&json)
}

/// The same from a value.
pub fn from_json(json: &Json) -> Result<Config, ConfigError> {
    let root = At::root(json);
    let members = root.members(&[
        "providers",
        "harnesses",
        "roles",
        "settings",
        "remoteTools",
        "approve",
        "mcpServers",
        "limits",
        "cors",
    ])?;
    let providers = each(members.required("providers")?, read_provider)?;
    let harnesses = each(members.required("harnesses")?, |at| read_harness(at, &providers))?;
    let roles = members.optional("roles", |at| each(at, |at| read_role(at, &harnesses)))?;
    let settings = members.optional("settings", |at| at.named().map(|_| at.json().clone()))?;
    let remote_tools = members.optional("remoteTools", |at| {
        at.items()?.iter().map(read_remote_tool).collect()
    })?;
    let approve = members.optional("approve", At::strings)?;
    members.optional("mcpServers", refuse_mcp_servers)?;
    Ok(Config {
        roles: roles.unwrap_or_default(),
        settings: settings.unwrap_or_else(Json::empty_object),
        remote_tools: remote_tools.unwrap_or_default(),
        approve: approve.unwrap_or_default(),
        limits: members.optional("limits", read_limits)?.unwrap_or_default(),
        cors: members.optional("cors", read_cors)?.unwrap_or_default(),
        providers,
        harnesses,
    })
}

fn each<'a, T>(
    at: &At<'a>,
    read: impl Fn(&At<'a>) -> Result<T, ConfigError>,
) -> Result<BTreeMap<String, T>, ConfigError> {
    at.named()?
        .into_iter()
        .map(|(name, at)| Ok((name, read(&at)?)))
        .collect()
}

/// Accepting what nothing acts on would look like it worked.
fn refuse_mcp_servers(at: &At<'_>) -> Result<(), ConfigError> {
    match at.items()?.first() {
        Some(server) => Err(server.problem("MCP servers are not supported yet")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Api, Limits};

    /// The configuration that ships.
    fn shipped() -> String {
        let file = include_str!("../../../wrangler.toml");
        let (_, rest) = file.split_once("TIDEHOLD_CONFIG = '''").unwrap();
        rest.split_once("'''").unwrap().0.to_owned()
    }

    fn check(text: &str, path: &str, message: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!(
            (error.path.as_str(), error.message.as_str()),
            (path, message),
            "{text}"
        );
    }

    #[test]
    fn the_shipped_configuration_is_valid() {
        let config = parse(&shipped()).unwrap();
        assert_eq!(config.limits, Limits::default());
        assert_eq!(config.providers["scripted"].api, Api::Scripted);
        assert_eq!(
            config.providers["scripted"].models["small"].context_window,
            Some(4000)
        );
        let roles: Vec<_> = config
            .roles
            .iter()
            .map(|(name, role)| (name.as_str(), role.harness.as_str()))
            .collect();
        assert_eq!(
            roles,
            [
                ("explorer", "default"),
                ("reviewer", "default"),
                ("worker", "default")
            ]
        );
    }

    #[test]
    fn the_first_problem_names_its_path() {
        check("[]", "TIDEHOLD_CONFIG", "must be an object");
        check("{}", "TIDEHOLD_CONFIG", "member \"providers\" is missing");
        check(
            r#"{"providers": {"a": {"api": "smoke", "models": {}}}, "harnesses": {}}"#,
            "providers.a.api",
            "must be one of \"scripted\", \"anthropic-messages\", \"openai-completions\"",
        );
        check(
            r#"{"providers": {"a": {"api": "scripted", "models": {"m": {"maxTokens": 0}}}}, "harnesses": {}}"#,
            "providers.a.models.m.maxTokens",
            "must be an integer of at least 1",
        );
        check(
            r#"{"providers": {}, "harnesses": {"default": {"model": "a/m"}}}"#,
            "harnesses.default.model",
            "no provider is named \"a\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "roles": {"worker": {"instructions": "x"}}}"#,
            "roles.worker",
            "no harness is named \"default\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "limits": {"watchdogMs": 5}}"#,
            "limits.watchdogMs",
            "must be an integer from 1000 to 3600000",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "limit": {}}"#,
            "limit",
            "unknown member \"limit\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "remoteTools": [{"name": "t", "description": "d"}]}"#,
            "remoteTools.0",
            "member \"parameters\" is missing",
        );
        assert_eq!(parse("{").unwrap_err().path, "TIDEHOLD_CONFIG");
    }
}
