//! The records a session commits (spec 2 and 5.1): conversations, entries, submissions and tasks.
//!
//! They serialize to the JSON of the spec (camelCase, absent instead of null), which is also what storage keeps.

use crate::host::Millis;
use crate::ids::{ConversationId, EntryId, SubmissionId, TaskId};
use serde::Serialize;
use tidehold_delta::{ConvertError, FromJson, Json, Object, Text, present};

/// A transcript scope (spec 2).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ConversationRecord {
    pub id: ConversationId,
    /// Inherited history: everything visible through `at` in the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ConversationParent>,
    /// The task that created it; never retired with the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<ConversationOwner>,
}

/// Where a fork leaves its parent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ConversationParent {
    pub conversation_id: ConversationId,
    pub at: EntryId,
}

/// The owning task and, derived from it, the owner's conversation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct ConversationOwner {
    pub conversation_id: ConversationId,
    pub task_id: TaskId,
}

/// Who owns a new conversation; always explicit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConversationOwnership {
    Ownerless,
    Task(TaskId),
}

/// An immutable transcript record (spec 2).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct EntryRecord {
    pub id: EntryId,
    pub conversation_id: ConversationId,
    pub kind: Text,
    /// Model messages in the shape of the models crate; the kernel reads only what context derivation needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<Json>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[json(with = "present")]
    pub data: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<ContextEdit>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_task_id: Option<TaskId>,
}

/// One edit of the derived context (spec 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct ContextEdit {
    pub target: EntryId,
    #[serde(flatten)]
    pub action: ContextEditAction,
}

/// What an edit does to its target's model messages.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "action", rename_all = "camelCase")]
pub enum ContextEditAction {
    Omit,
    Replace { messages: Vec<Json> },
}

/// A new entry before its id is minted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct EntryDraft {
    pub kind: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Vec<Json>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[json(with = "present")]
    pub data: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<DraftHead>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Vec<ContextEdit>>,
}

impl EntryDraft {
    /// An entry that carries model messages only.
    pub fn of_messages(kind: impl Into<Text>, model: Vec<Json>) -> Self {
        Self {
            kind: kind.into(),
            model: Some(model),
            ..Self::default()
        }
    }
}

/// The head of a draft: an entry, or the new entry itself (`"self"`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DraftHead {
    Itself,
    Entry(EntryId),
}

impl Serialize for DraftHead {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Itself => serializer.serialize_str("self"),
            Self::Entry(id) => id.serialize(serializer),
        }
    }
}

impl FromJson for DraftHead {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        match json.as_str() {
            Some("self") => Ok(Self::Itself),
            Some(_) => Err(ConvertError::mismatch("expected an entry id or \"self\"")),
            None => EntryId::from_json(json).map(Self::Entry),
        }
    }
}

/// An admitted input or write and how it stands (spec 2 and 6).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct SubmissionRecord {
    pub id: SubmissionId,
    pub conversation_id: ConversationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Text>,
    /// Digest of what was submitted, so that a reused request id with other content can be told apart. Ours, additive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<Text>,
    #[serde(flatten)]
    pub state: SubmissionState,
}

impl SubmissionRecord {
    /// Settled records never change again.
    pub fn is_settled(&self) -> bool {
        match &self.state {
            SubmissionState::Input(status) => {
                matches!(status, InputStatus::Done { .. } | InputStatus::Unanswered { .. })
            }
            SubmissionState::Write(status) => !matches!(status, WriteStatus::Queued),
        }
    }

    /// Still in the inbox.
    pub fn is_queued(&self) -> bool {
        matches!(
            self.state,
            SubmissionState::Input(InputStatus::Queued) | SubmissionState::Write(WriteStatus::Queued)
        )
    }
}

/// The two kinds of submissions, each with its own statuses.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum SubmissionState {
    Input(InputStatus),
    Write(WriteStatus),
}

/// An input: queued, placed in the transcript, then answered or not.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum InputStatus {
    Queued,
    Placed {
        entry: EntryId,
    },
    Done {
        entry: EntryId,
        answer: EntryId,
    },
    Unanswered {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry: Option<EntryId>,
        reason: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[json(with = "present")]
        detail: Option<Json>,
    },
}

