//! Who does the work: role, harness, and whether it can run.

use super::DelegateInput;
use crate::code::{Code, Refusal};
use crate::config::{Availability, ContractConfig, DEFAULT_HARNESS, HarnessChoice};
use crate::schema::is_blank;
use litemap::LiteMap;
use tidehold_delta::Text;

/// A selection that can run.
pub(super) struct Selection<'a> {
    pub role: &'a str,
    pub instructions: Option<&'a str>,
    pub harness: &'a str,
    pub choice: &'a HarnessChoice,
}

/// Resolves the arguments against the configuration.
pub(super) fn select<'a>(
    config: &'a ContractConfig,
    input: &DelegateInput,
) -> Result<Selection<'a>, Refusal> {
    let Some(role) = given(&input.role) else {
        return Err(match given(&input.subagent_type) {
            Some(profile) => Refusal::new(
                Code::SelectionInvalid,
                format!("Unknown profile {profile:?}: no profiles are configured."),
            ),
            None => Refusal::new(Code::RequestInvalid, "Name a role."),
        });
    };
    let Some((role, chosen)) = named(&config.roles, role) else {
        let known = names(config.roles.keys());
        return Err(Refusal::new(
            Code::SelectionInvalid,
            format!("Unknown role {role:?}. Configured: {known}."),
        ));
    };
    let (harness, choice) = match given(&input.harness) {
        Some(harness) => named(&config.harnesses, harness).ok_or_else(|| {
            let known = names(config.harnesses.keys());
            Refusal::new(
                Code::SelectionInvalid,
                format!("Unknown harness {harness:?}. Configured: {known}."),
            )
        })?,
        // Nobody chose it but the configuration, so the mistake is there.
        None => {
            let harness = chosen.harness.as_deref().unwrap_or(DEFAULT_HARNESS);
            named(&config.harnesses, harness).ok_or_else(|| {
                let problem = format!("Role {role:?} runs on harness {harness:?}, which is not configured.");
                Refusal::new(Code::ConfigurationInvalid, problem)
            })?
        }
    };
    match choice.availability {
        Availability::Ready => {}
        Availability::SecretMissing => {
            let problem = format!("Harness {harness:?} cannot run: the secret of its provider is not set.");
            return Err(Refusal::new(Code::HarnessUnavailable, problem));
        }
        Availability::ModelUnknown => {
            let model = format!("{}/{}", choice.model.provider, choice.model.model_id);
            let problem = format!("Harness {harness:?} cannot run: no provider has the model {model:?}.");
            return Err(Refusal::new(Code::ModelUnavailable, problem));
        }
    }
    Ok(Selection {
        role,
        instructions: chosen.instructions.as_deref(),
        harness,
        choice,
    })
}

/// A selector that says something.
fn given(selector: &Option<Text>) -> Option<&str> {
    selector.as_deref().filter(|selector| !is_blank(selector))
}

/// The name and what it names.
fn named<'a, T>(known: &'a LiteMap<String, T>, name: &str) -> Option<(&'a String, &'a T)> {
    known.get_indexed(known.find_index(name).ok()?)
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
