//! The configuration as the contract tools need it: what can be chosen, and what of it can run now.

use super::{Config, HarnessConfig};
use crate::frame::Platform;
use std::rc::Rc;
use tidehold_contract::ContractConfig;
use tidehold_contract::config::{Availability, HarnessChoice, Role, RunLimits};

/// Roles, harnesses and limits of this deployment.
pub fn of(platform: &Platform) -> Rc<ContractConfig> {
    Rc::new(choices(&platform.config, |secret| {
        platform.secret(secret).is_some()
    }))
}

fn choices(config: &Config, has_secret: impl Fn(&str) -> bool) -> ContractConfig {
    let roles = config.roles.iter().map(|(name, role)| {
        let (instructions, harness) = (Some(role.instructions.clone()), role.harness.clone());
        (
            name.clone(),
            Role {
                instructions,
                harness,
            },
        )
    });
    let harnesses = config.harnesses.iter().map(|(name, harness)| {
        let availability = availability(config, harness, &has_secret);
        let (model, thinking_level) = (harness.model.clone(), harness.thinking_level);
        (
            name.clone(),
            HarnessChoice {
                model,
                thinking_level,
                availability,
            },
        )
    });
    ContractConfig {
        roles: roles.collect(),
        harnesses: harnesses.collect(),
        limits: RunLimits {
            run_timeout_ms: Some(config.limits.run_timeout_ms),
        },
    }
}

fn availability(config: &Config, harness: &HarnessConfig, has_secret: impl Fn(&str) -> bool) -> Availability {
    let provider = config.catalog.provider(&harness.model.provider);
    let Some(provider) = provider.filter(|it| it.models.contains_key(&harness.model.model_id)) else {
        return Availability::ModelUnknown;
    };
    match provider.key_secret.as_deref().is_none_or(has_secret) {
        true => Availability::Ready,
        false => Availability::SecretMissing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harnesses_tell_what_they_lack() {
        let config = crate::config::parse(
            r#"{
                "providers": {
                    "scripted": {"api": "scripted", "models": {"echo": {}}},
                    "far": {"api": "openai-completions", "baseUrl": "https://far.example/v1", "keySecret": "FAR_KEY",
                            "models": {"m": {}}}
                },
                "harnesses": {
                    "default": {"model": "scripted/echo"},
                    "far": {"model": "far/m"},
                    "gone": {"model": "far/other"}
                }
            }"#,
        )
        .unwrap();
        let found = |secrets: &[&str]| {
            let choices = choices(&config, |name| secrets.contains(&name));
            ["default", "far", "gone"].map(|name| choices.harnesses.get(name).unwrap().availability)
        };
        let (ready, missing, unknown) = (
            Availability::Ready,
            Availability::SecretMissing,
            Availability::ModelUnknown,
        );
        assert_eq!(found(&[]), [ready, missing, unknown]);
        assert_eq!(found(&["FAR_KEY"]), [ready, ready, unknown]);
    }
}
