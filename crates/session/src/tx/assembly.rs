//! From a settled callback to one normalized batch (spec 3.4): owners judged on final candidates, submissions resolved,
//! drafts prepared, documents of finished tasks retired.

use super::documents::{Record, wants_base};
use super::{OwnerClaimKind, Tx, TxInner, submissions};
use crate::documents::{DocumentAddress, DocumentCreate, Point, Scope};
use crate::error::{Rejection, SessionError};
use crate::ids::{DocumentId, TaskId};
use crate::limits::SCAN_PAGE;
use crate::publication::TaskChange;
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord};
use crate::storage::{DocumentContent, DocumentQuery, StorageWrite};
use std::rc::Rc;
use tidehold_delta::{Json, Op};

/// An incarnation to create, or a stored one.
pub(crate) enum Target {
    Create(DocumentCreate),
    Existing(Record),
}

impl Target {
    fn id(&self) -> DocumentId {
        match self {
            Self::Create(create) => create.id,
            Self::Existing(record) => record.id,
        }
    }
}

/// Content of one prepared change.
pub(crate) struct PreparedContent {
    pub version: u32,
    /// `None` for a creation.
    pub before: Option<Json>,
    pub value: Json,
    pub ops: Rc<[Op]>,
    pub is_base: bool,
    pub deltas_before: u32,
}

/// One document of the batch.
pub(crate) struct PreparedDocument {
    pub address: DocumentAddress,
    pub target: Target,
    pub content: Option<PreparedContent>,
    pub retired: bool,
}

/// Everything one commit writes.
#[derive(Default)]
pub(crate) struct Assembly {
    pub conversations: Vec<Rc<ConversationRecord>>,
    pub entries: Vec<Rc<EntryRecord>>,
    pub submissions: Vec<Rc<SubmissionRecord>>,
    pub tasks: Vec<TaskChange>,
    pub documents: Vec<PreparedDocument>,
}

impl Assembly {
    pub fn is_empty(&self) -> bool {
        self.conversations.is_empty()
            && self.entries.is_empty()
            && self.submissions.is_empty()
            && self.tasks.is_empty()
            && self.documents.is_empty()
    }

    /// The batch, in the documented order: tables in staging order, then documents.
    pub fn writes(&self) -> Vec<StorageWrite> {
        let mut writes = Vec::with_capacity(8);
        writes.extend(self.conversations.iter().cloned().map(StorageWrite::Conversation));
        writes.extend(self.entries.iter().cloned().map(StorageWrite::Entry));
        writes.extend(self.submissions.iter().cloned().map(StorageWrite::Submission));
        writes.extend(
            self.tasks
                .iter()
                .map(|change| StorageWrite::Task(Rc::clone(&change.after))),
        );
        for document in &self.documents {
            if let Some(content) = &document.content {
                writes.push(content_write(document, content));
            }
            if document.retired {
                writes.push(StorageWrite::DocumentRetire {
                    id: document.target.id(),
                });
            }
        }
        writes
    }
}

fn content_write(document: &PreparedDocument, content: &PreparedContent) -> StorageWrite {
    match &document.target {
        Target::Create(record) => StorageWrite::DocumentCreate {
            record: record.clone(),
            version: content.version,
            value: content.value.clone(),
        },
        Target::Existing(record) => StorageWrite::DocumentChange {
            id: record.id,
            content: if content.is_base {
                DocumentContent::Base {
                    version: content.version,
                    value: content.value.clone(),
                }
            } else {
                DocumentContent::Delta {
                    version: content.version,
                    ops: Rc::clone(&content.ops),
                }
            },
        },
    }
}

/// Prepares a sealed transaction. Any error rolls it back.
pub(crate) async fn assemble(tx: &Tx) -> Result<Assembly, SessionError> {
    let inner = &tx.0;
    check_owners(tx).await?;
    let submissions = submissions::resolve(inner).await?;
    let tasks = take_tasks(inner);
    let documents = prepare_documents(inner, &tasks).await?;
    let mut state = inner.state.borrow_mut();
    Ok(Assembly {
        conversations: std::mem::take(&mut state.conversations),
        entries: std::mem::take(&mut state.entries),
        submissions,
        tasks,
        documents,
    })
}

