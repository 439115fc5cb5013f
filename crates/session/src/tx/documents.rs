//! Documents of a transaction: get-or-create, memoized, read-your-writes (spec 3.3).

use super::{Tx, TxInner};
use crate::documents::{
    DocDef, DocFamilyToken, DocToken, DocumentAddress, DocumentCreate, Owner, Scope, Token,
};
use crate::error::{Rejection, SessionError};
use crate::ids::DocumentId;
use crate::session::typed::{StoredAs, TypedDocument, definition_code, root};
use crate::tx::assembly::Target;
use futures::future::LocalBoxFuture;
use tidehold_delta::{Change, Draft, Json};

/// One acquired document.
pub(crate) struct OpenDocument {
    pub def: &'static DocDef,
    pub target: Target,
    pub change: Change,
    pub deltas_since_base: u32,
    pub retire: bool,
}

impl OpenDocument {
    fn existing(def: &'static DocDef, stored: TypedDocument) -> Self {
        let target = match stored.stored_as {
            StoredAs::Current => Target::Existing(stored.record),
            StoredAs::Older => Target::Outdated(stored.record),
        };
        Self {
            def,
            target,
            change: Change::begin(stored.value),
            deltas_since_base: stored.deltas_since_base,
            retire: false,
        }
    }

    pub(super) fn new(def: &'static DocDef, create: DocumentCreate, value: Json) -> Self {
        Self {
            def,
            target: Target::Create(create),
            change: Change::begin(value),
            deltas_since_base: 0,
            retire: false,
        }
    }
}

/// Where an absent instance begins.
enum Initial {
    Singleton(fn() -> Json),
    /// The seed of the first acquisition: later ones find the draft.
    Member(fn(&Json) -> Json, Json),
}

/// An operation under way. A transaction that settles before it is rejected (spec 3.4).
pub(super) struct Pending<'a>(&'a TxInner);

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().pending -= 1;
    }
}

impl Tx {
    pub(super) fn pending(&self) -> Pending<'_> {
        self.0.state.borrow_mut().pending += 1;
        Pending(&self.0)
    }

    /// The draft of a singleton; created from its `initial` when absent. Later acquisitions return the same draft.
    pub fn doc<O: Owner>(
        &self,
        token: &'static DocToken<O>,
        owner: O,
    ) -> LocalBoxFuture<'_, Result<Draft, SessionError>> {
        let initial = Initial::Singleton(token.initial);
        self.acquire(token.def(), token.address(owner), initial)
    }

    /// The draft of a family's member; created from the family's `initial` of `seed` when absent. Later acquisitions
    /// return the same draft and ignore their seeds.
    pub fn member<O: Owner>(
        &self,
        token: &'static DocFamilyToken<O>,
        at: (O, &str),
        seed: Json,
    ) -> LocalBoxFuture<'_, Result<Draft, SessionError>> {
        let initial = Initial::Member(token.initial, seed);
        self.acquire(token.def(), token.address(at), initial)
    }

    // Boxed in here and out of line: its code then exists once, and not in each crate that names a token.
    #[inline(never)]
    fn acquire(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
        initial: Initial,
    ) -> LocalBoxFuture<'_, Result<Draft, SessionError>> {
        Box::pin(async move {
            self.open()?;
            let _pending = self.pending();
            let _turn = self.0.acquisition.lock().await;
            self.open()?;
            if let Some(open) = self.0.state.borrow().document(&address) {
                return Ok(open.change.draft());
            }
            self.check_owner(address.scope).await?;
            let opened = match self.stored(def, &address).await? {
                Some(opened) => opened,
                None => self.created(def, &address, initial).await?,
            };
            self.open()?;
            let draft = opened.change.draft();
            let mut state = self.0.state.borrow_mut();
            state.forks.take(&address);
            state.documents.push((address, opened));
            Ok(draft)
        })
    }

    /// Judged on the owner as this transaction would leave it. Not a caller's table read.
    async fn check_owner(&self, owner: Scope) -> Result<(), SessionError> {
        match owner {
            Scope::Session => Ok(()),
            Scope::Conversation { conversation_id } => self.expect_conversation(conversation_id).await,
            Scope::Task { task_id } => {
                let task = self.candidate_task(task_id).await?;
                if task.ok_or(Rejection::MissingTask(task_id))?.is_live() {
                    Ok(())
                } else {
                    Err(Rejection::TaskFinished(task_id).into())
                }
            }
        }
    }

    /// What is at the address before this transaction's own creation: the committed incarnation, or a fork's copy.
    async fn stored(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
    ) -> Result<Option<OpenDocument>, SessionError> {
        // After a retirement in this transaction the address is free again, whatever storage still says.
        if self.0.state.borrow().is_retired(address) {
            return Ok(None);
        }
        if let Some(copied) = self.open_copy(def, address).await? {
            return Ok(Some(copied));
        }
        let stored = self.0.session.typed_document(def, address).await?;
        Ok(stored.map(|stored| OpenDocument::existing(def, stored)))
    }

    async fn created(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
        initial: Initial,
    ) -> Result<OpenDocument, SessionError> {
        let value = definition_code(def, move || match initial {
            Initial::Singleton(initial) => initial(),
            Initial::Member(initial, seed) => initial(&seed),
        })?;
        let value = root(def, value)?;
        let (history, fork) = def.history.unzip();
        let create = DocumentCreate {
            id: DocumentId(self.mint().await?),
            kind: address.kind.clone(),
            key: address.key.clone(),
            scope: address.scope,
            history,
            fork,
        };
        Ok(OpenDocument::new(def, create, value))
    }

    /// The value as this transaction would leave it; `None` when absent. Never creates.
    pub fn peek<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<Option<Json>, SessionError>> {
        self.peek_at(token.def(), token.address(at))
    }

    #[inline(never)]
    fn peek_at(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
    ) -> LocalBoxFuture<'_, Result<Option<Json>, SessionError>> {
        Box::pin(async move {
            self.open()?;
            if let Some(open) = self.0.state.borrow().document(&address) {
                return Ok(open.change.draft().get()?);
            }
            let stored = self.stored(def, &address).await?;
            stored.map_or(Ok(None), |stored| Ok(stored.change.draft().get()?))
        })
    }

    /// Retires the incarnation at the address, persisting an acquired draft's final content first. Absent: nothing.
    pub fn retire_doc<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>> {
        self.retire_at(token.def(), token.address(at))
    }

    #[inline(never)]
    fn retire_at(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
    ) -> LocalBoxFuture<'_, Result<(), SessionError>> {
        Box::pin(async move {
            self.open()?;
            let _pending = self.pending();
            let _turn = self.0.acquisition.lock().await;
            self.open()?;
            let acquired = self.0.state.borrow_mut().take_document(&address);
            let retired = match acquired {
                Some(opened) => Some(opened),
                None => self.stored(def, &address).await?,
            };
            let Some(mut opened) = retired else { return Ok(()) };
            self.open()?;
            let mut state = self.0.state.borrow_mut();
            state.forks.take(&address);
            opened.retire = true;
            state.retired.push((address, opened));
            Ok(())
        })
    }
}
