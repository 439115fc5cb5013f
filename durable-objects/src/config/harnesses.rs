//! Who answers: harnesses, each a model, and the roles that use one.

use super::ConfigError;
use super::reader::At;
use litemap::LiteMap;
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

pub(super) fn read_harness(at: At<'_>) -> Result<HarnessConfig, ConfigError> {
    at.only(&["model", "thinkingLevel"])?;
    let place = at.required("model")?;
    let model = ModelRef::parse(&place.string()?);
    let levels = ThinkingLevel::ALL.map(|level| (level.name(), level));
    let thinking_level = at.get("thinkingLevel").map(|at| at.word(&levels)).transpose()?;
    Ok(HarnessConfig {
        model: model.ok_or_else(|| place.problem("must have the form \"provider/model\""))?,
        thinking_level,
    })
}

/// A role; a harness it names must be one of `harnesses`.
pub(super) fn read_role(at: At<'_>, harnesses: &LiteMap<String, HarnessConfig>) -> Result<Role, ConfigError> {
    at.only(&["instructions", "harness"])?;
    let instructions = at.required("instructions")?.string()?;
    let Some(place) = at.get("harness") else {
        return Ok(Role {
            instructions,
            harness: None,
        });
    };
    let harness = place.string()?;
    if !harnesses.contains_key(&harness) {
        return Err(place.problem(format!("no harness is named \"{harness}\"")));
    }
    Ok(Role {
        instructions,
        harness: Some(harness),
    })
}
