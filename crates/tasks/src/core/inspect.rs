//! The inspection of live work (spec 2): derived from the mirror, never stored.

use crate::core::reserve::{Readiness, readiness};
use crate::core::state::{Fit, LiveTask, State};
use crate::inspection::{TaskInspection, TaskInspectionState};
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;

/// Every live task in id order.
pub fn inspect(state: &State, now: Millis) -> Vec<TaskInspection> {
    let tasks = state.live_tasks();
    tasks
        .into_iter()
        .map(|(id, task)| TaskInspection {
            record: Rc::clone(&task.record),
            state: inspect_one(state, id, task, now),
        })
        .collect()
}

fn inspect_one(state: &State, id: TaskId, task: &LiveTask, now: Millis) -> TaskInspectionState {
    if task.record.outcome().is_some() {
        return TaskInspectionState::Completing;
    }
    if task.invocation.is_some() {
        return TaskInspectionState::Running;
    }
    if task.record.abort_requested {
        let on = state.forest.live_below(id);
        if !on.is_empty() {
            return TaskInspectionState::Waiting {
                on,
                until: None,
                external: false,
            };
        }
    } else if let TaskState::Waiting { on, until, .. } = &task.record.state
        && !readiness(state, task).is_ready(now)
    {
        let on: Vec<TaskId> = on.iter().copied().filter(|id| state.is_live(*id)).collect();
        return TaskInspectionState::Waiting {
            on,
            until: *until,
            external: false,
        };
    }
    match &task.fit {
        Fit::Blocked { reason, error } => TaskInspectionState::Blocked {
            reason: *reason,
            error: error.clone(),
        },
        fit => match readiness(state, task) {
            Readiness::Until(at) if at > now && !task.record.abort_requested => {
                TaskInspectionState::Waiting {
                    on: Vec::new(),
                    until: Some(at),
                    external: false,
                }
            }
            Readiness::Parked if !task.record.abort_requested => TaskInspectionState::Waiting {
                on: Vec::new(),
                until: None,
                external: true,
            },
            _ => TaskInspectionState::Ready {
                migrates: matches!(fit, Fit::Untried | Fit::Migrated { .. }),
            },
        },
    }
}
