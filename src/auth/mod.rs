//! Who calls and what they may do. Pure but for the clock, which the caller passes in.

mod jwt;
mod tokens;

use crate::error::ApiError;
use tidehold_durable_objects::protocol::Caller;

/// What a token allows (http.md "Addressing, auth, limits").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Tools and MCP.
    Call,
    /// Inspection, tasks, usage, the status of submissions.
    Read,
    /// Raw text: entries, context, events, view.
    Transcript,
    /// Conversations, submissions, aborts and other changes.
    Write,
    /// Deleting a session.
    Admin,
}

impl Scope {
    /// The name in tokens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Read => "read",
            Self::Transcript => "transcript",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// What the deployment accepts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuthConfig {
    /// `TIDEHOLD_DEV=1`: anyone is project `dev` with every scope. Ships only in `.dev.vars`.
    pub dev: bool,
    /// Text of the secret `TIDEHOLD_TOKENS`.
    pub tokens: Option<String>,
    /// The secret `TIDEHOLD_JWT_SECRET`.
    pub jwt_secret: Option<String>,
}

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    pub project: String,
    pub subject: Option<String>,
    scopes: Scopes,
}

#[derive(Clone, Debug, PartialEq)]
enum Scopes {
    /// Dev mode.
    Every,
    Named(Vec<String>),
}

impl Identity {
    fn new(project: String, subject: Option<String>, scopes: Vec<String>) -> Self {
        Self {
            project,
            subject,
            scopes: Scopes::Named(scopes),
        }
    }

    /// Refuses what the token does not allow.
    pub fn require(&self, scope: Scope) -> Result<(), ApiError> {
        match self.allows(scope) {
            true => Ok(()),
            false => Err(ApiError::scope_missing(scope.name())),
        }
    }

    /// Whether the token allows this.
    pub fn allows(&self, scope: Scope) -> bool {
        match &self.scopes {
            Scopes::Every => true,
            Scopes::Named(names) => names.iter().any(|name| name == scope.name()),
        }
    }

    /// What the object needs to know.
    pub fn caller(self) -> Caller {
        let rate_limited = self.scopes != Scopes::Every;
        Caller {
            project: self.project,
            subject: self.subject,
            rate_limited,
        }
    }
}

/// Who sent this `authorization` header.
pub fn authenticate(
    config: &AuthConfig,
    authorization: Option<&str>,
    now_seconds: u64,
) -> Result<Identity, ApiError> {
    if config.dev {
        return Ok(Identity {
            project: "dev".to_owned(),
            subject: None,
            scopes: Scopes::Every,
        });
    }
    let known = config
        .tokens
        .as_deref()
        .map(tokens::parse)
        .transpose()
        .map_err(ApiError::auth_not_configured)?;
    if known.is_none() && config.jwt_secret.is_none() {
        return Err(ApiError::auth_not_configured(
            "neither TIDEHOLD_TOKENS nor TIDEHOLD_JWT_SECRET is set",
        ));
    }
    let token = authorization
        .and_then(bearer)
        .ok_or_else(ApiError::unauthenticated)?;
    let by_list = known.and_then(|known| tokens::find(&known, token));
    let by_jwt = || jwt::verify(config.jwt_secret.as_deref()?, token, now_seconds);
    by_list.or_else(by_jwt).ok_or_else(ApiError::unauthenticated)
}

/// The token of a `Bearer` header; the scheme's case does not matter (RFC 9110).
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests;
