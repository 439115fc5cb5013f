//! Documents of a transaction: get-or-create, memoized, read-your-writes (spec 3.3).

use super::{Tx, TxInner};
use crate::documents::{
    DocDef, DocumentAddress, DocumentCreate, DocumentRecord, ForkPolicy, History, LatestFork, Scope,
    Semantics, StoredHistory,
};
use crate::error::{Rejection, SessionError};
use crate::ids::DocumentId;
use crate::tx::assembly::Target;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::{Change, Draft, Json};

/// One acquired document.
pub(crate) struct OpenDocument {
    pub def: &'static DocDef,
    pub target: Target,
    pub change: Change,
    pub deltas_since_base: u32,
    pub retire: bool,
}

/// The singleton address of a definition in a scope.
pub(crate) fn address_of(def: &DocDef, scope: Scope) -> DocumentAddress {
    DocumentAddress {
        kind: def.kind.into(),
        scope,
        key: None,
    }
}

/// Stored lifetime semantics of a definition.
fn stored_semantics(def: &DocDef) -> (Option<StoredHistory>, Option<ForkPolicy>) {
    match def.semantics {
        Semantics::Session | Semantics::Task => (None, None),
        Semantics::Conversation(History::Latest { fork }) => {
            let fork = match fork {
                LatestFork::Current => ForkPolicy::Current,
                LatestFork::Initial => ForkPolicy::Initial,
            };
            (Some(StoredHistory::Latest), Some(fork))
        }
        Semantics::Conversation(History::Rewindable { fork }) => {
            (Some(StoredHistory::Rewindable), Some(fork))
        }
    }
}

/// Typed access rejects a definition that disagrees with the stored incarnation (spec 3.1).
pub(crate) fn check_stored(def: &DocDef, record: &DocumentRecord, version: u32) -> Result<(), Rejection> {
    if stored_semantics(def) != (record.history, record.fork) {
        return Err(Rejection::DocumentSemantics {
            kind: def.kind.into(),
        });
    }
    if def.version != version {
        return Err(Rejection::DocumentVersion {
            kind: def.kind.into(),
            stored: version,
            defined: def.version,
        });
    }
    Ok(())
}

struct PendingAcquisition<'a>(&'a TxInner);

impl Drop for PendingAcquisition<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().pending -= 1;
    }
}

impl Tx {
    /// The document's draft; created from `initial` when absent. Later acquisitions return the same draft.
    pub fn doc(
        &self,
        def: &'static DocDef,
        scope: impl Into<Scope>,
    ) -> LocalBoxFuture<'_, Result<Draft, SessionError>> {
        Box::pin(self.doc_at(def, scope.into()))
    }

    async fn doc_at(&self, def: &'static DocDef, scope: Scope) -> Result<Draft, SessionError> {
        self.open()?;
        self.0.state.borrow_mut().pending += 1;
        let _pending = PendingAcquisition(&self.0);
        let _turn = self.0.acquisition.lock().await;
        self.open()?;
        let address = address_of(def, scope);
        if let Some(open) = self.0.state.borrow().document(&address) {
            return Ok(open.change.draft());
        }
        if let Scope::Task { task_id } = address.scope {
            let task = self
                .candidate_task(task_id)
                .await?
                .ok_or(Rejection::MissingTask(task_id))?;
            if !task.is_live() {
                return Err(Rejection::TaskFinished(task_id).into());
            }
        }
        // After a retirement in this transaction the address is free again, whatever storage still says.
        let retired_here = self.0.state.borrow().is_retired(&address);
        let stored = if retired_here {
            None
        } else {
            self.0.session.load_document(&address).await?
        };
        let opened = match stored {
            Some(stored) => {
                check_stored(def, &stored.record, stored.version)?;
                OpenDocument {
                    def,
                    target: Target::Existing(stored.record),
                    change: Change::begin(stored.value),
                    deltas_since_base: stored.deltas_since_base,
                    retire: false,
                }
            }
            None => self.created(def, &address).await?,
        };
        self.open()?;
        let draft = opened.change.draft();
        self.0.state.borrow_mut().documents.push((address, opened));
        Ok(draft)
    }

    async fn created(
        &self,
        def: &'static DocDef,
        address: &DocumentAddress,
    ) -> Result<OpenDocument, SessionError> {
        let minted = self.0.session.storage.mint_id().await;
        let id = DocumentId(minted.map_err(|error| self.0.session.fail(error))?);
        let (history, fork) = stored_semantics(def);
        let create = DocumentCreate {
            id,
            kind: address.kind.clone(),
            key: None,
            scope: address.scope,
            history,
            fork,
        };
        Ok(OpenDocument {
            def,
            target: Target::Create(create),
            change: Change::begin((def.initial)()),
            deltas_since_base: 0,
            retire: false,
        })
    }

    /// The value as this transaction would leave it; `None` when absent. Never creates.
    pub fn peek(
        &self,
        def: &'static DocDef,
        scope: impl Into<Scope>,
    ) -> LocalBoxFuture<'_, Result<Option<Json>, SessionError>> {
        Box::pin(self.peek_at(def, scope.into()))
    }

    async fn peek_at(&self, def: &'static DocDef, scope: Scope) -> Result<Option<Json>, SessionError> {
        self.open()?;
        let address = address_of(def, scope);
        if let Some(open) = self.0.state.borrow().document(&address) {
            return Ok(open.change.draft().get()?);
        }
        if self.0.state.borrow().is_retired(&address) {
            return Ok(None);
        }
        let stored = self.0.session.load_document(&address).await?;
        let Some(stored) = stored else { return Ok(None) };
        check_stored(def, &stored.record, stored.version)?;
        Ok(Some(stored.value))
    }

    /// Retires the incarnation at the address, persisting an acquired draft's final content first. Absent: nothing.
    pub fn retire_doc(
        &self,
        def: &'static DocDef,
        scope: impl Into<Scope>,
    ) -> LocalBoxFuture<'_, Result<(), SessionError>> {
        Box::pin(self.retire_doc_at(def, scope.into()))
    }

    async fn retire_doc_at(&self, def: &'static DocDef, scope: Scope) -> Result<(), SessionError> {
        self.open()?;
        self.0.state.borrow_mut().pending += 1;
        let _pending = PendingAcquisition(&self.0);
        let _turn = self.0.acquisition.lock().await;
        self.open()?;
        let address = address_of(def, scope);
        let acquired = {
            let documents = &mut self.0.state.borrow_mut().documents;
            let at = documents.iter().position(|(known, _)| *known == address);
            at.map(|at| documents.remove(at).1)
        };
        let mut opened = match acquired {
            Some(opened) => opened,
            // Nothing is at the address any more, whatever storage still says.
            None if self.0.state.borrow().is_retired(&address) => return Ok(()),
            None => match self.0.session.load_document(&address).await? {
                Some(stored) => OpenDocument {
                    def,
                    target: Target::Existing(stored.record),
                    change: Change::begin(stored.value),
                    deltas_since_base: stored.deltas_since_base,
                    retire: true,
                },
                None => return Ok(()),
            },
        };
        opened.retire = true;
        self.0.state.borrow_mut().retired.push((address, opened));
        Ok(())
    }
}

/// Whether a draft's definition wants a complete base for this change.
pub(super) fn wants_base(open: &OpenDocument, value: &Json, ops: &[tidehold_delta::Op]) -> bool {
    let info = crate::documents::CheckpointInfo {
        deltas_since_base: open.deltas_since_base,
    };
    (open.def.checkpoint_when)(value, ops, info)
}

/// Keeps the record type in one place for assembly.
pub(super) type Record = Rc<DocumentRecord>;
