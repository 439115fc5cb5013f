//! What the host chose, as plain data: roles, harnesses and limits of runs.

use litemap::LiteMap;
use tidehold_models::model::ModelRef;
use tidehold_models::thinking::ThinkingLevel;
use tidehold_session::host::Millis;

/// The harness of calls and roles that name none.
pub const DEFAULT_HARNESS: &str = "default";

/// Everything `external_delegate` chooses from. Resolved by the host, secrets left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContractConfig {
    pub roles: LiteMap<String, Role>,
    pub harnesses: LiteMap<String, HarnessChoice>,
    pub limits: RunLimits,
}

/// What a child is told to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Role {
    /// Its instructions; `None`: none.
    pub instructions: Option<String>,
    /// Its harness when the call names none; `None`: [`DEFAULT_HARNESS`].
    pub harness: Option<String>,
}

/// A named choice of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct HarnessChoice {
    pub model: ModelRef,
    pub thinking_level: Option<ThinkingLevel>,
    pub availability: Availability,
}

/// Whether a harness can run now, as far as the host knows without asking the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    Ready,
    /// The secret that its provider needs is not set.
    SecretMissing,
    /// No configured provider names its model.
    ModelUnknown,
}

/// Limits of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// How long a run may take that asks for nothing else; `None`: no limit.
    pub run_timeout_ms: Option<Millis>,
}

impl Default for RunLimits {
    /// The configuration's own defaults.
    fn default() -> Self {
        Self {
            run_timeout_ms: Some(2 * 60 * 60 * 1000),
        }
    }
}
