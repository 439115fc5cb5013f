//! The scheduler's mirror: every live task, fed by the open scan and by publications, and by nothing else.
//!
//! What decisions ask for is kept up to date instead of being computed over all tasks: edges and counts in the forest, who
//! waits for whom in [`State::waits`], and how each task stands in the agenda. Changes come in by the doors of `enter`,
//! which note what they touch; `touch` then lets exactly that stand anew.

use crate::core::agenda::{Agenda, Standing};
use crate::core::apply::Assessment;
use crate::core::forest::{Forest, Missing, Place, Reach};
use crate::core::index::{IdMap, Index};
use crate::core::scope::{Boundaries, Start, reaches_task};
use crate::core::touch::Calmed;
use crate::inspection::BlockedReason;
use crate::task::Wake;
use std::rc::Rc;
use tidehold_delta::{Json, Text};
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskOutcome, TaskRecord};

/// Everything the core decides from.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(super) tasks: IdMap<TaskId, LiveTask>,
    pub(super) forest: Forest,
    /// `(target, waiter)` of every durable wait that no abort mark ended.
    pub(super) waits: Index,
    /// How many live tasks have cancellation intent.
    pub(super) intents: usize,
    pub(super) queues: Queues,
    /// Conversation aborts whose marks did not fit one commit, as stored.
    pub(super) aborts: Vec<UnfinishedAbort>,
    pub(super) agenda: Agenda,
    pub(super) touched: Touched,
    pub stage: Stage,
    /// Opens with due work since a task last committed, as stored.
    pub opens: u32,
}

/// How far scheduling has come since the open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Nothing asked for progress yet.
    #[default]
    Paused,
    Running,
    /// Closing, closed or failed.
    Ended,
}

/// A live task and what memory knows about it.
#[derive(Clone, Debug)]
pub struct LiveTask {
    pub record: Rc<TaskRecord>,
    pub fit: Fit,
    /// The definition's wake for the checkpoint; `None` where it cannot be asked. Trying is then the safe answer.
    pub wake: Option<Wake>,
    /// The active invocation.
    pub invocation: Option<Mode>,
    /// Live when this scheduler opened, and not started since.
    pub recovered: bool,
    /// Derived: of its wait.
    pub(super) join: Join,
    /// Derived: what the agenda holds of it.
    pub(super) standing: Standing,
}

/// What became of those a task waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Join {
    /// How many of them are live.
    pub open: u32,
    /// Whether one of them failed, or holds a failure, and all of them share its fate.
    pub lost: bool,
}

/// What an invocation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Run,
    Abort,
}

/// What the registry can do with a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Fit {
    /// Its definition takes it as it is.
    Fits,
    /// Stored by an older version; no migration was tried under the present definition.
    Untried,
    /// Migrated in memory; the reservation stores it.
    Migrated {
        version: u32,
        input: Json,
        checkpoint: Json,
    },
    Blocked {
        reason: BlockedReason,
        error: Option<Text>,
    },
}

/// Queued inputs and their conversations.
#[derive(Clone, Debug, Default)]
pub struct Queues {
    /// Whether those queued before the open are among them.
    pub(super) loaded: bool,
    /// `(conversation, submission)`.
    pub(super) inputs: Index,
}

/// A conversation abort of which a part of the marks is still to be set. It reaches what was live when it was admitted, so
/// nothing that was created later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnfinishedAbort {
    pub conversation: ConversationId,
    pub boundaries: Boundaries,
    /// The newest task it reaches.
    pub last: TaskId,
}

/// What must stand anew, and who must be told.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Tasks, and conversations with queued inputs.
    pub(super) places: Vec<Place>,
    /// Tasks whose cancellation intent changed: all that it reaches.
    pub(super) intents: Vec<TaskId>,
    /// Kept until the runner takes it.
    pub(super) calmed: Calmed,
    /// How many places stood anew so far.
    #[cfg(test)]
    pub(super) stood: usize,
}

/// Name of the memo that counts pokes. Stored, so that a poke before a crash still wakes a parked task after it.
pub const POKES: &str = "tidehold.pokes";

/// Name of the memo that says how many of them are answered: the task committed a state, or waits again, with knowledge of
/// them. A start alone is no answer, since a crash would lose what it was started for.
const ANSWERED: &str = "tidehold.answered";

/// Memo names that start with this are the scheduler's own.
pub const OWN_MEMOS: &str = "tidehold.";

fn count(record: &TaskRecord, memo: &str) -> u64 {
    record.memos.get(memo).and_then(Json::as_u64).unwrap_or(0)
}

