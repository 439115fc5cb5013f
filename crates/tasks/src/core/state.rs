//! The scheduler's mirror: every live task, fed by the open scan and by publications, and by nothing else.

use crate::core::forest::{Forest, Missing};
use crate::core::scope::{Boundaries, Start, reaches_task};
use crate::core::set::Set;
use crate::inspection::BlockedReason;
use crate::task::Wake;
use litemap::LiteMap;
use std::rc::Rc;
use tidehold_delta::{Json, Text};
use tidehold_session::ids::{ConversationId, SubmissionId, TaskId};
use tidehold_session::records::{JoinPolicy, TaskRecord, TaskState};

/// Everything the core decides from.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Live tasks in id order.
    pub tasks: LiteMap<TaskId, LiveTask>,
    pub forest: Forest,
    pub queues: Queues,
    /// Conversation aborts whose marks did not fit one commit, as stored.
    pub aborts: Vec<UnfinishedAbort>,
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
    /// Enabled; what a restart abandons is not marked yet.
    Restarting,
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
    pub loaded: bool,
    pub inputs: LiteMap<SubmissionId, ConversationId>,
}

impl Queues {
    /// Conversations with queued inputs.
    pub fn conversations(&self) -> Set<ConversationId> {
        self.inputs.values().copied().collect()
    }
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
    pub fn record(&self, id: TaskId) -> Option<&Rc<TaskRecord>> {
        self.tasks.get(&id).map(|task| &task.record)
    }

    pub fn is_live(&self, id: TaskId) -> bool {
        self.tasks.contains_key(&id)
    }

    /// Whether tasks are being started.
    pub fn is_scheduling(&self) -> bool {
        matches!(self.stage, Stage::Restarting | Stage::Running)
    }

    /// Owners that live ordinary work holds, if any task is marked: only then somebody asks.
    pub fn holding_marked(&self) -> Set<TaskId> {
        if self.tasks.values().any(|task| task.record.abort_requested) {
            self.forest.holding(self.tasks.keys().copied())
        } else {
            Set::new()
        }
    }

    /// Whether a mark of the task is due, because a live ordinary owner has cancellation intent or by an unfinished abort:
    /// then no run phase of it starts.
    pub fn is_below_intent(&self, id: TaskId) -> bool {
        let cancels = |owner| self.record(owner).is_some_and(|record| record.cancels_below());
        self.forest.ordinary_owners(id).any(cancels) || self.is_being_aborted(id)
    }

    /// Whether an unfinished conversation abort reaches the task.
    pub fn is_being_aborted(&self, id: TaskId) -> bool {
        let reaches = |abort: &UnfinishedAbort| {
            let start = Start::Conversation(abort.conversation);
            id <= abort.last && reaches_task(self, id, start, abort.boundaries)
        };
        self.aborts.iter().any(reaches)
    }

    /// Whether any live task has cancellation intent.
    pub fn has_intent(&self) -> bool {
        self.tasks.values().any(|task| task.record.cancels_below())
    }

    /// Edges and outcomes that decisions need and the mirror does not know.
    pub fn missing(&self) -> Set<Missing> {
        let mut missing: Set<Missing> = self
            .tasks
            .keys()
            .filter_map(|id| self.forest.missing(*id))
            .collect();
        if self.has_intent() {
            let queues = self.queues.inputs.values();
            missing.extend(queues.filter_map(|id| self.forest.missing_above_conversation(*id)));
        }
        for on in self.fail_fast_waits().flat_map(|(_, on)| on) {
            if self.forest.node(*on).is_none() {
                missing.insert(Missing::Task(*on));
            }
        }
        missing
    }

    /// Whether queued inputs from before the open must be looked up: only a cascade needs them.
    pub fn needs_queues(&self) -> bool {
        !self.queues.loaded && self.has_intent()
    }

    /// Waiting tasks that share the fate of what they wait for, and that. An abort mark ends the wait.
    pub fn fail_fast_waits(&self) -> impl Iterator<Item = (TaskId, &Vec<TaskId>)> {
        self.tasks
            .iter()
            .filter_map(|(id, task)| match &task.record.state {
                TaskState::Waiting {
                    on,
                    policy: JoinPolicy::FailFast,
                    ..
                } if !task.record.abort_requested => Some((*id, on)),
                _ => None,
            })
    }

    /// Forgets ended owners that nothing live is below.
    pub fn prune(&mut self) {
        let live: Set<TaskId> = self.tasks.keys().copied().collect();
        let joined = self
            .fail_fast_waits()
            .flat_map(|(_, on)| on.iter().copied())
            .collect();
        self.forest.retain(&live, &self.queues.conversations(), &joined);
    }
}

impl LiveTask {
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
