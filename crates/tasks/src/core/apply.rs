//! Taking a publication into the mirror.

use crate::core::state::{Fit, LiveTask, Mode, State, pokes};
use crate::recovery;
use crate::task::Wake;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::ids::TaskId;
use tidehold_session::publication::{DocumentChange, DocumentChangeKind, Publication, TaskChange};
use tidehold_session::records::{InputStatus, SubmissionState, TaskRecord, TaskState};

/// What the registry says about a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub fit: Fit,
    pub wake: Option<Wake>,
}

/// What the mirror asks its runner while it takes a publication in.
#[derive(Clone, Copy)]
pub struct Oracle<'a> {
    pub assess: &'a dyn Fn(&TaskRecord) -> Assessment,
    /// Whether this publication is the task's reservation.
    pub starting: &'a dyn Fn(TaskId) -> bool,
}

/// What the runner must do about a publication, in this turn.
#[derive(Debug, Default)]
pub struct Changes {
    /// Tasks whose reservation this publication is: their invocations start.
    pub started: Vec<(TaskId, Mode)>,
    /// Tasks with an active run invocation and a new abort mark: it is signalled.
    pub aborted: Vec<TaskId>,
    pub poked: Vec<TaskId>,
    /// Terminal receipts, for waiters.
    pub ended: Vec<Rc<TaskRecord>>,
    /// Whether any decision may change.
    pub relevant: bool,
}

/// Updates the mirror.
pub fn apply(state: &mut State, publication: &Publication, oracle: Oracle<'_>) -> Changes {
    let mut changes = Changes::default();
    for conversation in &publication.conversations {
        let owner = conversation.owner.map(|owner| owner.task_id);
        state.forest.insert_conversation(conversation.id, owner);
    }
    for submission in &publication.submissions {
        if matches!(submission.state, SubmissionState::Input(InputStatus::Queued)) {
            changes.relevant |= state.queue(submission.conversation_id, submission.id);
        } else {
            state.unqueue(submission.conversation_id, submission.id);
        }
    }
    for change in &publication.tasks {
        changes.relevant = true;
        apply_task(state, change, oracle, &mut changes);
    }
    for document in &publication.documents {
        if let Some(value) = recovery_value(document) {
            state.opens = recovery::read(value);
            state.set_aborts(recovery::aborts(value));
        }
    }
    state.settle();
    state.forest.trim();
    changes
}

fn apply_task(state: &mut State, change: &TaskChange, oracle: Oracle<'_>, changes: &mut Changes) {
    let record = &change.after;
    let id = record.id;
    if !record.is_live() {
        state.end(record);
        changes.ended.push(Rc::clone(record));
        return;
    }
    let before = change.before.as_deref();
    let mut task = admit(record, oracle.assess, state.task(id));
    if is_running(record) && task.invocation.is_none() && (oracle.starting)(id) {
        let mode = if record.abort_requested {
            Mode::Abort
        } else {
            Mode::Run
        };
        task.invocation = Some(mode);
        task.recovered = false;
        changes.started.push((id, mode));
    }
    let marked = record.abort_requested && !before.is_some_and(|before| before.abort_requested);
    if marked && task.invocation == Some(Mode::Run) {
        changes.aborted.push(id);
    }
    if pokes(record) > before.map_or(0, pokes) {
        changes.poked.push(id);
    }
    state.put(task);
}

fn is_running(record: &TaskRecord) -> bool {
    matches!(record.state, TaskState::Running { .. })
}

/// The mirror entry of a live record, keeping what memory knew.
fn admit(
    record: &Rc<TaskRecord>,
    assess: &dyn Fn(&TaskRecord) -> Assessment,
    known: Option<&LiveTask>,
) -> LiveTask {
    let (invocation, recovered) = known.map_or((None, false), |task| (task.invocation, task.recovered));
    // What was read stays read while it is unchanged: a mark or poke decodes nothing, a migration is not tried again.
    let unchanged = known.filter(|known| same_source(&known.record, record));
    let assessment = match unchanged {
        Some(known) => Assessment {
            fit: known.fit.clone(),
            wake: known.wake,
        },
        None => assess(record),
    };
    LiveTask {
        invocation,
        recovered,
        ..LiveTask::new(Rc::clone(record), assessment)
    }
}

fn same_source(a: &TaskRecord, b: &TaskRecord) -> bool {
    let same_checkpoint = match (a.checkpoint(), b.checkpoint()) {
        (Some(a), Some(b)) => a.same(b),
        _ => false,
    };
    a.version == b.version && same_checkpoint && a.input.same(&b.input)
}

/// Adds live tasks found at the open.
pub fn admit_recovered(
    state: &mut State,
    records: impl IntoIterator<Item = Rc<TaskRecord>>,
    assess: &dyn Fn(&TaskRecord) -> Assessment,
) {
    for record in records {
        state.put(LiveTask {
            recovered: true,
            ..admit(&record, assess, None)
        });
    }
    state.settle();
}

fn recovery_value(change: &DocumentChange) -> Option<&Json> {
    if *change.record.kind != *recovery::RECOVERY.kind() {
        return None;
    }
    match &change.kind {
        DocumentChangeKind::Created { value } | DocumentChangeKind::Changed { value, .. } => Some(value),
        DocumentChangeKind::Copied { .. } | DocumentChangeKind::Retired => None,
    }
}