/// A write: queued, then placed (done) or dropped.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum WriteStatus {
    Queued,
    Done {
        entry: EntryId,
    },
    Unanswered {
        reason: Text,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[json(with = "present")]
        detail: Option<Json>,
    },
}

/// How a submission ends (spec 2).
#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionSettlement {
    Done { answer: EntryId },
    Unanswered { reason: Text, detail: Option<Json> },
}

/// A durable state machine attached to one conversation (spec 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct TaskRecord {
    pub id: TaskId,
    pub conversation_id: ConversationId,
    pub kind: Text,
    pub version: u32,
    pub input: Json,
    /// Owning task; absent for a task its conversation owns. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<TaskId>,
    pub background: bool,
    pub abort_requested: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<AbortMarkReason>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub abandon_on_restart: bool,
    /// Wall clock at the first change to `running`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// Wall clock at the change to `terminal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    pub state: TaskState,
    /// First-writer-wins values; gone once completing or terminal.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub memos: Object,
}

impl TaskRecord {
    /// Live until its terminal record: a completing task is live.
    pub fn is_live(&self) -> bool {
        !matches!(self.state, TaskState::Terminal { .. })
    }

    /// The durable checkpoint while the task can still run.
    pub fn checkpoint(&self) -> Option<&Json> {
        match &self.state {
            TaskState::Pending { checkpoint }
            | TaskState::Running { checkpoint }
            | TaskState::Waiting { checkpoint, .. } => Some(checkpoint),
            TaskState::Completing { .. } | TaskState::Terminal { .. } => None,
        }
    }

    /// The decided outcome, held or final.
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        match &self.state {
            TaskState::Completing { outcome } | TaskState::Terminal { outcome } => Some(outcome),
            _ => None,
        }
    }

    /// Durable cancellation intent (spec 5.4): an abort mark, or a held outcome other than `completed`.
    pub fn cancels_below(&self) -> bool {
        match &self.state {
            TaskState::Terminal { .. } => false,
            TaskState::Completing { outcome } => {
                self.abort_requested || !matches!(outcome, TaskOutcome::Completed { .. })
            }
            _ => self.abort_requested,
        }
    }
}

/// Why an abort mark was set when nobody asked for it (spec 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum AbortMarkReason {
    Restart,
}

/// Where a task stands (spec 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum TaskState {
    Pending {
        checkpoint: Json,
    },
    Running {
        checkpoint: Json,
    },
    /// Parked without an invocation until every task in `on` is terminal, or, ours, until `until` has passed.
    Waiting {
        checkpoint: Json,
        on: Vec<TaskId>,
        policy: JoinPolicy,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Millis>,
    },
    /// Outcome decided; terminal once no ordinary owned work below is live.
    Completing {
        outcome: TaskOutcome,
    },
    Terminal {
        outcome: TaskOutcome,
    },
}

/// How a waiting task treats the first failure among what it waits for (spec 5.5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum JoinPolicy {
    FailFast,
    AllSettled,
}

/// The five ways a task ends (spec 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum TaskOutcome {
    Completed {
        result: Json,
    },
    Failed {
        error: TaskOutcomeError,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[json(with = "present")]
        result: Option<Json>,
    },
    Aborted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[json(with = "present")]
        result: Option<Json>,
    },
    Orphaned {
        reason: Text,
    },
    Faulted {
        error: TaskOutcomeError,
    },
}

/// Why a task failed or faulted.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct TaskOutcomeError {
    pub message: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[json(with = "present")]
    pub detail: Option<Json>,
}

/// Who owns a new task (spec 5.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TaskOwnership {
    Conversation,
    Task(TaskId),
}

/// A new task before its id is minted.
#[derive(Clone, Debug)]
pub struct TaskCreate {
    pub kind: Text,
    pub version: u32,
    pub input: Json,
    pub checkpoint: Json,
    pub ownership: TaskOwnership,
    /// `None`: the owner task's conversation, or the transaction's bound conversation.
    pub conversation_id: Option<ConversationId>,
    pub background: bool,
    pub abandon_on_restart: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
