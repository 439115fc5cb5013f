//! Forks: a conversation that continues from an entry of another one, with copies of its documents (spec 3.7).
//!
//! A copy is staged as what to copy, not as a value: storage materializes it in the commit, so a fork costs its documents'
//! rows however long the history is. Only typed access in the forking transaction reads a copy, and makes it a creation.

use super::Tx;
use super::documents::OpenDocument;
use crate::documents::{DocDef, DocumentAddress, DocumentCreate, DocumentRecord, ForkPolicy, Point, Scope};
use crate::error::{Rejection, SessionError};
use crate::ids::{ConversationId, DocumentId, EntryId};
use crate::records::{ConversationOwnership, ConversationRecord};
use crate::session::typed::{check_semantics, read_as};
use crate::storage::StorageError;
use futures::future::LocalBoxFuture;

/// A document that a fork's child starts with.
#[derive(Clone)]
pub(crate) struct StagedCopy {
    /// The child's.
    pub address: DocumentAddress,
    pub create: DocumentCreate,
    pub source: DocumentId,
    pub at: Point,
}

/// What the forks of a transaction staged.
#[derive(Default)]
pub(crate) struct Forks {
    /// In the order of their ids. Without those that typed access made creations.
    copies: Vec<StagedCopy>,
    /// Every incarnation selected, also of copies that became creations.
    sources: Vec<DocumentId>,
    parents: Vec<ConversationId>,
}

impl Forks {
    /// One fork, complete.
    pub fn add(&mut self, parent: ConversationId, copies: Vec<StagedCopy>) {
        self.parents.push(parent);
        self.sources.extend(copies.iter().map(|copy| copy.source));
        self.copies.extend(copies);
    }

    fn at(&self, address: &DocumentAddress) -> Option<usize> {
        self.copies.iter().position(|copy| copy.address == *address)
    }

    /// Takes the copy from its address.
    pub fn take(&mut self, address: &DocumentAddress) -> Option<StagedCopy> {
        let at = self.at(address)?;
        Some(self.copies.remove(at))
    }

    /// Takes the copies that are left.
    pub fn take_copies(&mut self) -> Vec<StagedCopy> {
        std::mem::take(&mut self.copies)
    }

    /// A document that a fork reads must have one stored state to read: it cannot be written in the same transaction. The
    /// same holds for a `current` document that the parent gets only now.
    pub fn check_written(
        &self,
        id: DocumentId,
        address: &DocumentAddress,
        fork: Option<ForkPolicy>,
    ) -> Result<(), Rejection> {
        let of_parent = self
            .parents
            .iter()
            .any(|parent| address.scope == Scope::from(*parent));
        if self.sources.contains(&id) || (of_parent && fork == Some(ForkPolicy::Current)) {
            return Err(Rejection::ForkSourceWritten {
                kind: address.kind.clone(),
            });
        }
        Ok(())
    }
}

/// A new conversation's history and what it starts with.
pub(super) struct Fork {
    pub parent: ConversationId,
    pub at: EntryId,
    pub copies: Vec<StagedCopy>,
}

impl Tx {
    /// A conversation whose history is what `parent` sees through `at`, a committed entry visible from it. Documents follow
    /// their fork policies; tasks and their documents are not copied. The returned record is inert.
    ///
    /// # Errors
    /// [`Rejection::MissingConversation`], [`Rejection::EntryNotVisible`], those of the owner; and at the end of the
    /// transaction [`Rejection::ForkSourceWritten`].
    pub fn fork_conversation<'a>(
        &'a self,
        parent: ConversationId,
        at: EntryId,
        ownership: ConversationOwnership,
    ) -> LocalBoxFuture<'a, Result<ConversationRecord, SessionError>> {
        Box::pin(async move {
            self.open()?;
            let _pending = self.pending();
            self.expect_conversation(parent).await?;
            // Nothing is visible from a conversation that does not exist before this commit.
            let session = &self.0.session;
            let found = match self.is_committed(parent) {
                true => session.read(session.storage.visible_entry(parent, at)).await?,
                false => None,
            };
            let found = found.ok_or(Rejection::EntryNotVisible {
                entry: at,
                conversation: parent,
            })?;
            self.open()?;
            let child = ConversationId(self.mint().await?);
            // What was at the entry belongs to the ancestor that owns it, what is now to the parent. Complete before anything
            // of it is staged: a failure in between leaves no half of a fork.
            let mut copies = Vec::new();
            let then = Point::At(found.commit_seq);
            self.copy_all(
                found.entry.conversation_id,
                then,
                ForkPolicy::AsOf,
                child,
                &mut copies,
            )
            .await?;
            self.copy_all(parent, Point::Current, ForkPolicy::Current, child, &mut copies)
                .await?;
            let fork = Fork { parent, at, copies };
            self.insert_conversation(child, Some(fork), ownership).await
        })
    }

    fn is_committed(&self, conversation: ConversationId) -> bool {
        let staged = &self.0.state.borrow().conversations;
        !staged.iter().any(|record| record.id == conversation)
    }

    /// Stages a copy of every incarnation of `owner` that is alive at the point and has the policy, whatever wrote it.
    async fn copy_all(
        &self,
        owner: ConversationId,
        at: Point,
        policy: ForkPolicy,
        child: ConversationId,
        copies: &mut Vec<StagedCopy>,
    ) -> Result<(), SessionError> {
        for record in self.0.session.documents_in(owner.into(), at).await? {
            if record.fork == Some(policy) {
                copies.push(self.copy_of(record, at, child).await?);
            }
        }
        Ok(())
    }

    async fn copy_of(
        &self,
        source: DocumentRecord,
        at: Point,
        child: ConversationId,
    ) -> Result<StagedCopy, SessionError> {
        let create = DocumentCreate {
            id: DocumentId(self.mint().await?),
            kind: source.kind,
            key: source.key,
            scope: child.into(),
            history: source.history,
            fork: source.fork,
        };
        Ok(StagedCopy {
            address: create.address(),
            create,
            source: source.id,
            at,
        })
    }

    /// The copy staged for an address as a creation of its definition. Stays staged until the caller takes it.
    pub(super) async fn open_copy(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
    ) -> Result<Option<OpenDocument>, SessionError> {
        let staged = {
            let forks = &self.0.state.borrow().forks;
            forks.at(address).and_then(|at| forks.copies.get(at)).cloned()
        };
        let Some(StagedCopy {
            create, source, at, ..
        }) = staged
        else {
            return Ok(None);
        };
        let session = &self.0.session;
        let stored = session.read(session.storage.document(source, at)).await?;
        let gone = || session.fail(StorageError::Corrupt(format!("document {source} is gone")));
        let stored = stored.ok_or_else(gone)?;
        self.open()?;
        check_semantics(def, &stored.record)?;
        let (value, _) = read_as(def, stored.version, stored.value)?;
        Ok(Some(OpenDocument::new(def, create, value)))
    }
}
