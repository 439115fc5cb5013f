//! Stored statuses and the filters over them, shared by all backends.

use tidehold_session::records::{
    InputStatus, SubmissionRecord, SubmissionState, TaskRecord, TaskState, WriteStatus,
};
use tidehold_session::storage::{SubmissionStatus, TaskStatus};

pub(crate) fn of_task(record: &TaskRecord) -> TaskStatus {
    match record.state {
        TaskState::Pending { .. } => TaskStatus::Pending,
        TaskState::Running { .. } => TaskStatus::Running,
        TaskState::Waiting { .. } => TaskStatus::Waiting,
        TaskState::Completing { .. } => TaskStatus::Completing,
        TaskState::Terminal { .. } => TaskStatus::Terminal,
    }
}

pub(crate) fn task_name(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "pending",
        TaskStatus::Running => "running",
        TaskStatus::Waiting => "waiting",
        TaskStatus::Completing => "completing",
        TaskStatus::Terminal => "terminal",
    }
}

pub(crate) fn of_submission(record: &SubmissionRecord) -> SubmissionStatus {
    match &record.state {
        SubmissionState::Input(InputStatus::Queued) | SubmissionState::Write(WriteStatus::Queued) => {
            SubmissionStatus::Queued
        }
        SubmissionState::Input(InputStatus::Placed { .. }) => SubmissionStatus::Placed,
        SubmissionState::Input(InputStatus::Done { .. })
        | SubmissionState::Write(WriteStatus::Done { .. }) => SubmissionStatus::Done,
        SubmissionState::Input(InputStatus::Unanswered { .. })
        | SubmissionState::Write(WriteStatus::Unanswered { .. }) => SubmissionStatus::Unanswered,
    }
}

pub(crate) fn submission_name(status: SubmissionStatus) -> &'static str {
    match status {
        SubmissionStatus::Queued => "queued",
        SubmissionStatus::Placed => "placed",
        SubmissionStatus::Done => "done",
        SubmissionStatus::Unanswered => "unanswered",
    }
}
