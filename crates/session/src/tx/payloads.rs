//! What a record can hold, checked when it is staged: a payload that no storage can write is the caller's error and must not
//! become a failure of the session (spec 10.1). Constant time for values that never held what is refused.

use crate::error::Rejection;
use crate::limits::MAX_TASK_BYTES;
use crate::records::{
    ContextEditAction, EntryDraft, InputStatus, SubmissionState, TaskOutcome, TaskOutcomeError, TaskRecord,
    TaskState, WriteStatus,
};
use crate::weight;
use tidehold_delta::{Json, MAX_DEPTH, MAX_SAFE_INTEGER};

/// A payload at a place of its record that has `above` containers around it: the stored record is what must stay within the
/// depth.
fn check(what: &'static str, value: &Json, above: usize) -> Result<(), Rejection> {
    match value.is_finite() && !value.deeper_than(MAX_DEPTH - above) {
        true => Ok(()),
        false => Err(Rejection::NotStrictJson(what)),
    }
}

fn check_all<'a>(
    what: &'static str,
    values: impl IntoIterator<Item = &'a Json>,
    above: usize,
) -> Result<(), Rejection> {
    values.into_iter().try_for_each(|value| check(what, value, above))
}

fn check_number(what: &'static str, number: u64) -> Result<(), Rejection> {
    match number <= MAX_SAFE_INTEGER {
        true => Ok(()),
        false => Err(Rejection::NumberTooLarge { what, number }),
    }
}

pub(super) fn check_entry(draft: &EntryDraft) -> Result<(), Rejection> {
    check_all("an entry's message", draft.model.iter().flatten(), 2)?;
    check_all("an entry's data", &draft.data, 1)?;
    for edit in draft.edits.iter().flatten() {
        check_number("an edit's target", edit.target.0)?;
        if let ContextEditAction::Replace { messages } = &edit.action {
            check_all("an edit's message", messages, 4)?;
        }
    }
    Ok(())
}

pub(super) fn check_task(record: &TaskRecord) -> Result<(), Rejection> {
    check("a task's input", &record.input, 1)?;
    check_all("a task's memo", record.memos.iter().map(|(_, memo)| memo), 2)?;
    match &record.state {
        TaskState::Pending { checkpoint } | TaskState::Running { checkpoint } => check_checkpoint(checkpoint),
        TaskState::Waiting {
            checkpoint,
            on,
            until,
            ..
        } => {
            check_checkpoint(checkpoint)?;
            let numbers = on.iter().map(|task| task.0).chain(*until);
            numbers
                .into_iter()
                .try_for_each(|number| check_number("a task's wait", number))
        }
        TaskState::Completing { outcome } | TaskState::Terminal { outcome } => check_outcome(outcome),
    }
}

/// Refuses a record that leaves the scheduler no room in a batch, see [`MAX_TASK_BYTES`]. For those who write a task for its
/// creator or its own code; what the scheduler adds later is not judged again.
pub fn check_task_size(record: &TaskRecord) -> Result<(), Rejection> {
    let bytes = weight::of_task(record);
    match bytes <= MAX_TASK_BYTES {
        true => Ok(()),
        false => Err(Rejection::TaskTooLarge {
            bytes,
            limit: MAX_TASK_BYTES,
        }),
    }
}

/// The checkpoint of a task.
pub(super) fn check_checkpoint(checkpoint: &Json) -> Result<(), Rejection> {
    check("a task's checkpoint", checkpoint, 2)
}

fn check_outcome(outcome: &TaskOutcome) -> Result<(), Rejection> {
    let error_detail = |error: &TaskOutcomeError| check_all("a task's error", &error.detail, 4);
    match outcome {
        TaskOutcome::Completed { result } => check("a task's result", result, 3),
        TaskOutcome::Failed { error, result } => {
            error_detail(error)?;
            check_all("a task's result", result, 3)
        }
        TaskOutcome::Aborted { result, .. } => check_all("a task's result", result, 3),
        TaskOutcome::Orphaned { .. } => Ok(()),
        TaskOutcome::Faulted { error } => error_detail(error),
    }
}

pub(super) fn check_submission(state: &SubmissionState) -> Result<(), Rejection> {
    let (SubmissionState::Input(InputStatus::Unanswered { detail, .. })
    | SubmissionState::Write(WriteStatus::Unanswered { detail, .. })) = state
    else {
        return Ok(());
    };
    check_detail(detail.as_ref())
}

/// The detail of a settlement.
pub(super) fn check_detail(detail: Option<&Json>) -> Result<(), Rejection> {
    check_all("a settlement's detail", detail, 1)
}
