//! About what a write takes once it is encoded: its JSON payloads, and a constant for the record around them.
//!
//! Every record is taken apart by name, so that a new member has to be weighed too.

use crate::records::{
    ContextEdit, ContextEditAction, EntryRecord, InputStatus, SubmissionRecord, SubmissionState, TaskOutcome,
    TaskOutcomeError, TaskRecord, TaskState, WriteStatus,
};
use crate::storage::{DocumentContent, StorageWrite};
use tidehold_delta::{Json, Op};

const RECORD: usize = 128;
const OP: usize = 32;

/// Encoded bytes of one write, about.
pub(crate) fn of_write(write: &StorageWrite) -> usize {
    match write {
        StorageWrite::Conversation(_)
        | StorageWrite::DocumentCopy { .. }
        | StorageWrite::DocumentRetire { .. } => RECORD,
        StorageWrite::Entry(entry) => of_entry(entry),
        StorageWrite::Task(task) => of_task(task),
        StorageWrite::Submission(submission) => of_submission(submission),
        StorageWrite::DocumentCreate { record, value, .. } => {
            RECORD + record.kind.len() + record.key.as_ref().map_or(0, |key| key.len()) + value.encoded_len()
        }
        StorageWrite::DocumentChange { content, .. } => RECORD + of_content(content),
    }
}

fn of_content(content: &DocumentContent) -> usize {
    match content {
        DocumentContent::Base { value, .. } => value.encoded_len(),
        DocumentContent::Delta { ops, .. } => ops.iter().map(of_op).sum(),
    }
}

/// Encoded bytes of an entry, about.
pub(crate) fn of_entry(entry: &EntryRecord) -> usize {
    let EntryRecord {
        kind,
        model,
        data,
        edits,
        ..
    } = entry;
    RECORD + kind.len() + of_carried(model.as_deref(), data.as_ref(), edits.as_deref())
}

/// Encoded bytes of what an entry carries, recorded or drafted, about.
pub fn of_carried(model: Option<&[Json]>, data: Option<&Json>, edits: Option<&[ContextEdit]>) -> usize {
    of_messages(model) + of_optional(data) + of_edits(edits)
}

/// Encoded bytes of the messages that edits put in place of others, about.
fn of_edits(edits: Option<&[ContextEdit]>) -> usize {
    let one = |edit: &ContextEdit| match &edit.action {
        ContextEditAction::Omit => OP,
        ContextEditAction::Replace { messages } => OP + of_messages(Some(messages)),
    };
    edits.unwrap_or_default().iter().map(one).sum()
}

/// Encoded bytes of a task's record, about.
pub fn of_task(task: &TaskRecord) -> usize {
    let TaskRecord {
        input, state, memos, ..
    } = task;
    let memos: usize = memos
        .iter()
        .map(|(name, value)| name.len() + value.encoded_len())
        .sum();
    let state = match state {
        TaskState::Pending { checkpoint } | TaskState::Running { checkpoint } => checkpoint.encoded_len(),
        TaskState::Waiting { checkpoint, on, .. } => checkpoint.encoded_len() + on.len() * OP,
        TaskState::Completing { outcome } | TaskState::Terminal { outcome } => of_outcome(outcome),
    };
    RECORD + input.encoded_len() + state + memos
}

fn of_outcome(outcome: &TaskOutcome) -> usize {
    match outcome {
        TaskOutcome::Completed { result } => result.encoded_len(),
        TaskOutcome::Failed { error, result } => of_error(error) + of_optional(result.as_ref()),
        TaskOutcome::Aborted { reason, result } => {
            reason.as_ref().map_or(0, |reason| reason.len()) + of_optional(result.as_ref())
        }
        TaskOutcome::Orphaned { reason } => reason.len(),
        TaskOutcome::Faulted { error } => of_error(error),
    }
}

fn of_error(error: &TaskOutcomeError) -> usize {
    let TaskOutcomeError { message, detail } = error;
    message.len() + of_optional(detail.as_ref())
}

fn of_submission(submission: &SubmissionRecord) -> usize {
    let (SubmissionState::Input(InputStatus::Unanswered { reason, detail, .. })
    | SubmissionState::Write(WriteStatus::Unanswered { reason, detail })) = &submission.state
    else {
        return RECORD;
    };
    RECORD + reason.len() + of_optional(detail.as_ref())
}

fn of_messages(messages: Option<&[Json]>) -> usize {
    messages.unwrap_or_default().iter().map(Json::encoded_len).sum()
}

fn of_optional(value: Option<&Json>) -> usize {
    value.map_or(0, Json::encoded_len)
}

fn of_op(op: &Op) -> usize {
    OP + match op {
        Op::Replace(value) | Op::Set(_, value) => value.encoded_len(),
        Op::Append(_, text) => text.len(),
        Op::Splice { items, .. } => items.iter().map(Json::encoded_len).sum(),
        Op::Move(_, order) => order.len() * 4,
        Op::Delete(_) | Op::TrimStart(..) => 0,
    }
}
