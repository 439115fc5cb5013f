//! Who answers: harnesses, each a model, and the roles that use one.

use super::ConfigError;
use super::reader::At;
use std::collections::BTreeMap;
use tidehold_models::model::ModelRef;
use tidehold_models::thinking::ThinkingLevel;

/// A model that runs children. Whether a provider has it is found out when it is asked for: a catalog may change
/// without the harness.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessConfig {
    pub model: ModelRef,
    pub thinking_level: Option<ThinkingLevel>,
}

/// A kind of child.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    pub instructions: String,
    /// `None`: the default harness.
    pub harness: Option<String>,
}

pub(super) fn read_harness(at: &At<'_>) -> Result<HarnessConfig, ConfigError> {
    let members = at.members(&["model", "thinkingLevel"])?;
    let place = members.required("model")?;
    let model = ModelRef::parse(&place.string()?);
    let levels = ThinkingLevel::ALL.map(|level| (level.name(), level));
    Ok(HarnessConfig {
        model: model.ok_or_else(|| place.problem("must have the form \"provider/model\""))?,
        thinking_level: members.optional("thinkingLevel", |at| at.word(&levels))?,
    })
}

/// A role; a harness it names must be one of `harnesses`.
pub(super) fn read_role(
    at: &At<'_>,
    harnesses: &BTreeMap<String, HarnessConfig>,
) -> Result<Role, ConfigError> {
    let members = at.members(&["instructions", "harness"])?;
    let instructions = members.required("instructions")?.string()?;
    let harness = members.optional("harness", |at| {
        let name = at.string()?;
        match harnesses.contains_key(&name) {
            true => Ok(name),
            false => Err(at.problem(format!("no harness is named \"{name}\""))),
        }
    })?;
    Ok(Role {
        instructions,
        harness,
    })
}
