//! Definitions: what a kind of document is, whatever instances of it exist (spec 3.1).
//!
//! A token joins a definition with the type of its owner and with its initializer, so that a task's document cannot be asked
//! for by a conversation's id, nor a family without a key. Tokens are statics; nothing registers them.

use super::{DocumentAddress, Scope, StoredHistory};
use crate::ids::{ConversationId, TaskId};
use serde::Serialize;
use std::marker::PhantomData;
use tidehold_delta::{FromJson, Json, Op};

/// What a fork's child starts with (spec 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum ForkPolicy {
    AsOf,
    Current,
    Initial,
}

/// Whether old values of a conversation document stay addressable. `asOf` forks need `rewindable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    Latest { fork: LatestFork },
    Rewindable { fork: ForkPolicy },
}

/// Fork policies a latest-only document can honour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatestFork {
    Current,
    Initial,
}

impl History {
    const fn stored(self) -> (StoredHistory, ForkPolicy) {
        match self {
            Self::Latest {
                fork: LatestFork::Current,
            } => (StoredHistory::Latest, ForkPolicy::Current),
            Self::Latest {
                fork: LatestFork::Initial,
            } => (StoredHistory::Latest, ForkPolicy::Initial),
            Self::Rewindable { fork } => (StoredHistory::Rewindable, fork),
        }
    }
}

/// What may own documents: the session, a conversation or a task.
pub trait Owner: Copy + Into<Scope> + 'static {}

/// The owner of session documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TheSession;

impl From<TheSession> for Scope {
    fn from(_: TheSession) -> Self {
        Self::Session
    }
}

impl Owner for TheSession {}
impl Owner for ConversationId {}
impl Owner for TaskId {}

/// What `checkpoint_when` may look at besides the value.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointInfo {
    /// Deltas already stored after the newest base, excluding this change.
    pub deltas_since_base: u32,
}

/// Selects a complete base instead of a delta, to bound replay (spec 3.5).
pub type CheckpointWhen = fn(&Json, &[Op], CheckpointInfo) -> bool;

/// From the stored value and its older version to a complete object of the current version. Pure; the error is for people.
pub type Migrate = fn(Json, u32) -> Result<Json, String>;

/// The part of a definition that does not depend on the types of its token.
pub struct DocDef {
    pub(crate) kind: &'static str,
    /// Positive; stored with every base and delta.
    pub(crate) version: u32,
    /// Conversation documents only.
    pub(crate) history: Option<(StoredHistory, ForkPolicy)>,
    pub(crate) migrate: Option<Migrate>,
    pub(crate) checkpoint_when: CheckpointWhen,
}

impl DocDef {
    const fn new(kind: &'static str, version: u32, history: Option<(StoredHistory, ForkPolicy)>) -> Self {
        // A definition is a static, so this is an error of its compilation.
        assert!(version > 0, "versions are positive");
        Self {
            kind,
            version,
            history,
            migrate: None,
            checkpoint_when: never,
        }
    }

    pub(crate) fn is_rewindable(&self) -> bool {
        matches!(self.history, Some((StoredHistory::Rewindable, _)))
    }
}

fn never(_: &Json, _: &[Op], _: CheckpointInfo) -> bool {
    false
}

/// A singleton: one instance an owner.
///
/// ```
/// use tidehold_delta::Json;
/// use tidehold_session::documents::{DocToken, TaskDoc};
///
/// static OUTPUT: TaskDoc = DocToken::of_task("job.output", 1, Json::empty_object);
/// ```
///
/// Versions are positive; another one does not compile:
///
/// ```compile_fail
/// use tidehold_delta::Json;
/// use tidehold_session::documents::{DocToken, TaskDoc};
///
/// static OUTPUT: TaskDoc = DocToken::of_task("job.output", 0, Json::empty_object);
/// ```
pub struct DocToken<O: Owner> {
    pub(crate) def: DocDef,
    pub(crate) initial: fn() -> Json,
    owner: PhantomData<fn(O)>,
}

