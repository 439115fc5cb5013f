//! The decision between two phases of an invocation (spec 5.1, rules 1 to 6).

use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::Mode;
use tidehold_delta::{Json, Text};
use tidehold_session::records::{TaskRecord, TaskState};

/// What the handler that just returned left.
#[derive(Clone, Debug)]
pub struct Returned<'a> {
    /// Text of an uncaught error or a panic.
    pub error: Option<&'a str>,
    /// The checkpoint it started from.
    pub checkpoint: &'a Json,
}

/// What else the step must know.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    pub mode: Mode,
    /// The session closes; this step was admitted before.
    pub closing: bool,
    /// A live owner cancels the work below it.
    pub below_intent: bool,
    /// The registry holds another definition that can take the task.
    pub may_hand_over: bool,
}

/// What happens to the invocation.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The invocation ends; nothing is written.
    Stop,
    /// The task ends `faulted`, or holds that outcome; the invocation ends.
    Fault(Text),
    /// The task becomes `pending` under another definition; the invocation ends.
    HandOver,
    /// The handler of the committed checkpoint runs in this invocation.
    Go,
}

/// The first rule that matches. `returned` is `None` before the first handler: then only rules 1 to 3 apply.
pub fn step(record: &TaskRecord, around: Surroundings, returned: Option<Returned<'_>>) -> Verdict {
    let TaskState::Running { checkpoint } = &record.state else {
        return Verdict::Stop;
    };
    if around.closing {
        return Verdict::Stop;
    }
    let marked = record.abort_requested && !broken(Sabotage::StepIgnoresMark);
    let below_intent = around.below_intent && !broken(Sabotage::StepIgnoresOwners);
    if around.mode == Mode::Run && (marked || below_intent) {
        return Verdict::Stop;
    }
    let Some(returned) = returned else {
        return Verdict::Go;
    };
    match (returned.error, around.mode) {
        (Some(error), _) => Verdict::Fault(error.into()),
        (None, Mode::Abort) => Verdict::Fault(missing_outcome(record)),
        (None, Mode::Run) if checkpoint == returned.checkpoint && !broken(Sabotage::NoProgressIsProgress) => {
            Verdict::Fault(no_progress(record, checkpoint))
        }
        (None, Mode::Run) if around.may_hand_over && !broken(Sabotage::NeverHandsOver) => Verdict::HandOver,
        (None, Mode::Run) => Verdict::Go,
    }
}

fn no_progress(record: &TaskRecord, checkpoint: &Json) -> Text {
    let phase = checkpoint
        .get("phase")
        .and_then(Json::as_str)
        .unwrap_or("unnamed");
    format!(
        "task {} returned from phase {phase} without durable progress",
        record.kind
    )
    .into()
}

fn missing_outcome(record: &TaskRecord) -> Text {
    format!(
        "the abort handler of task {} returned without a terminal outcome",
        record.kind
    )
    .into()
}
