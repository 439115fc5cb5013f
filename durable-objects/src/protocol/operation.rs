//! What can be asked of a session.

use serde::Serialize;
use tidehold_delta::{ConvertError, FromJson, Json};
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID, SubmissionId, TaskId};

/// One operation of one session, as the route names it. Bodies travel beside it as text.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Operation {
    /// Runs one of the contract tools on the arguments in the body.
    CallTool { tool: String },
    /// What the session is doing and how large it is.
    Inspect { detail: Detail },
    /// Deletes everything of the session.
    DeleteSession,
    /// Conversations, oldest first.
    ListConversations {
        cursor: Option<String>,
        limit: Option<u32>,
    },
    /// A new conversation; body `{agent?, remoteTools?}`.
    CreateConversation,
    /// One conversation with its resolved agent and usage.
    GetConversation { conversation: ConversationKey },
    /// Changes the agent; body `AgentChange` and `remoteTools?`.
    Configure { conversation: ConversationKey },
    /// Aborts what runs; body `{background?}`.
    AbortConversation { conversation: ConversationKey },
    /// Starts over; body `{handoff?}`.
    ResetConversation { conversation: ConversationKey },
    /// Admits the input or write in the body.
    Submit { conversation: ConversationKey },
    /// One submission; held back until it settled or `wait_seconds` passed.
    GetSubmission {
        submission: SubmissionId,
        wait_seconds: Option<u32>,
    },
    /// Takes a queued submission back.
    AbortSubmission { submission: SubmissionId },
    /// A page of the transcript.
    ListEntries {
        conversation: ConversationKey,
        cursor: Option<String>,
        limit: Option<u32>,
        order: Option<Order>,
    },
    /// The context derived from the transcript, up to `at` or now.
    GetContext {
        conversation: ConversationKey,
        at: Option<EntryId>,
    },
    /// The event stream, or its snapshot, by what the client accepts. `after` is the position it holds.
    WatchEvents {
        conversation: ConversationKey,
        after: Option<String>,
    },
    /// Live tasks.
    ListTasks { detail: Detail },
    /// One task.
    GetTask { task: TaskId, detail: Detail },
    /// Asks a task to stop.
    AbortTask { task: TaskId },
    /// What the session spent.
    Usage,
}

impl Operation {
    /// How long the object may hold the answer back on purpose.
    pub fn wait_seconds(&self) -> u32 {
        match self {
            Self::GetSubmission { wait_seconds, .. } => wait_seconds.unwrap_or(0),
            _ => 0,
        }
    }
}

/// A conversation as clients name it: `root` is a name of its own, because the first write to it creates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "u64")]
pub enum ConversationKey {
    Root,
    Id(ConversationId),
}

impl ConversationKey {
    /// Whether this is the root, by either of its names.
    pub fn is_root(self) -> bool {
        self == Self::Root
    }

    pub fn id(self) -> ConversationId {
        match self {
            Self::Root => ROOT_CONVERSATION_ID,
            Self::Id(id) => id,
        }
    }
}

impl FromJson for ConversationKey {
    fn from_json(json: &Json) -> Result<Self, ConvertError> {
        u64::from_json(json).map(Self::from)
    }
}

impl From<u64> for ConversationKey {
    fn from(id: u64) -> Self {
        match ConversationId(id) {
            ROOT_CONVERSATION_ID => Self::Root,
            id => Self::Id(id),
        }
    }
}

impl From<ConversationKey> for u64 {
    fn from(key: ConversationKey) -> Self {
        key.id().0
    }
}

/// How much of a task the caller may see, by its scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum Detail {
    /// How it stands.
    #[default]
    Status,
    /// What it works on too: with the scope `transcript`, for that is raw text.
    Whole,
}

/// Order of a page of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    Ascending,
    Descending,
}
