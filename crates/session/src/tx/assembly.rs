//! From a settled callback to one normalized batch (spec 3.4): owners judged on final candidates, submissions resolved,
//! drafts prepared, documents of finished tasks retired.

use super::documents::SealedDocument;
use super::forks::StagedCopy;
use super::{OwnerClaimKind, Tx, TxInner, submissions};
use crate::documents::{
    CheckpointInfo, DocDef, DocumentAddress, DocumentCreate, DocumentRecord, ForkPolicy, Point, Scope,
};
use crate::error::{Rejection, SessionError};
use crate::ids::{DocumentId, TaskId};
use crate::publication::TaskChange;
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord};
use crate::session::typed::{definition_code, object};
use crate::storage::{DocumentContent, StorageWrite};
use std::rc::Rc;
use tidehold_delta::{Json, Op, Prepared};

/// An incarnation to create, or a stored one.
pub(crate) enum Target {
    Create(DocumentCreate),
    Existing(Rc<DocumentRecord>),
    /// Stored in an older version of its definition: its next content is a base (spec 3.6).
    Outdated(Rc<DocumentRecord>),
}

impl Target {
    fn id(&self) -> DocumentId {
        match self {
            Self::Create(create) => create.id,
            Self::Existing(record) | Self::Outdated(record) => record.id,
        }
    }

    fn fork(&self) -> Option<ForkPolicy> {
        match self {
            Self::Create(create) => create.fork,
            Self::Existing(record) | Self::Outdated(record) => record.fork,
        }
    }

    /// Whether its content is a base whatever the definition says (spec 3.5).
    fn requires_base(&self) -> bool {
        match self {
            Self::Create(_) | Self::Outdated(_) => true,
            Self::Existing(_) => false,
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
    /// Of forks; no definition read them.
    pub copies: Vec<StagedCopy>,
    pub documents: Vec<PreparedDocument>,
}

impl Assembly {
    pub fn is_empty(&self) -> bool {
        self.conversations.is_empty()
            && self.entries.is_empty()
            && self.submissions.is_empty()
            && self.tasks.is_empty()
            && self.copies.is_empty()
            && self.documents.is_empty()
    }

    /// The batch, in the documented order: tables in staging order, then copies and documents.
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
        writes.extend(self.copies.iter().map(|copy| StorageWrite::DocumentCopy {
            record: copy.create.clone(),
            source: copy.source,
            at: copy.at,
        }));
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
        Target::Existing(record) | Target::Outdated(record) => StorageWrite::DocumentChange {
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
pub(crate) async fn assemble(tx: &Tx, documents: Vec<SealedDocument>) -> Result<Assembly, SessionError> {
    let inner = &tx.0;
    check_owners(tx).await?;
    let submissions = submissions::resolve(inner).await?;
    let tasks = take_tasks(inner);
    let documents = prepare_documents(inner, &tasks, documents).await?;
    let mut state = inner.state.borrow_mut();
    Ok(Assembly {
        conversations: std::mem::take(&mut state.conversations),
        entries: std::mem::take(&mut state.entries),
        submissions,
        tasks,
        copies: state.forks.take_copies(),
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
    documents: Vec<SealedDocument>,
) -> Result<Vec<PreparedDocument>, SessionError> {
    let ended: Vec<TaskId> = tasks
        .iter()
        .filter(|change| !change.after.is_live())
        .map(|change| change.after.id)
        .collect();
    let mut prepared = Vec::with_capacity(documents.len());
    for mut document in documents {
        if let Scope::Task { task_id } = document.address.scope {
            document.retire |= ended.contains(&task_id);
        }
        let document = prepare_one(document)?;
        if document.content.is_some() || document.retired {
            let (id, fork) = (document.target.id(), document.target.fork());
            let forks = &inner.state.borrow().forks;
            forks.check_written(id, &document.address, fork)?;
            prepared.push(document);
        }
    }
    for task in ended {
        retire_stored(inner, task, tasks, &mut prepared).await?;
    }
    Ok(prepared)
}

fn prepare_one(document: SealedDocument) -> Result<PreparedDocument, SessionError> {
    let SealedDocument {
        address,
        def,
        target,
        prepared: Prepared { base, value, ops },
        deltas_since_base,
        retire,
    } = document;
    let value = object(def, value)?;
    let is_base = match (target.requires_base(), ops.is_empty()) {
        (true, _) => Some(true),
        (false, true) => None,
        // Evaluated once, for ordinary later mutations only (spec 3.5).
        (false, false) => Some(wants_base(def, &value, &ops, deltas_since_base)?),
    };
    let content = is_base.map(|is_base| PreparedContent {
        version: def.version,
        before: (!matches!(target, Target::Create(_))).then_some(base),
        value,
        ops: ops.into(),
        is_base,
        deltas_before: deltas_since_base,
    });
    Ok(PreparedDocument {
        address,
        target,
        content,
        retired: retire,
    })
}

/// Whether a draft's definition wants a complete base for this change.
fn wants_base(def: &DocDef, value: &Json, ops: &[Op], deltas_since_base: u32) -> Result<bool, SessionError> {
    let info = CheckpointInfo { deltas_since_base };
    definition_code(def, || (def.checkpoint_when)(value, ops, info))
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
    for record in inner.session.documents_in(task.into(), Point::Current).await? {
        if prepared.iter().any(|document| document.target.id() == record.id) {
            continue;
        }
        prepared.push(PreparedDocument {
            address: record.address(),
            target: Target::Existing(Rc::new(record)),
            content: None,
            retired: true,
        });
    }
    Ok(())
}