/// A family: any number of instances an owner, told apart by their keys.
pub struct DocFamilyToken<O: Owner> {
    pub(crate) def: DocDef,
    pub(crate) initial: fn(&Json) -> Json,
    owner: PhantomData<fn(O)>,
}

/// Current-only; lives as long as the session.
pub type SessionDoc = DocToken<TheSession>;
/// Follows its history and fork policy.
pub type ConversationDoc = DocToken<ConversationId>;
/// Current-only; retired with its task, never copied by a fork.
pub type TaskDoc = DocToken<TaskId>;
/// A [`SessionDoc`] for each key.
pub type SessionFamily = DocFamilyToken<TheSession>;
/// A [`ConversationDoc`] for each key.
pub type ConversationFamily = DocFamilyToken<ConversationId>;
/// A [`TaskDoc`] for each key.
pub type TaskFamily = DocFamilyToken<TaskId>;

/// The constructors and settings that singletons and families share, which differ in their initializer.
macro_rules! tokens {
    ($token:ident, $initial:ty) => {
        impl $token<TheSession> {
            /// A document of the session. `version` is positive, `initial` answers an object.
            pub const fn of_session(kind: &'static str, version: u32, initial: $initial) -> Self {
                Self::new(DocDef::new(kind, version, None), initial)
            }
        }

        impl $token<ConversationId> {
            /// A document of a conversation. `version` is positive, `initial` answers an object.
            pub const fn of_conversation(
                kind: &'static str,
                version: u32,
                history: History,
                initial: $initial,
            ) -> Self {
                Self::new(DocDef::new(kind, version, Some(history.stored())), initial)
            }
        }

        impl $token<TaskId> {
            /// A document of a task. `version` is positive, `initial` answers an object.
            pub const fn of_task(kind: &'static str, version: u32, initial: $initial) -> Self {
                Self::new(DocDef::new(kind, version, None), initial)
            }
        }

        impl<O: Owner> $token<O> {
            const fn new(def: DocDef, initial: $initial) -> Self {
                Self {
                    def,
                    initial,
                    owner: PhantomData,
                }
            }

            /// Selects bases. Without it only creations and new versions are bases (spec 3.5).
            pub const fn checkpoint_when(mut self, checkpoint_when: CheckpointWhen) -> Self {
                self.def.checkpoint_when = checkpoint_when;
                self
            }

            /// Reads older versions. Without it they are rejected (spec 3.6).
            pub const fn migrate(mut self, migrate: Migrate) -> Self {
                self.def.migrate = Some(migrate);
                self
            }

            /// The stable kind.
            pub const fn kind(&self) -> &'static str {
                self.def.kind
            }
        }
    };
}

tokens!(DocToken, fn() -> Json);
tokens!(DocFamilyToken, fn(&Json) -> Json);

/// What typed access to existing instances takes: a singleton's token with its owner, or a family's with `(owner, key)`.
pub trait Token: Copy + 'static {
    type At<'k>;

    fn def(self) -> &'static DocDef;
    fn address(self, at: Self::At<'_>) -> DocumentAddress;
}

impl<O: Owner> Token for &'static DocToken<O> {
    type At<'k> = O;

    fn def(self) -> &'static DocDef {
        &self.def
    }

    fn address(self, owner: O) -> DocumentAddress {
        DocumentAddress {
            kind: self.def.kind.into(),
            scope: owner.into(),
            key: None,
        }
    }
}

impl<O: Owner> Token for &'static DocFamilyToken<O> {
    type At<'k> = (O, &'k str);

    fn def(self) -> &'static DocDef {
        &self.def
    }

    fn address(self, (owner, key): (O, &str)) -> DocumentAddress {
        DocumentAddress {
            kind: self.def.kind.into(),
            scope: owner.into(),
            key: Some(key.into()),
        }
    }
}
