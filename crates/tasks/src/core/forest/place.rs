//! Places of the ownership tree: tasks, conversations, and the root above all ownerless ones.

use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::{TaskOutcome, TaskRecord, TaskState};

/// A task or a conversation, as one number that sorts by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub(super) u64);

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Task(TaskId),
    Conversation(ConversationId),
}

impl Place {
    /// Above every ownerless conversation. No conversation has the id 0.
    pub const ROOTS: Self = Self::conversation(ConversationId(0));

    pub const fn task(id: TaskId) -> Self {
        Self(id.0 << 1)
    }

    pub const fn conversation(id: ConversationId) -> Self {
        Self(id.0 << 1 | 1)
    }

    /// For an index.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// From an index.
    pub const fn numbered(number: u64) -> Self {
        Self(number)
    }

    pub const fn named(self) -> Named {
        if self.0 & 1 == 0 {
            Named::Task(TaskId(self.0 >> 1))
        } else {
            Named::Conversation(ConversationId(self.0 >> 1))
        }
    }
}

/// A task's place in the forest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub conversation: ConversationId,
    /// Owning task, if a task owns it directly.
    pub owner: Option<TaskId>,
    pub background: bool,
    pub life: Life,
}

impl Node {
    /// Of a task that storage does not know.
    pub const NOWHERE: Self = Self {
        conversation: ConversationId(0),
        owner: None,
        background: false,
        life: Life::Completed,
    };
}

/// Whether a task is live, and else how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Live,
    Completed,
    /// Ended in any other way.
    Unsuccessful,
}

/// The place of a record.
pub fn node_of(record: &TaskRecord) -> Node {
    let life = match &record.state {
        TaskState::Terminal {
            outcome: TaskOutcome::Completed { .. },
        } => Life::Completed,
        TaskState::Terminal { .. } => Life::Unsuccessful,
        _ => Life::Live,
    };
    Node {
        conversation: record.conversation_id,
        owner: record.owner,
        background: record.background,
        life,
    }
}

/// What is known of a place. Owner edges are immutable, so what is known stays true.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Known {
    /// Something below it is kept, and it must be loaded.
    #[default]
    Nothing,
    Task(Node),
    /// With its owner.
    Conversation(Option<TaskId>),
}

impl Known {
    /// The next place above `place`, of which this is known.
    pub(crate) fn parent(&self, place: Place) -> Option<Place> {
        match self {
            Self::Nothing => None,
            Self::Task(Node {
                owner: Some(owner), ..
            }) => Some(Place::task(*owner)),
            Self::Task(node) => Some(Place::conversation(node.conversation)),
            Self::Conversation(Some(owner)) => Some(Place::task(*owner)),
            Self::Conversation(None) => (place != Place::ROOTS).then_some(Place::ROOTS),
        }
    }
}

/// Why a place is kept below its parent: the strongest reason that holds. Traversals follow the edges of some reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Ordinary traversal from the parent meets live work here.
    Ordinary,
    /// Only a traversal across background tasks does.
    Beyond,
    /// Nothing is live, but inputs are queued below.
    Queued,
}

impl Reach {
    pub const ALL: [Self; 3] = [Self::Ordinary, Self::Beyond, Self::Queued];
}

/// One place with what is kept below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub known: Known,
    /// Children by reach.
    pub ordinary: u32,
    pub beyond: u32,
    pub queued: u32,
    /// Queued inputs of a conversation; waits that must know how a task ends.
    pub pins: u32,
    /// The edge to the parent, as entered there.
    pub edge: Option<Reach>,
    /// Whether it is in the line of those that are forgotten one day.
    pub spare: bool,
}

impl Slot {
    /// The edge that the place must have.
    pub fn reach(&self, place: Place) -> Option<Reach> {
        let (live, background) = match &self.known {
            Known::Task(node) => (node.life == Life::Live, node.background),
            Known::Nothing | Known::Conversation(_) => (false, false),
        };
        let ordinary = live || self.ordinary > 0;
        let pinned = self.pins > 0;
        let is_task = matches!(place.named(), Named::Task(_));
        if ordinary && !background {
            Some(Reach::Ordinary)
        } else if ordinary || self.beyond > 0 || (pinned && is_task && self.known == Known::Nothing) {
            // How a task ended must be known for its own sake.
            Some(Reach::Beyond)
        } else if self.queued > 0 || (pinned && !is_task) {
            Some(Reach::Queued)
        } else {
            None
        }
    }

    pub fn count(&mut self, reach: Reach) -> &mut u32 {
        match reach {
            Reach::Ordinary => &mut self.ordinary,
            Reach::Beyond => &mut self.beyond,
            Reach::Queued => &mut self.queued,
        }
    }

    pub fn is_needed(&self) -> bool {
        self.edge.is_some() || self.pins > 0
    }
}
