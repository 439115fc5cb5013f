//! What the contract has and this version does not do yet. Refused by name: an argument that is ignored would let a caller
//! believe in a limit or a context that is not there.

use super::{ContextMode, DelegateInput};
use crate::code::{Code, Refusal};
use crate::schema::is_blank;

/// Refuses the first argument that asks for something missing.
pub(super) fn refuse(input: &DelegateInput) -> Result<(), Refusal> {
    let not_yet = |code, what: &str| Err(Refusal::new(code, format!("{what} is not supported yet.")));
    if input.resume.as_deref().is_some_and(|resume| !is_blank(resume)) {
        return not_yet(Code::RequestInvalid, "resume");
    }
    match input.context {
        None | Some(ContextMode::None) => {}
        Some(ContextMode::Recent { .. }) => return not_yet(Code::ContextInvalid, "context mode recent"),
        Some(ContextMode::Full) => return not_yet(Code::ContextInvalid, "context mode full"),
    }
    if input.answer_schema.is_some() {
        return not_yet(Code::RequestInvalid, "schema");
    }
    if input.max_budget_usd.is_some() {
        return not_yet(Code::RequestInvalid, "max_budget_usd");
    }
    if let Some(permission) = input.permission {
        let what = format!("The permission tier {}", permission.name());
        return not_yet(Code::SelectionInvalid, &what);
    }
    if input.request_id.is_some() {
        return not_yet(Code::RequestInvalid, "requestId");
    }
    Ok(())
}