/// All pokes of a record so far.
pub fn pokes(record: &TaskRecord) -> u64 {
    count(record, POKES)
}

/// Pokes that still have to wake it.
pub fn unanswered(record: &TaskRecord) -> u64 {
    pokes(record).saturating_sub(count(record, ANSWERED))
}

/// Takes note that the task knows of its first `seen` pokes.
pub fn answer(record: &mut TaskRecord, seen: u64) {
    if seen > count(record, ANSWERED) {
        record.memos.insert(ANSWERED, seen.into());
    }
}

impl State {
    pub fn task(&self, id: TaskId) -> Option<&LiveTask> {
        self.tasks.get(&id)
    }

    pub fn record(&self, id: TaskId) -> Option<&Rc<TaskRecord>> {
        self.tasks.get(&id).map(|task| &task.record)
    }

    pub fn is_live(&self, id: TaskId) -> bool {
        self.tasks.contains_key(&id)
    }

    /// How many tasks are live.
    pub fn live_count(&self) -> usize {
        self.tasks.len()
    }

    /// Live tasks in id order.
    pub fn live_tasks(&self) -> Vec<(TaskId, &LiveTask)> {
        let mut tasks: Vec<_> = self.tasks.iter().map(|(id, task)| (*id, task)).collect();
        tasks.sort_unstable_by_key(|(id, _)| *id);
        tasks
    }

    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// Whether tasks are being started.
    pub fn is_scheduling(&self) -> bool {
        self.stage == Stage::Running
    }

    pub fn cancels_below(&self, owner: TaskId) -> bool {
        self.record(owner).is_some_and(|record| record.cancels_below())
    }

    /// Whether a mark of the task is due, because a live ordinary owner has cancellation intent or by an unfinished abort:
    /// then no run phase of it starts.
    pub fn is_below_intent(&self, id: TaskId) -> bool {
        // Nearly always there is no intent, and no chain needs a walk.
        let cancelled = self.intents > 0
            && self
                .forest
                .view()
                .ordinary_owners(id)
                .any(|owner| self.cancels_below(owner));
        cancelled || self.is_being_aborted(id)
    }

    /// Whether an unfinished conversation abort reaches the task.
    pub fn is_being_aborted(&self, id: TaskId) -> bool {
        let reaches = |abort: &UnfinishedAbort| {
            let start = Start::Conversation(abort.conversation);
            id <= abort.last && reaches_task(self, id, start, abort.boundaries)
        };
        self.aborts.iter().any(reaches)
    }

    /// An edge or outcome that decisions need and the mirror does not know.
    pub fn first_missing(&self) -> Option<Missing> {
        // Only a cascade asks for what is above a queue.
        let weakest = if self.intents > 0 {
            Reach::Queued
        } else {
            Reach::Beyond
        };
        self.forest.first_missing(weakest)
    }

    pub fn has_loaded_queues(&self) -> bool {
        self.queues.loaded
    }

    /// Whether queued inputs from before the open must be looked up: only a cascade needs them.
    pub fn needs_queues(&self) -> bool {
        !self.queues.loaded && self.intents > 0
    }

    /// Whether the marks of every unfinished abort are set once no other action is left. Without live work it can wait.
    pub(super) fn has_aborts_to_end(&self) -> bool {
        !self.aborts.is_empty() && !self.tasks.is_empty()
    }
}

/// Whether a live task holds an outcome other than success.
pub(super) fn has_failed(record: &TaskRecord) -> bool {
    let failed = |outcome: &TaskOutcome| !matches!(outcome, TaskOutcome::Completed { .. });
    record.outcome().is_some_and(failed)
}

impl LiveTask {
    pub fn new(record: Rc<TaskRecord>, assessment: Assessment) -> Self {
        Self {
            record,
            fit: assessment.fit,
            wake: assessment.wake,
            invocation: None,
            recovered: false,
            join: Join::default(),
            standing: Standing::default(),
        }
    }

    /// Whether the first pass after the open abandons it.
    pub fn awaits_restart_mark(&self) -> bool {
        self.recovered && self.record.abandon_on_restart && !self.record.abort_requested
    }

    /// Whether it is pending and known to run without a poke. Of a definition that cannot be asked nothing is known: a
    /// later one may park the task.
    pub fn will_run(&self) -> bool {
        self.fit == Fit::Fits && self.wake == Some(Wake::Now)
    }

    /// Whether no installed definition can take it.
    pub fn blocked(&self) -> Option<BlockedReason> {
        match &self.fit {
            Fit::Blocked { reason, .. } => Some(*reason),
            _ => None,
        }
    }
}
