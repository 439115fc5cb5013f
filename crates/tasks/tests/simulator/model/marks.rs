//! Every mark has a cause.

use super::{Inner, Known};
use tidehold_session::ids::TaskId;
use tidehold_session::records::{AbortMarkReason, JoinPolicy, TaskOutcome, TaskRecord, TaskState};

impl Inner {
    /// A new or replaced mark, on what was published before it.
    pub(super) fn judge_mark(&self, known: &Known, after: &TaskRecord) -> Option<String> {
        let (id, before) = (after.id, &known.record);
        let same =
            (before.abort_requested, before.abort_reason) == (after.abort_requested, after.abort_reason);
        if !after.abort_requested || same {
            return None;
        }
        if before.abort_requested && after.abort_reason.is_some() {
            return Some(format!("task {id} was marked again for a restart"));
        }
        let caused = match after.abort_reason {
            Some(AbortMarkReason::Restart) => {
                known.abandoned || self.owners(id).iter().any(|owner| self.is_restart(*owner))
            }
            None => {
                known.asked
                    || self.is_being_aborted(id)
                    || self.owners(id).iter().any(|owner| self.requests_below(*owner))
                    || self.loses_a_join(id)
            }
        };
        (!caused).then(|| format!("task {id} was marked for no reason"))
    }

    fn is_restart(&self, id: TaskId) -> bool {
        self.tasks
            .get(&id)
            .is_some_and(|task| task.is_live() && (task.record.abort_reason.is_some() || task.abandoned))
    }

    /// Whether the task's intent is more than a restart.
    fn requests_below(&self, id: TaskId) -> bool {
        let Some(task) = self.tasks.get(&id) else {
            return false;
        };
        let holds = matches!(
            &task.record.state,
            TaskState::Completing { outcome } if !matches!(outcome, TaskOutcome::Completed { .. })
        );
        let marked = task.is_live() && task.record.abort_requested && task.record.abort_reason.is_none();
        holds || marked
    }

    /// Whether a conversation abort under way reaches it.
    pub(super) fn is_being_aborted(&self, id: TaskId) -> bool {
        let mut aborts = self.aborts.iter();
        aborts.any(|(_, room, reach)| self.reached(*room, *reach).contains(&id))
    }

    /// Whether a failFast join has failed that the task is part of.
    pub(super) fn loses_a_join(&self, id: TaskId) -> bool {
        self.tasks.values().any(|task| match &task.record.state {
            TaskState::Waiting {
                on,
                policy: JoinPolicy::FailFast,
                ..
            } => !task.record.abort_requested && on.contains(&id) && on.iter().any(|on| self.has_failed(*on)),
            _ => false,
        })
    }

    pub(super) fn has_failed(&self, id: TaskId) -> bool {
        let outcome = self.tasks.get(&id).and_then(|task| task.record.outcome());
        outcome.is_some_and(|outcome| !matches!(outcome, TaskOutcome::Completed { .. }))
    }
}
