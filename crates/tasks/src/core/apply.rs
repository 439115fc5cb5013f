//! Taking a publication into the mirror.

use crate::core::forest::node_of;
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
        state
            .forest
            .insert_conversation(conversation.id, conversation.owner.map(|owner| owner.task_id));
    }
    for submission in &publication.submissions {
        let inputs = &mut state.queues.inputs;
        if matches!(submission.state, SubmissionState::Input(InputStatus::Queued)) {
            let known = inputs.insert(submission.id, submission.conversation_id);
            changes.relevant |= known.is_none();
        } else {
            inputs.remove(&submission.id);
        }
    }
    for change in &publication.tasks {
        changes.relevant = true;
        apply_task(state, change, oracle, &mut changes);
    }
    for document in &publication.documents {
        if let Some(value) = recovery_value(document) {
            state.opens = recovery::read(value);
            state.aborts = recovery::aborts(value);
        }
    }
    changes
}

fn apply_task(state: &mut State, change: &TaskChange, oracle: Oracle<'_>, changes: &mut Changes) {
    let record = &change.after;
    let id = record.id;
    state.forest.insert(id, node_of(record));
    if !record.is_live() {
        state.tasks.remove(&id);
        changes.ended.push(Rc::clone(record));
        return;
    }
    let before = change.before.as_deref();
    let known = state.tasks.remove(&id);
    let mut task = admit(record, oracle.assess, known);
    if is_running(record) && task.invocation.is_none() && (oracle.starting)(id) {
        let mode = if record.abort_requested {
            Mode::Abort
        } else {
            Mode::Run
        };
        task.invocation = Some(mode);
        changes.started.push((id, mode));
    }
    let marked = record.abort_requested && !before.is_some_and(|before| before.abort_requested);
    if marked && task.invocation == Some(Mode::Run) {
        changes.aborted.push(id);
    }
    if pokes(record) > before.map_or(0, pokes) {
        changes.poked.push(id);
    }
    state.tasks.insert(id, task);
}

fn is_running(record: &TaskRecord) -> bool {
    matches!(record.state, TaskState::Running { .. })
}

/// The mirror entry of a live record, keeping what memory knew.
fn admit(
    record: &Rc<TaskRecord>,
    assess: &dyn Fn(&TaskRecord) -> Assessment,
    known: Option<LiveTask>,
) -> LiveTask {
    let (invocation, recovered) = known
        .as_ref()
        .map_or((None, false), |task| (task.invocation, task.recovered));
    // What was read stays read while it is unchanged: a mark or poke decodes nothing, a migration is not tried again.
    let unchanged = known.filter(|known| same_source(&known.record, record));
    let (fit, wake) = match unchanged {
        Some(known) => (known.fit, known.wake),
        None => {
            let Assessment { fit, wake } = assess(record);
            (fit, wake)
        }
    };
    LiveTask {
        record: Rc::clone(record),
        fit,
        wake,
        invocation,
        recovered,
    }
}

fn same_source(a: &TaskRecord, b: &TaskRecord) -> bool {
    let same_checkpoint = match (a.checkpoint(), b.checkpoint()) {
        (Some(a), Some(b)) => a.same(b),
        _ => false,
    };
    a.version == b.version && same_checkpoint && a.input.same(&b.input)
}

/// Adds a live task found at the open.
pub fn admit_recovered(
    state: &mut State,
    record: Rc<TaskRecord>,
    assess: &dyn Fn(&TaskRecord) -> Assessment,
) {
    state.forest.insert(record.id, node_of(&record));
    let task = LiveTask {
        recovered: true,
        ..admit(&record, assess, None)
    };
    state.tasks.insert(record.id, task);
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
