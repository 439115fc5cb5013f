//! Documents of a transaction: get-or-create, memoized, read-your-writes (spec 3.3).

use super::{Tx, TxInner};
use crate::documents::{
    DocDef, DocFamilyToken, DocToken, DocumentAddress, DocumentCreate, Owner, Scope, Token,
};
use crate::error::{Rejection, SessionError};
use crate::ids::DocumentId;
use crate::session::typed::{
    StoredAs, TypedDocument, check_not_newer, check_semantics, definition_code, root,
};
use crate::tx::assembly::Target;
use futures::future::LocalBoxFuture;
use tidehold_delta::{Change, Draft, Json, Prepared};

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

/// What a settled callback acquired: retired documents first, then the others, each in the order of acquisition.
pub(crate) struct Sealed {
    pub pending: bool,
    pub failed: Option<SessionError>,
    pub documents: Vec<(DocumentAddress, OpenDocument)>,
}

/// A document whose draft is dead and whose change is known.
pub(crate) struct SealedDocument {
    pub address: DocumentAddress,
    pub def: &'static DocDef,
    pub target: Target,
    pub prepared: Prepared,
    pub deltas_since_base: u32,
    pub retire: bool,
}

impl Sealed {
    /// Prepares every change, in the turn in which the callback settled (spec 3.4). On an error all are aborted.
    pub fn prepare(self) -> Result<Vec<SealedDocument>, SessionError> {
        if self.pending {
            return Err(SessionError::PendingAcquisition);
        }
        if let Some(error) = self.failed {
            return Err(error);
        }
        let prepared = self.documents.into_iter().map(|(address, document)| {
            Ok(SealedDocument {
                address,
                def: document.def,
                target: document.target,
                prepared: document.change.prepare()?,
                deltas_since_base: document.deltas_since_base,
                retire: document.retire,
            })
        });
        prepared.collect()
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
            self.check_owner(address.scope).await?;
            if let Some(open) = self.0.state.borrow().document(&address) {
                return Ok(open.change.draft());
            }
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
            Scope::Task { task_id } => match self.check_unfinished(owner).await? {
                Some(()) => Ok(()),
                None => Err(Rejection::MissingTask(task_id).into()),
            },
        }
    }

    /// A task that this transaction finishes has no documents any more (spec 3.3). `None` for a task that does not exist.
    async fn check_unfinished(&self, owner: Scope) -> Result<Option<()>, SessionError> {
        let Scope::Task { task_id } = owner else {
            return Ok(Some(()));
        };
        match self.candidate_task(task_id).await? {
            Some(task) if !task.is_live() => Err(Rejection::TaskFinished(task_id).into()),
            Some(_) => Ok(Some(())),
            None => Ok(None),
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
        let loaded = self.0.session.load_document(address).await?;
        let Some(loaded) = loaded else { return Ok(None) };
        // No code of a definition runs for a transaction that settled meanwhile.
        self.open()?;
        let typed = self.0.session.typed(def, address, loaded)?;
        Ok(Some(OpenDocument::existing(def, typed)))
    }

    async fn created(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
        initial: Initial,
    ) -> Result<OpenDocument, SessionError> {
        self.open()?;
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
            self.check_unfinished(address.scope).await?;
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
            self.check_unfinished(address.scope).await?;
            let acquired = self.0.state.borrow_mut().take_document(&address);
            let retired = match acquired {
                Some(opened) => Some(opened),
                None => self.as_it_is(def, &address).await?,
            };
            let Some(mut opened) = retired else { return Ok(()) };
            opened.retire = true;
            self.0.state.borrow_mut().retired.push((address, opened));
            Ok(())
        })
    }

    /// The incarnation at an address that nobody acquired, for its end: not migrated, so that nothing but the end is written.
    /// A fork's copy is forgotten.
    async fn as_it_is(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
    ) -> Result<Option<OpenDocument>, SessionError> {
        {
            let mut state = self.0.state.borrow_mut();
            if state.is_retired(address) {
                return Ok(None);
            }
            if state.forks.take(address).is_some() {
                state.freed.push(address.clone());
                return Ok(None);
            }
        }
        let Some(loaded) = self.0.session.load_document(address).await? else {
            return Ok(None);
        };
        self.open()?;
        check_semantics(def, &loaded.record)?;
        check_not_newer(def, loaded.version)?;
        Ok(Some(OpenDocument {
            def,
            target: Target::Existing(loaded.record),
            change: Change::begin(loaded.value),
            deltas_since_base: loaded.deltas_since_base,
            retire: true,
        }))
    }
}
