//! Records in few words.

use std::rc::Rc;
use tidehold_delta::{Json, Text, json};
use tidehold_session::ids::{ConversationId, EntryId, SubmissionId, TaskId};
use tidehold_session::records::*;
use tidehold_session::storage::{EntryQuery, ScanOrder, StorageWrite};

pub use doc::Doc;

pub fn conv(id: u64) -> StorageWrite {
    conversation(id, None, None)
}

/// A fork of `parent` at entry `at`.
pub fn fork(id: u64, parent: u64, at: u64) -> StorageWrite {
    let parent = ConversationParent {
        conversation_id: ConversationId(parent),
        at: EntryId(at),
    };
    conversation(id, Some(parent), None)
}

/// A conversation owned by `task` of conversation `owner`.
pub fn owned(id: u64, owner: u64, task: u64) -> StorageWrite {
    let owner = ConversationOwner {
        conversation_id: ConversationId(owner),
        task_id: TaskId(task),
    };
    conversation(id, None, Some(owner))
}

fn conversation(
    id: u64,
    parent: Option<ConversationParent>,
    owner: Option<ConversationOwner>,
) -> StorageWrite {
    StorageWrite::Conversation(Rc::new(ConversationRecord {
        id: ConversationId(id),
        parent,
        owner,
    }))
}

pub fn entry(id: u64, conversation: u64) -> StorageWrite {
    StorageWrite::Entry(Rc::new(entry_record(id, conversation)))
}

/// An entry with every optional member absent.
pub fn entry_record(id: u64, conversation: u64) -> EntryRecord {
    EntryRecord {
        id: EntryId(id),
        conversation_id: ConversationId(conversation),
        kind: "test.entry".into(),
        model: None,
        data: None,
        head: None,
        edits: None,
        by_task_id: None,
    }
}

pub fn head(id: u64, conversation: u64, head: u64) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        head: Some(EntryId(head)),
        ..entry_record(id, conversation)
    }))
}

pub fn entry_with(id: u64, conversation: u64, data: Json) -> StorageWrite {
    StorageWrite::Entry(Rc::new(EntryRecord {
        data: Some(data),
        ..entry_record(id, conversation)
    }))
}

/// All entries of a conversation in this order.
pub fn entries_of(conversation: u64, order: Option<ScanOrder>) -> EntryQuery {
    EntryQuery {
        conversation_id: ConversationId(conversation),
        min_entry_id: None,
        max_entry_id: None,
        order,
    }
}

pub fn task(id: u64, conversation: u64, kind: &str, state: TaskState) -> TaskRecord {
    TaskRecord {
        id: TaskId(id),
        conversation_id: ConversationId(conversation),
        kind: kind.into(),
        version: 1,
        input: json!({}),
        owner: None,
        background: false,
        abort_requested: false,
        abort_reason: None,
        abandon_on_restart: false,
        started_at: None,
        ended_at: None,
        state,
        memos: tidehold_delta::Object::new(),
    }
}

pub fn put_task(record: TaskRecord) -> StorageWrite {
    StorageWrite::Task(Rc::new(record))
}

pub fn pending() -> TaskState {
    TaskState::Pending {
        checkpoint: json!({ "phase": "start" }),
    }
}

pub fn running() -> TaskState {
    TaskState::Running {
        checkpoint: json!({ "phase": "work" }),
    }
}

pub fn waiting(on: &[u64]) -> TaskState {
    TaskState::Waiting {
        checkpoint: json!({ "phase": "wait" }),
        on: on.iter().copied().map(TaskId).collect(),
        policy: JoinPolicy::AllSettled,
        until: None,
    }
}

pub fn completing() -> TaskState {
    TaskState::Completing { outcome: completed() }
}

pub fn terminal() -> TaskState {
    TaskState::Terminal { outcome: completed() }
}

fn completed() -> TaskOutcome {
    TaskOutcome::Completed {
        result: json!({ "ok": true }),
    }
}

