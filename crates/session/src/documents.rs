//! Document records and addresses (spec 3.2). Definitions are in [`definition`].

mod definition;

pub use definition::{
    CheckpointInfo, CheckpointWhen, ConversationDoc, ConversationFamily, DocDef, DocFamilyToken, DocToken,
    ForkPolicy, History, LatestFork, Migrate, Owner, SessionDoc, SessionFamily, TaskDoc, TaskFamily,
    TheSession, Token,
};

use crate::ids::{ConversationId, DocumentId, Seq, TaskId};
use serde::Serialize;
use tidehold_delta::{FromJson, Text};

/// What a document belongs to; decides its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, FromJson)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Scope {
    Session,
    #[serde(rename_all = "camelCase")]
    Conversation {
        conversation_id: ConversationId,
    },
    #[serde(rename_all = "camelCase")]
    Task {
        task_id: TaskId,
    },
}

impl From<ConversationId> for Scope {
    fn from(conversation_id: ConversationId) -> Self {
        Self::Conversation { conversation_id }
    }
}

impl From<TaskId> for Scope {
    fn from(task_id: TaskId) -> Self {
        Self::Task { task_id }
    }
}

/// A persisted incarnation (spec 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub struct DocumentRecord {
    pub id: DocumentId,
    pub kind: Text,
    /// Families only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text>,
    pub scope: Scope,
    /// Conversation documents only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<StoredHistory>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkPolicy>,
    pub created_at: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Seq>,
}

impl DocumentRecord {
    /// Where the incarnation is, or was.
    pub fn address(&self) -> DocumentAddress {
        DocumentAddress {
            kind: self.kind.clone(),
            scope: self.scope,
            key: self.key.clone(),
        }
    }

    /// Whether every delta stays addressable.
    pub fn is_rewindable(&self) -> bool {
        self.history == Some(StoredHistory::Rewindable)
    }

    /// Half-open membership `created_at <= at < retired_at` (spec 3.2).
    pub fn is_alive_at(&self, at: Point) -> bool {
        match at {
            Point::Current => self.retired_at.is_none(),
            Point::At(seq) => self.created_at <= seq && self.retired_at.is_none_or(|end| seq < end),
        }
    }
}

/// The stored half of [`History`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum StoredHistory {
    Latest,
    Rewindable,
}

/// A record before storage stamps its lifetime.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentCreate {
    pub id: DocumentId,
    pub kind: Text,
    pub key: Option<Text>,
    pub scope: Scope,
    pub history: Option<StoredHistory>,
    pub fork: Option<ForkPolicy>,
}

impl DocumentCreate {
    /// Where the incarnation will be.
    pub fn address(&self) -> DocumentAddress {
        DocumentAddress {
            kind: self.kind.clone(),
            scope: self.scope,
            key: self.key.clone(),
        }
    }

    /// The record as of its creating commit.
    pub fn stamped(self, created_at: Seq) -> DocumentRecord {
        let Self {
            id,
            kind,
            key,
            scope,
            history,
            fork,
        } = self;
        DocumentRecord {
            id,
            kind,
            key,
            scope,
            history,
            fork,
            created_at,
            retired_at: None,
        }
    }
}

/// One exact logical address; a missing key means the singleton.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentAddress {
    pub kind: Text,
    pub scope: Scope,
    pub key: Option<Text>,
}

/// A commit, or now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    Current,
    At(Seq),
}