async fn check_owners(tx: &Tx) -> Result<(), SessionError> {
    let claims = std::mem::take(&mut tx.0.state.borrow_mut().new_owners);
    for claim in claims {
        let owner = tx
            .candidate_task(claim.owner)
            .await?
            .ok_or(Rejection::MissingTask(claim.owner))?;
        if owner.outcome().is_some() || owner.abort_requested {
            return Err(Rejection::OwnerNotLive(claim.owner).into());
        }
        let state = tx.0.state.borrow();
        let agrees = match claim.kind {
            OwnerClaimKind::ChildTask(id) => state
                .tasks
                .get(&id)
                .is_none_or(|child| child.after.conversation_id == owner.conversation_id),
            OwnerClaimKind::Conversation(id) => state.conversations.iter().any(|record| record.id == id),
        };
        if !agrees {
            return Err(Rejection::ForeignConversation.into());
        }
    }
    Ok(())
}

fn take_tasks(inner: &TxInner) -> Vec<TaskChange> {
    let candidates = std::mem::take(&mut inner.state.borrow_mut().tasks);
    candidates
        .into_tuple_vec()
        .into_iter()
        .map(|(_, candidate)| candidate)
        .filter(|candidate| candidate.before.as_deref() != Some(&candidate.after))
        .map(|candidate| TaskChange {
            before: candidate.before,
            after: Rc::new(candidate.after),
        })
        .collect()
}

async fn prepare_documents(
    inner: &TxInner,
    tasks: &[TaskChange],
) -> Result<Vec<PreparedDocument>, SessionError> {
    let ended: Vec<TaskId> = tasks
        .iter()
        .filter(|change| !change.after.is_live())
        .map(|change| change.after.id)
        .collect();
    let (mut open, retired) = {
        let mut state = inner.state.borrow_mut();
        (
            std::mem::take(&mut state.documents),
            std::mem::take(&mut state.retired),
        )
    };
    for (address, document) in &mut open {
        if let Scope::Task { task_id } = address.scope {
            document.retire |= ended.contains(&task_id);
        }
    }
    let mut prepared = Vec::with_capacity(open.len() + retired.len());
    for (address, document) in retired.into_iter().chain(open) {
        let retire = document.retire;
        let is_new = matches!(document.target, Target::Create(_));
        let def = document.def;
        let deltas_before = document.deltas_since_base;
        let change = prepare_one(document)?;
        let PreparedOne {
            target,
            before,
            value,
            ops,
            wants_base,
        } = change;
        let content = (is_new || !ops.is_empty()).then(|| PreparedContent {
            version: def.version,
            before: (!is_new).then_some(before),
            value,
            ops: ops.into(),
            is_base: is_new || wants_base,
            deltas_before,
        });
        if content.is_some() || retire {
            prepared.push(PreparedDocument {
                address,
                target,
                content,
                retired: retire,
            });
        }
    }
    for task in ended {
        retire_stored(inner, task, tasks, &mut prepared).await?;
    }
    Ok(prepared)
}

struct PreparedOne {
    target: Target,
    before: Json,
    value: Json,
    ops: Vec<Op>,
    wants_base: bool,
}

fn prepare_one(mut document: super::documents::OpenDocument) -> Result<PreparedOne, SessionError> {
    let change = std::mem::replace(&mut document.change, tidehold_delta::Change::begin(Json::Null));
    let prepared = change.prepare()?;
    // Evaluated once, for ordinary later mutations only (spec 3.5).
    let wants_base = !prepared.ops.is_empty()
        && matches!(document.target, Target::Existing(_))
        && wants_base(&document, &prepared.value, &prepared.ops);
    Ok(PreparedOne {
        target: document.target,
        before: prepared.base,
        value: prepared.value,
        ops: prepared.ops,
        wants_base,
    })
}

/// Retires the stored documents of a task that ends in this commit and was created by an earlier one.
async fn retire_stored(
    inner: &TxInner,
    task: TaskId,
    tasks: &[TaskChange],
    prepared: &mut Vec<PreparedDocument>,
) -> Result<(), SessionError> {
    let known = |change: &&TaskChange| change.after.id == task && change.before.is_some();
    if !tasks.iter().any(|change| known(&change)) {
        return Ok(());
    }
    let query = DocumentQuery {
        scope: Scope::Task { task_id: task },
        at: Point::Current,
        kind: None,
    };
    let mut cursor = None;
    loop {
        let page = inner
            .session
            .storage
            .scan_documents(&query, SCAN_PAGE, cursor.as_ref())
            .await;
        let page = page.map_err(|error| inner.session.read_error(error))?;
        for record in page.items {
            if prepared.iter().any(|document| document.target.id() == record.id) {
                continue;
            }
            let address = DocumentAddress {
                kind: record.kind.clone(),
                scope: record.scope,
                key: record.key.clone(),
            };
            let target = Target::Existing(Rc::new(record));
            prepared.push(PreparedDocument {
                address,
                target,
                content: None,
                retired: true,
            });
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}
