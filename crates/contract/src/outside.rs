//! Calls that meet no open session.

use crate::code::{Code, Refusal};
use crate::contract::Call;
use crate::delegate;
use crate::receipt::ToolResult;
use crate::runs;
use tidehold_session::host::Millis;

/// What supervision answers where no session exists: an empty list, and no run. `None` for a call that creates the session
/// it meets not.
pub fn answer_absent(call: &Call, at: Millis) -> Option<ToolResult> {
    match call {
        Call::Delegate(_) => None,
        Call::Runs(input) => Some(match runs::plan(input.clone()) {
            Ok(plan) => runs::absent(&plan, at),
            Err(refusal) => runs::refused(input.action, &refusal, at),
        }),
    }
}

/// What a call answers when its session ends under its wait, closed, failed or deleted.
pub fn answer_ended(call: &Call, at: Millis) -> ToolResult {
    let refusal = Refusal::new(
        Code::SessionClosed,
        "The session ended while the call waited. Unless it was deleted, its runs go on.",
    );
    refused(call, &refusal, at)
}

/// What every tool answers while the configuration is broken. `problem` names its path.
pub fn answer_misconfigured(call: &Call, problem: &str, at: Millis) -> ToolResult {
    refused(call, &Refusal::new(Code::ConfigurationInvalid, problem), at)
}

fn refused(call: &Call, refusal: &Refusal, at: Millis) -> ToolResult {
    match call {
        Call::Delegate(_) => delegate::refused(refusal, at),
        Call::Runs(input) => runs::refused(input.action, refusal, at),
    }
}