pub fn submission(
    id: u64,
    conversation: u64,
    request: Option<&str>,
    state: SubmissionState,
) -> SubmissionRecord {
    SubmissionRecord {
        id: SubmissionId(id),
        conversation_id: ConversationId(conversation),
        request_id: request.map(Text::from),
        content_hash: None,
        state,
    }
}

pub fn put_submission(record: SubmissionRecord) -> StorageWrite {
    StorageWrite::Submission(Rc::new(record))
}

pub fn queued() -> SubmissionState {
    SubmissionState::Input(InputStatus::Queued)
}

pub fn placed(entry: u64) -> SubmissionState {
    SubmissionState::Input(InputStatus::Placed {
        entry: EntryId(entry),
    })
}

pub fn done(entry: u64, answer: u64) -> SubmissionState {
    SubmissionState::Input(InputStatus::Done {
        entry: EntryId(entry),
        answer: EntryId(answer),
    })
}

pub fn unanswered(reason: &str) -> SubmissionState {
    SubmissionState::Input(InputStatus::Unanswered {
        entry: None,
        reason: reason.into(),
        detail: None,
    })
}

pub mod doc {
    //! Documents and their changes.

    use tidehold_delta::{Json, Op};
    use tidehold_session::documents::*;
    use tidehold_session::ids::{ConversationId, DocumentId, TaskId};
    use tidehold_session::storage::{DocumentContent, StorageWrite};

    pub type Doc = DocumentCreate;

    /// A document of the session.
    pub fn session(id: u64, kind: &str) -> Doc {
        Doc {
            id: DocumentId(id),
            kind: kind.into(),
            key: None,
            scope: Scope::Session,
            history: None,
            fork: None,
        }
    }

    pub fn of_task(id: u64, task: u64, kind: &str) -> Doc {
        Doc {
            scope: TaskId(task).into(),
            ..session(id, kind)
        }
    }

    /// A conversation document that keeps only its latest value.
    pub fn latest(id: u64, conversation: u64, kind: &str) -> Doc {
        Doc {
            scope: ConversationId(conversation).into(),
            history: Some(StoredHistory::Latest),
            fork: Some(ForkPolicy::Current),
            ..session(id, kind)
        }
    }

    /// A conversation document that keeps every value.
    pub fn rewindable(id: u64, conversation: u64, kind: &str) -> Doc {
        Doc {
            history: Some(StoredHistory::Rewindable),
            fork: Some(ForkPolicy::AsOf),
            ..latest(id, conversation, kind)
        }
    }

    pub fn keyed(record: Doc, key: &str) -> Doc {
        Doc {
            key: Some(key.into()),
            ..record
        }
    }

    pub fn create(record: Doc, version: u32, value: Json) -> StorageWrite {
        StorageWrite::DocumentCreate {
            record,
            version,
            value,
        }
    }

    pub fn copy(record: Doc, source: u64, at: Point) -> StorageWrite {
        StorageWrite::DocumentCopy {
            record,
            source: DocumentId(source),
            at,
        }
    }

    pub fn base(id: u64, version: u32, value: Json) -> StorageWrite {
        StorageWrite::DocumentChange {
            id: DocumentId(id),
            content: DocumentContent::Base { version, value },
        }
    }

    pub fn delta(id: u64, version: u32, ops: Vec<Op>) -> StorageWrite {
        let content = DocumentContent::Delta {
            version,
            ops: ops.into(),
        };
        StorageWrite::DocumentChange {
            id: DocumentId(id),
            content,
        }
    }

    pub fn retire(id: u64) -> StorageWrite {
        StorageWrite::DocumentRetire { id: DocumentId(id) }
    }

    /// Sets the member `key` of the root.
    pub fn set(key: &str, value: impl Into<Json>) -> Op {
        Op::Set(vec![key.into()], value.into())
    }

    /// Appends to the text member `key` of the root.
    pub fn append(key: &str, text: &str) -> Op {
        Op::Append(vec![key.into()], text.into())
    }

    pub fn address(record: &Doc) -> DocumentAddress {
        record.address()
    }
}
