//! What a deployment configures: the variable `TIDEHOLD_CONFIG`, read as a whole or not at all.
//!
//! [`parse()`] turns its text into a typed [`Config`] or into the first problem with its path. Unknown members are
//! problems too: a misspelt limit that silently keeps its default is found by nobody. Secrets are never here; a
//! provider names the secret that holds its key.

mod binding;
pub mod contract;
mod harnesses;
mod parse;
mod policy;
mod reader;

pub use binding::from_env;
pub use harnesses::{HarnessConfig, Role};
pub use parse::{from_json, parse};
pub use policy::{Cors, Limits};

use litemap::LiteMap;
use std::rc::Rc;
use tidehold_harness::Settings;
use tidehold_models::catalog::Catalog;

/// The whole configuration. Names of maps are what callers and other members refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The providers and their models.
    pub catalog: Rc<Catalog>,
    pub harnesses: LiteMap<String, HarnessConfig>,
    pub roles: LiteMap<String, Role>,
    pub settings: Settings,
    pub limits: Limits,
    pub cors: Cors,
}

/// The first problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ConfigError {
    /// Member names joined by dots; `TIDEHOLD_CONFIG` for the text itself.
    pub path: String,
    pub message: String,
}
