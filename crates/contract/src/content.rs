//! Sentences for people and models: everything a receipt says that its reader needs, when the text is all they get.

use crate::code::Refusal;
use crate::public_run::{Delivery, PublicRun, Ref};
use crate::schema::with;
use crate::wire::Wire;
use tidehold_delta::{Json, Text};

/// Why a call was refused.
pub(crate) fn refusal(refusal: &Refusal) -> String {
    format!("{}: {}", refusal.code.name(), refusal.message)
}

/// A call of `external_runs` as the reader would write it.
pub(crate) fn call(arguments: &Json) -> String {
    format!("external_runs {arguments}")
}

fn reference(reference: &Ref) -> String {
    call(&reference.write().unwrap_or(Json::Null))
}

/// A run in one line.
pub(crate) fn row(run: &PublicRun) -> String {
    let mut line = format!("{} {}", run.run_id, run.state.status.name());
    if let Some(outcome) = run.state.outcome {
        line.push_str(&format!(" ({}", outcome.name()));
        if let Some(reason) = &run.state.reason {
            line.push_str(&format!(", {reason}"));
        }
        line.push(')');
    }
    if let Some(elapsed) = run.timing.elapsed_ms {
        line.push_str(&format!(" {}.{:03} s", elapsed / 1000, elapsed % 1000));
    }
    let task = &run.task;
    if let Some(description) = &task.description {
        line.push_str(&format!(" {:?}", &**description));
    }
    if let (Some(role), Some(harness)) = (&task.role, &task.harness) {
        line.push_str(&format!(" {role} on {harness}"));
    }
    if let Some(conversation) = run.conversation_id {
        line.push_str(&format!(", conversation {conversation}"));
    }
    line.push_str(match run.output.delivery {
        Delivery::Inline => ", answer inline",
        Delivery::Reference => ", answer in the final view",
        Delivery::None => "",
    });
    line
}

/// Where the canonical answer is.
pub(crate) fn final_reference(run: &PublicRun) -> String {
    let said = run
        .refs
        .as_ref()
        .map(|refs| format!("Read it in pages: {}", reference(&refs.canonical)));
    said.unwrap_or_default()
}

/// Where to look when a run did not succeed.
pub(crate) fn evidence_references(run: &PublicRun) -> String {
    let said = run
        .refs
        .as_ref()
        .map(|refs| format!("What happened: {}", reference(&refs.diagnostics)));
    said.unwrap_or_default()
}

/// Where a listing goes on, on a line of its own.
pub(crate) fn more(arguments: Json, cursor: &Text) -> String {
    format!("\nMore: {}", call(&with(arguments, "cursor", cursor)))
}
