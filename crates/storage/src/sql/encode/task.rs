//! Task records, with their states and outcomes.

use super::Writer;
use tidehold_delta::{Json, write_string};
use tidehold_session::records::{
    AbortMarkReason, JoinPolicy, TaskOutcome, TaskOutcomeError, TaskRecord, TaskState,
};

impl Writer<'_> {
    pub(in crate::sql) fn task(&mut self, record: &TaskRecord) {
        let TaskRecord {
            id,
            conversation_id,
            kind,
            version,
            input,
            owner,
            background,
            abort_requested,
            abort_reason,
            abandon_on_restart,
            started_at,
            ended_at,
            state,
            memos,
        } = record;
        self.open();
        self.number("id", id.0);
        self.number("conversationId", conversation_id.0);
        self.string("kind", kind);
        self.number("version", u64::from(*version));
        self.member("input", input, 1);
        self.optional_number("owner", owner.map(|owner| owner.0));
        self.flag("background", *background);
        self.flag("abortRequested", *abort_requested);
        if let Some(AbortMarkReason::Restart) = abort_reason {
            self.string("abortReason", "restart");
        }
        if *abandon_on_restart {
            self.flag("abandonOnRestart", true);
        }
        self.optional_number("startedAt", *started_at);
        self.optional_number("endedAt", *ended_at);
        self.key("state");
        self.open();
        self.state(state);
        self.close();
        if !memos.is_empty() {
            self.key("memos");
            self.open();
            for (name, value) in memos {
                self.separate();
                write_string(self.text, name);
                self.text.push(':');
                self.value(value, 2);
            }
            self.close();
        }
        self.close();
    }

    fn state(&mut self, state: &TaskState) {
        match state {
            TaskState::Pending { checkpoint } => self.checkpoint("pending", checkpoint),
            TaskState::Running { checkpoint } => self.checkpoint("running", checkpoint),
            TaskState::Waiting {
                checkpoint,
                on,
                policy,
                until,
            } => {
                self.checkpoint("waiting", checkpoint);
                self.list("on", on, |writer, task| writer.element(task.0));
                let policy = match policy {
                    JoinPolicy::FailFast => "failFast",
                    JoinPolicy::AllSettled => "allSettled",
                };
                self.string("policy", policy);
                self.optional_number("until", *until);
            }
            TaskState::Completing { outcome } => self.outcome("completing", outcome),
            TaskState::Terminal { outcome } => self.outcome("terminal", outcome),
        }
    }

    fn checkpoint(&mut self, status: &str, checkpoint: &Json) {
        self.string("status", status);
        self.member("checkpoint", checkpoint, 2);
    }

    fn outcome(&mut self, status: &str, outcome: &TaskOutcome) {
        self.string("status", status);
        self.key("outcome");
        self.open();
        match outcome {
            TaskOutcome::Completed { result } => {
                self.string("status", "completed");
                self.member("result", result, 3);
            }
            TaskOutcome::Failed { error, result } => {
                self.string("status", "failed");
                self.error(error);
                self.optional_member("result", result.as_ref(), 3);
            }
            TaskOutcome::Aborted { reason, result } => {
                self.string("status", "aborted");
                self.optional_string("reason", reason.as_deref());
                self.optional_member("result", result.as_ref(), 3);
            }
            TaskOutcome::Orphaned { reason } => {
                self.string("status", "orphaned");
                self.string("reason", reason);
            }
            TaskOutcome::Faulted { error } => {
                self.string("status", "faulted");
                self.error(error);
            }
        }
        self.close();
    }

    fn error(&mut self, error: &TaskOutcomeError) {
        let TaskOutcomeError { message, detail } = error;
        self.key("error");
        self.open();
        self.string("message", message);
        self.optional_member("detail", detail.as_ref(), 4);
        self.close();
    }
}
