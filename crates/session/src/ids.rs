//! Identifiers (spec 2): plain numbers on the wire and at rest, distinct types in memory.

use serde::Serialize;
use std::fmt;
use tidehold_delta::FromJson;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, FromJson, Debug)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for tidehold_delta::Json {
            fn from(id: $name) -> Self {
                Self::from(id.0)
            }
        }
    };
}

id!(
    /// A transcript scope.
    ConversationId
);
id!(
    /// An immutable transcript record. Ordered over the whole session.
    EntryId
);
id!(
    /// A durable state machine.
    TaskId
);
id!(
    /// An admitted input or write.
    SubmissionId
);
id!(
    /// One incarnation of a document.
    DocumentId
);
id!(
    /// A commit. Strictly increases, gaps permitted; never an entity id.
    Seq
);

/// The root conversation has this id, reserved and never minted (spec 2).
pub const ROOT_CONVERSATION_ID: ConversationId = ConversationId(1);
