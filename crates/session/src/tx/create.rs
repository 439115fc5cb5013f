//! Creation and replacement of records in a transaction (spec 3.3).

use super::forks::Fork;
use super::{OwnerClaim, OwnerClaimKind, TaskCandidate, Tx, payloads};
use crate::error::{Rejection, SessionError};
use crate::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID, SubmissionId, TaskId};
use crate::records::{
    ConversationOwner, ConversationOwnership, ConversationParent, ConversationRecord, DraftHead, EntryDraft,
    EntryRecord, SubmissionRecord, SubmissionState, TaskCreate, TaskOwnership, TaskRecord, TaskState,
};
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::{Object, Text};

impl Tx {
    pub(super) async fn mint(&self) -> Result<u64, SessionError> {
        self.open()?;
        let session = &self.0.session;
        let id = session.write(session.storage.mint_id()).await?;
        self.open()?;
        Ok(id)
    }

    /// A new conversation without history. The returned record is inert.
    pub fn create_conversation<'a>(
        &'a self,
        ownership: ConversationOwnership,
    ) -> LocalBoxFuture<'a, Result<ConversationRecord, SessionError>> {
        Box::pin(async move {
            let id = ConversationId(self.mint().await?);
            self.insert_conversation(id, None, ownership).await
        })
    }

    /// The root conversation under its reserved id.
    ///
    /// # Errors
    /// [`Rejection::ConversationExists`].
    pub fn create_root<'a>(&'a self) -> LocalBoxFuture<'a, Result<ConversationRecord, SessionError>> {
        Box::pin(async move {
            self.open()?;
            if self.has_conversation(ROOT_CONVERSATION_ID).await? {
                return Err(Rejection::ConversationExists(ROOT_CONVERSATION_ID).into());
            }
            self.insert_conversation(ROOT_CONVERSATION_ID, None, ConversationOwnership::Ownerless)
                .await
        })
    }

    pub(super) async fn insert_conversation(
        &self,
        id: ConversationId,
        fork: Option<Fork>,
        ownership: ConversationOwnership,
    ) -> Result<ConversationRecord, SessionError> {
        self.table_write()?;
        let owner = match ownership {
            ConversationOwnership::Ownerless => None,
            ConversationOwnership::Task(task_id) => {
                let owner = self.candidate_task(task_id).await?;
                let owner = owner.ok_or(Rejection::MissingTask(task_id))?;
                self.0.state.borrow_mut().new_owners.push(OwnerClaim {
                    owner: task_id,
                    kind: OwnerClaimKind::Conversation(id),
                });
                Some(ConversationOwner {
                    conversation_id: owner.conversation_id,
                    task_id,
                })
            }
        };
        self.open()?;
        let parent = fork.as_ref().map(|fork| ConversationParent {
            conversation_id: fork.parent,
            at: fork.at,
        });
        let record = ConversationRecord { id, parent, owner };
        {
            let mut state = self.0.state.borrow_mut();
            state.conversations.push(Rc::new(record.clone()));
            if let Some(Fork { parent, copies, .. }) = fork {
                state.forks.add(parent, copies);
            }
        }
        if let Some(hook) = &self.0.session.options.conversation_created {
            // Without what the hook adds the conversation is not whole (spec 10.1).
            if let Err(error) = hook.created(self, &record).await {
                self.0.state.borrow_mut().failed = Some(error.clone());
                return Err(error);
            }
        }
        Ok(record)
    }

    /// Appends an entry. Its id is above every entry before it.
    pub fn append_entry<'a>(
        &'a self,
        conversation_id: ConversationId,
        draft: EntryDraft,
    ) -> LocalBoxFuture<'a, Result<EntryRecord, SessionError>> {
        Box::pin(async move {
            self.open()?;
            payloads::check_entry(&draft)?;
            self.expect_conversation(conversation_id).await?;
            let id = EntryId(self.mint().await?);
            self.table_write()?;
            let EntryDraft {
                kind,
                model,
                data,
                head,
                edits,
            } = draft;
            if let Some(DraftHead::Entry(entry)) = head
                && entry > id
            {
                // It would reach back to whatever gets this id one day.
                let conversation = conversation_id;
                return Err(Rejection::EntryNotVisible { entry, conversation }.into());
            }
            let head = head.map(|head| match head {
                DraftHead::Itself => id,
                DraftHead::Entry(entry) => entry,
            });
            let mut state = self.0.state.borrow_mut();
            let record = EntryRecord {
                id,
                conversation_id,
                kind,
                model,
                data,
                head,
                edits,
                by_task_id: state.by_task,
            };
            state.entries.push(Rc::new(record.clone()));
            Ok(record)
        })
    }

    /// Creates a task, pending at its initial checkpoint. Typed wrappers live with the task definitions.
    pub fn create_task<'a>(&'a self, create: TaskCreate) -> LocalBoxFuture<'a, Result<TaskId, SessionError>> {
        Box::pin(async move {
            self.open()?;
            let (owner, default_conversation) = match create.ownership {
                TaskOwnership::Conversation => (None, self.0.state.borrow().bound),
                TaskOwnership::Task(owner) => {
                    let record = self
                        .candidate_task(owner)
                        .await?
                        .ok_or(Rejection::MissingTask(owner))?;
                    if create.background {
                        return Err(Rejection::BackgroundChild.into());
                    }
                    if create
                        .conversation_id
                        .is_some_and(|id| id != record.conversation_id)
                    {
                        return Err(Rejection::ForeignConversation.into());
                    }
                    (Some(owner), Some(record.conversation_id))
                }
            };
            let conversation_id = create
                .conversation_id
                .or(default_conversation)
                .ok_or(Rejection::NoConversation)?;
            self.expect_conversation(conversation_id).await?;
            let id = TaskId(self.mint().await?);
            self.table_write()?;
            let record = TaskRecord {
                id,
                conversation_id,
                kind: create.kind,
                version: create.version,
                input: create.input,
                owner,
                background: create.background,
                abort_requested: false,
                abort_reason: None,
                abandon_on_restart: create.abandon_on_restart,
                started_at: None,
                ended_at: None,
                state: TaskState::Pending {
                    checkpoint: create.checkpoint,
                },
                memos: Object::new(),
            };
            payloads::check_task(&record)?;
            payloads::check_task_size(&record)?;
            let mut state = self.0.state.borrow_mut();
            if let Some(owner) = owner {
                state.new_owners.push(OwnerClaim {
                    owner,
                    kind: OwnerClaimKind::ChildTask(id),
                });
            }
            state.tasks.insert(
                id,
                TaskCandidate {
                    before: None,
                    after: record,
                },
            );
            Ok(id)
        })
    }

    /// Gives a task created by this transaction another initial checkpoint, for one that names what was created after
    /// it.
    pub fn set_initial_checkpoint(
        &self,
        id: TaskId,
        checkpoint: tidehold_delta::Json,
    ) -> Result<(), SessionError> {
        self.open()?;
        payloads::check_checkpoint(&checkpoint)?;
        let mut state = self.0.state.borrow_mut();
        match state.tasks.get_mut(&id) {
            Some(TaskCandidate { before: None, after }) => {
                let mut changed = after.clone();
                changed.state = TaskState::Pending { checkpoint };
                payloads::check_task_size(&changed)?;
                *after = changed;
                Ok(())
            }
            Some(_) | None => Err(Rejection::MissingTask(id).into()),
        }
    }

    /// Replaces a task record. Only the scheduler calls this: a task changes its own state through its runtime, anything
    /// else through an abort (spec 5.1). Lifecycle times are stamped here.
    pub fn stage_task<'a>(&'a self, mut record: TaskRecord) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        Box::pin(async move {
            self.open()?;
            let staged = self
                .0
                .state
                .borrow()
                .tasks
                .get(&record.id)
                .map(|candidate| candidate.before.clone());
            let before = match staged {
                Some(before) => before,
                None => Some(
                    self.committed_task(record.id)
                        .await?
                        .ok_or(Rejection::MissingTask(record.id))?,
                ),
            };
            if before
                .as_ref()
                .is_some_and(|before| before.conversation_id != record.conversation_id)
            {
                return Err(Rejection::ForeignConversation.into());
            }
            match &record.state {
                TaskState::Running { .. } if record.started_at.is_none() => {
                    record.started_at = Some(self.now());
                }
                TaskState::Terminal { .. } if record.ended_at.is_none() => record.ended_at = Some(self.now()),
                _ => {}
            }
            if record.outcome().is_some() {
                record.memos = Object::new();
            }
            payloads::check_task(&record)?;
            self.table_write()?;
            self.0.state.borrow_mut().tasks.insert(
                record.id,
                TaskCandidate {
                    before,
                    after: record,
                },
            );
            Ok(())
        })
    }

    /// A raw submission record; admission rules live with the harness.
    ///
    /// # Errors
    /// [`Rejection::MissingConversation`]; [`Rejection::RequestIdTaken`] when the conversation has a submission of this
    /// request, in storage or in this transaction.
    pub fn create_submission<'a>(
        &'a self,
        conversation_id: ConversationId,
        request_id: Option<Text>,
        content_hash: Option<Text>,
        state: SubmissionState,
    ) -> LocalBoxFuture<'a, Result<SubmissionRecord, SessionError>> {
        Box::pin(async move {
            self.open()?;
            payloads::check_submission(&state)?;
            self.expect_conversation(conversation_id).await?;
            if let Some(request_id) = &request_id {
                self.expect_free_request(conversation_id, request_id).await?;
            }
            let id = SubmissionId(self.mint().await?);
            self.table_write()?;
            let record = SubmissionRecord {
                id,
                conversation_id,
                request_id,
                content_hash,
                state,
            };
            let mut tx = self.0.state.borrow_mut();
            tx.submissions.entry(id).or_default().created = Some(record.clone());
            Ok(record)
        })
    }

    /// The task as this transaction would leave it, falling back to committed state. Not a caller table read.
    pub fn candidate_task<'a>(
        &'a self,
        id: TaskId,
    ) -> LocalBoxFuture<'a, Result<Option<TaskRecord>, SessionError>> {
        Box::pin(async move {
            let staged = self
                .0
                .state
                .borrow()
                .tasks
                .get(&id)
                .map(|candidate| candidate.after.clone());
            match staged {
                Some(record) => Ok(Some(record)),
                None => Ok(self.committed_task(id).await?.map(Rc::unwrap_or_clone)),
            }
        })
    }

    async fn committed_task(&self, id: TaskId) -> Result<Option<Rc<TaskRecord>>, SessionError> {
        let session = &self.0.session;
        let known = session.known.borrow().task(id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        // Not made known: only what the line committed is certainly the newest.
        let stored = session.read(session.storage.task(id)).await?;
        Ok(stored.map(Rc::new))
    }

    async fn expect_free_request(
        &self,
        conversation: ConversationId,
        request_id: &Text,
    ) -> Result<(), SessionError> {
        let is_staged = || {
            let state = self.0.state.borrow();
            let mut created = state
                .submissions
                .values()
                .filter_map(|candidate| candidate.created.as_ref());
            created.any(|created| {
                created.conversation_id == conversation && created.request_id.as_ref() == Some(request_id)
            })
        };
        let was_looked_up = || {
            let state = self.0.state.borrow();
            matches!(&state.free_request, Some((of, id)) if *of == conversation && id == request_id)
        };
        let session = &self.0.session;
        let stored = session.storage.submission_by_request(conversation, request_id);
        if is_staged() || (!was_looked_up() && session.read(stored).await?.is_some()) {
            let request_id = request_id.clone();
            return Err(Rejection::RequestIdTaken {
                conversation,
                request_id,
            }
            .into());
        }
        Ok(())
    }

    pub(super) async fn expect_conversation(&self, id: ConversationId) -> Result<(), SessionError> {
        match self.has_conversation(id).await? {
            true => Ok(()),
            false => Err(Rejection::MissingConversation(id).into()),
        }
    }

    async fn has_conversation(&self, id: ConversationId) -> Result<bool, SessionError> {
        let session = &self.0.session;
        let is_staged = || {
            let state = self.0.state.borrow();
            state.conversations.iter().any(|record| record.id == id)
        };
        if session.known.borrow().has_conversation(id) || is_staged() {
            return Ok(true);
        }
        let found = session.read(session.storage.conversation(id)).await?.is_some();
        if found {
            session.known.borrow_mut().found(id);
        }
        Ok(found)
    }
}
