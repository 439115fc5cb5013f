//! What the registry says about a stored task.

use super::Inner;
use crate::core::apply::Assessment;
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::Fit;
use crate::erased::{ErasedTask, Migrated};
use crate::inspection::BlockedReason;
use crate::registry::TaskRegistry;
use crate::task::Wake;
use std::cmp::Ordering;
use std::rc::Rc;
use tidehold_delta::ConvertError;
use tidehold_session::ids::TaskId;
use tidehold_session::panics::{caught_call, panic_text};
use tidehold_session::records::{TaskRecord, TaskState};
use tidehold_session::tx::payloads::check_task_size;

/// A migration that failed. It is not tried again under the same definition object, also when that was removed meanwhile.
pub(super) struct FailedMigration {
    definition: Rc<dyn ErasedTask>,
    error: String,
}

/// Judges a record. Runs nothing of the definition but what is pure and cheap; migrations wait for a pass.
fn assess(registry: &TaskRegistry, record: &TaskRecord) -> Assessment {
    let Some(definition) = registry.get(&record.kind) else {
        return blocked(BlockedReason::MissingTask, None);
    };
    match definition.version().cmp(&record.version) {
        Ordering::Less if !broken(Sabotage::TakesNewer) => blocked(BlockedReason::TaskTooOld, None),
        Ordering::Greater if migrates(definition.as_ref(), record.version) => Assessment {
            fit: Fit::Untried,
            wake: None,
        },
        Ordering::Greater => {
            let (kind, version) = (&record.kind, definition.version());
            let error = format!(
                "version {version} of {kind} migrates no version {}",
                record.version
            );
            blocked(BlockedReason::MigrationFailed, Some(error))
        }
        Ordering::Less | Ordering::Equal => match read(definition.as_ref(), record) {
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
    let reads_input = !matches!(record.state, TaskState::Running { .. });
    unless_it_panics(|| {
        if reads_input {
            definition.accepts(&record.input)?;
        }
        definition.wake(checkpoint)
    })
}

/// A definition that panics here has no migration.
fn migrates(definition: &dyn ErasedTask, from_version: u32) -> bool {
    caught_call(|| definition.migrates(from_version)).unwrap_or(false)
}

/// A definition that panics, also while it reads what is stored, says nothing. Its task is tried, and faults there.
fn unless_it_panics(ask: impl FnOnce() -> Result<Wake, ConvertError>) -> Result<Option<Wake>, ConvertError> {
    caught_call(ask).map_or(Ok(None), |wake| wake.map(Some))
}

/// Whether a definition can reserve a task at its next start: of the same version, or of a higher one that migrates (spec
/// 5.4). How a migration ends is seen when the task is reserved.
pub(super) fn can_reserve(definition: &dyn ErasedTask, record: &TaskRecord) -> bool {
    match definition.version().cmp(&record.version) {
        Ordering::Equal => true,
        Ordering::Less => false,
        Ordering::Greater => migrates(definition, record.version),
    }
}

/// Runs a definition's migration on a record, with the wake of what it yields.
fn migrated(definition: &dyn ErasedTask, record: &TaskRecord) -> Result<Assessment, String> {
    let checkpoint = record.checkpoint().cloned().unwrap_or_default();
    let attempt = || definition.migrate(record.input.clone(), checkpoint, record.version);
    let Migrated { input, checkpoint } = match caught_call(attempt) {
        Ok(Some(result)) => result?,
        // It said otherwise before.
        Ok(None) => return Err(format!("version {} is not supported", record.version)),
        Err(panic) => return Err(panic_text(panic.as_ref())),
    };
    let mut yielded = record.clone();
    yielded.input = input.clone();
    yielded.state = TaskState::Running {
        checkpoint: checkpoint.clone(),
    };
    check_task_size(&yielded).map_err(|error| error.to_string())?;
    let wake = unless_it_panics(|| definition.wake(&checkpoint)).unwrap_or(None);
    let version = definition.version();
    let fit = Fit::Migrated {
        version,
        input,
        checkpoint,
    };
    Ok(Assessment { fit, wake })
}

impl Inner {
    /// What the present registry says about a record.
    pub(super) fn assess(&self, record: &TaskRecord) -> Assessment {
        let assessment = assess(&self.registry, record);
        match self.failed_before(record) {
            Some(error) if assessment.fit == Fit::Untried => {
                blocked(BlockedReason::MigrationFailed, Some(error))
            }
            _ => assessment,
        }
    }

    /// How the present definition failed to migrate the record, if it did.
    fn failed_before(&self, record: &TaskRecord) -> Option<String> {
        let failed = self.failed_migrations.borrow();
        let failed = failed.get(&record.id)?;
        let present = self.registry.get(&record.kind)?;
        present
            .is(failed.definition.as_ref())
            .then(|| failed.error.clone())
    }

    /// Tries the migration of a task whose fit is untried; a failure is reported, and final for the definition object.
    pub(super) fn try_migration(&self, id: TaskId) {
        let Some(task) = self.live(id) else { return };
        let Some(definition) = self.registry.get(&task.record.kind) else {
            return;
        };
        let assessment = migrated(definition.as_ref(), &task.record).unwrap_or_else(|error| {
            let kind = &task.record.kind;
            self.report(format!("task {id} ({kind}) could not be migrated: {error}"));
            let failed = FailedMigration {
                definition,
                error: error.clone(),
            };
            self.failed_migrations.borrow_mut().insert(id, failed);
            blocked(BlockedReason::MigrationFailed, Some(error))
        });
        self.state.borrow_mut().judge(id, assessment);
    }

    /// Judges the tasks of a kind again after its definition changed.
    pub(super) fn reassess_kind(&self, kind: &str) {
        let judge = |record: &TaskRecord| self.assess(record);
        self.state.borrow_mut().judge_kind(kind, &judge);
    }
}
