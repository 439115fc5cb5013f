//! The whole configuration from its text.

use super::harnesses::{read_harness, read_role};
use super::policy::{read_cors, read_limits};
use super::reader::At;
use super::{Config, ConfigError};
use crate::limits::CONFIG_DEPTH;
use litemap::LiteMap;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_harness::Settings;
use tidehold_models::catalog::Catalog;

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
    root.only(&[
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
    let catalog = read_catalog(root.required("providers")?)?;
    let harnesses = each(root.required("harnesses")?, read_harness)?;
    let roles = root
        .get("roles")
        .map(|at| each(at, |at| read_role(at, &harnesses)));
    let settings = root.get("settings").map(read_settings).transpose()?;
    for (name, what) in UNSUPPORTED {
        root.get(name).map(|at| refuse_any(at, what)).transpose()?;
    }
    let limits = root.get("limits").map(read_limits).transpose()?;
    let cors = root.get("cors").map(read_cors).transpose()?;
    Ok(Config {
        roles: roles.transpose()?.unwrap_or_default(),
        settings: settings.unwrap_or_default(),
        limits: limits.unwrap_or_default(),
        cors: cors.unwrap_or_default(),
        catalog,
        harnesses,
    })
}

fn read_catalog(at: At<'_>) -> Result<Rc<Catalog>, ConfigError> {
    let catalog = Catalog::from_config(at.json(), "providers");
    let catalog = catalog.map_err(|error| ConfigError {
        path: error.path,
        message: error.problem.to_string(),
    })?;
    Ok(Rc::new(catalog))
}

/// The harness owns their shape. Members are tried one by one, so that the problem names its member.
fn read_settings(at: At<'_>) -> Result<Settings, ConfigError> {
    for (name, at) in at.named()? {
        let alone = Json::object([(name, at.json().clone())]);
        alone
            .to_typed::<Settings>()
            .map_err(|error| at.problem(error.to_string()))?;
    }
    at.json()
        .to_typed()
        .map_err(|error| at.problem(error.to_string()))
}

fn each<T>(
    at: At<'_>,
    read: impl Fn(At<'_>) -> Result<T, ConfigError>,
) -> Result<LiteMap<String, T>, ConfigError> {
    at.named()?
        .map(|(name, at)| Ok((name.to_owned(), read(at)?)))
        .collect()
}

/// Lists that nothing acts on yet, each with what its items are. Accepting one would look like it worked; for approvals
/// that would be dangerous.
const UNSUPPORTED: [(&str, &str); 3] = [
    ("remoteTools", "remote tools"),
    ("approve", "approvals"),
    ("mcpServers", "MCP servers"),
];

fn refuse_any(at: At<'_>, what: &str) -> Result<(), ConfigError> {
    match at.items()?.next() {
        Some(item) => Err(item.problem(format!("{what} are not supported yet"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use tidehold_models::model::ModelRef;

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
        assert_eq!(config.settings, Settings::default());
        assert_eq!(
            config.catalog.model("scripted", "small").unwrap().context_window,
            4000
        );
        assert_eq!(
            config.harnesses.get("default").unwrap().model,
            ModelRef::parse("scripted/echo").unwrap()
        );
        assert_eq!(
            config.roles.keys().collect::<Vec<_>>(),
            ["explorer", "reviewer", "worker"]
        );
    }

    #[test]
    fn the_first_problem_names_its_path() {
        check("[]", "TIDEHOLD_CONFIG", "must be an object");
        check("{}", "TIDEHOLD_CONFIG", "member \"providers\" is missing");
        check(
            r#"{"providers": {"a": {"api": "smoke", "models": {}}}, "harnesses": {}}"#,
            "providers.a.api",
            "unknown api \"smoke\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {"default": {"model": "echo"}}}"#,
            "harnesses.default.model",
            "must have the form \"provider/model\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "roles": {"worker": {"instructions": "x", "harness": "h"}}}"#,
            "roles.worker.harness",
            "no harness is named \"h\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "limits": {"watchdogMs": 5}}"#,
            "limits.watchdogMs",
            "must be an integer from 1000 to 3600000",
        );
        let settings = r#"{"providers": {}, "harnesses": {}, "settings": {"retry": {"maxRetries": -1}}}"#;
        assert_eq!(parse(settings).unwrap_err().path, "settings.retry");
        check(
            r#"{"providers": {}, "harnesses": {}, "limit": {}}"#,
            "limit",
            "unknown member \"limit\"",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "remoteTools": [{"name": "t", "description": "d"}]}"#,
            "remoteTools.0",
            "remote tools are not supported yet",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "approve": ["bash"]}"#,
            "approve.0",
            "approvals are not supported yet",
        );
        check(
            r#"{"providers": {}, "harnesses": {}, "mcpServers": [{}]}"#,
            "mcpServers.0",
            "MCP servers are not supported yet",
        );
        let none =
            r#"{"providers": {}, "harnesses": {}, "remoteTools": [], "approve": [], "mcpServers": []}"#;
        assert!(parse(none).is_ok());
        assert_eq!(parse("{").unwrap_err().path, "TIDEHOLD_CONFIG");
    }
}
