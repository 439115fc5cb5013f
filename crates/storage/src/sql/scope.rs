//! Scopes, histories and fork policies as numbers. Stored: a number never changes its meaning.

use tidehold_session::documents::{ForkPolicy, Scope, StoredHistory};
use tidehold_session::ids::{ConversationId, TaskId};

/// The columns `scope` and `owner`.
pub(super) fn columns(scope: Scope) -> (u64, u64) {
    match scope {
        Scope::Session => (0, 0),
        Scope::Conversation { conversation_id } => (1, conversation_id.0),
        Scope::Task { task_id } => (2, task_id.0),
    }
}

pub(super) fn from_columns(scope: u64, owner: u64) -> Option<Scope> {
    match scope {
        0 => Some(Scope::Session),
        1 => Some(Scope::Conversation {
            conversation_id: ConversationId(owner),
        }),
        2 => Some(Scope::Task {
            task_id: TaskId(owner),
        }),
        _ => None,
    }
}

pub(super) fn history_column(history: StoredHistory) -> u64 {
    match history {
        StoredHistory::Latest => 0,
        StoredHistory::Rewindable => 1,
    }
}

pub(super) fn history_from(column: u64) -> Option<StoredHistory> {
    match column {
        0 => Some(StoredHistory::Latest),
        1 => Some(StoredHistory::Rewindable),
        _ => None,
    }
}

pub(super) fn fork_column(fork: ForkPolicy) -> u64 {
    match fork {
        ForkPolicy::AsOf => 0,
        ForkPolicy::Current => 1,
        ForkPolicy::Initial => 2,
    }
}

pub(super) fn fork_from(column: u64) -> Option<ForkPolicy> {
    match column {
        0 => Some(ForkPolicy::AsOf),
        1 => Some(ForkPolicy::Current),
        2 => Some(ForkPolicy::Initial),
        _ => None,
    }
}
