//! What the registry says about a stored task.

use super::Inner;
use crate::core::apply::Assessment;
use crate::core::state::Fit;
use crate::erased::{ErasedTask, Migrated};
use crate::inspection::BlockedReason;
use crate::registry::TaskRegistry;
use crate::task::Wake;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tidehold_delta::{ConvertError, Json};
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskRecord, TaskState};

/// Judges a record. Asks the definition for nothing but its pure `wake`; migrations wait for a pass.
pub(super) fn assess(registry: &TaskRegistry, record: &TaskRecord) -> Assessment {
    let Some(definition) = registry.get(&record.kind) else {
        return blocked(BlockedReason::MissingTask, None);
    };
    match definition.version().cmp(&record.version) {
        Ordering::Less => blocked(BlockedReason::TaskTooOld, None),
        Ordering::Greater => Assessment {
            fit: Fit::Untried,
            wake: None,
        },
        Ordering::Equal => match read(definition.as_ref(), record) {
            Ok(wake) => Assessment { fit: Fit::Fits, wake },
            // The spec has no word for data that does not fit its own version. Faulting would kill live work because of
            // a bad deploy; blocked, it waits for a repaired definition.
            Err(error) => blocked(BlockedReason::MigrationFailed, Some(error.to_string())),
        },
    }
}

fn blocked(reason: BlockedReason, error: Option<String>) -> Assessment {
    Assessment {
        fit: Fit::Blocked {
            reason,
            error: error.map(Into::into),
        },
        wake: None,
    }
}

fn read(definition: &dyn ErasedTask, record: &TaskRecord) -> Result<Option<Wake>, ConvertError> {
    let Some(checkpoint) = record.checkpoint() else {
        return Ok(None);
    };
    // A running task's input was accepted when it was reserved.
    if !matches!(record.state, TaskState::Running { .. }) {
        definition.accepts(&record.input)?;
    }
    wake(definition, checkpoint)
}

/// A `wake` that panics says nothing.
fn wake(definition: &dyn ErasedTask, checkpoint: &Json) -> Result<Option<Wake>, ConvertError> {
    let asked = catch_unwind(AssertUnwindSafe(|| definition.wake(checkpoint)));
    asked.map_or(Ok(None), |wake| wake.map(Some))
}

/// Runs a definition's migration on a record. `None`: it does not migrate.
pub(super) fn migrate(definition: &dyn ErasedTask, record: &TaskRecord) -> Option<Result<Migrated, String>> {
    let checkpoint = record.checkpoint()?.clone();
    let attempt = || definition.migrate(record.input.clone(), checkpoint, record.version);
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(result) => result,
        Err(panic) => Some(Err(tidehold_session::panics::panic_text(panic.as_ref()))),
    }
}

impl Inner {
    /// Tries the migration of a task whose fit is untried, once per definition.
    pub(super) fn try_migration(&self, id: TaskId) {
        let Some(task) = self.live(id) else { return };
        let Some(definition) = self.registry.get(&task.record.kind) else {
            return;
        };
        let (fit, wake) = match migrate(definition.as_ref(), &task.record) {
            Some(Ok(Migrated { input, checkpoint })) => {
                let wake = wake(definition.as_ref(), &checkpoint).unwrap_or(None);
                let version = definition.version();
                (
                    Fit::Migrated {
                        version,
                        input,
                        checkpoint,
                    },
                    wake,
                )
            }
            failed => {
                let error = failed.and_then(Result::err);
                if let Some(error) = &error {
                    let kind = &task.record.kind;
                    self.report(format!("task {id} ({kind}) could not be migrated: {error}"));
                }
                let Assessment { fit, wake } = blocked(BlockedReason::MigrationFailed, error);
                (fit, wake)
            }
        };
        self.state.borrow_mut().judge(id, Assessment { fit, wake });
    }

    /// Judges the tasks of a kind again after its definition changed.
    pub(super) fn reassess_kind(&self, kind: &str) {
        let judge = |record: &TaskRecord| assess(&self.registry, record);
        self.state.borrow_mut().judge_kind(kind, &judge);
    }
}
