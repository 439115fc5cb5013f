//! What a case works with: one storage, empty at first, and the way to open it again.

use super::build::{Doc, conv, doc};
use super::check::{CaseResult, Failure};
use futures::future::LocalBoxFuture;
use std::cell::RefCell;
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::documents::{DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq};
use tidehold_session::storage::*;

/// The place where the storages of a run are kept; one at a time.
pub trait StorageFactory {
    /// Deletes everything and opens an empty storage. Its incarnation will be another one.
    fn fresh(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>>;

    /// Opens what is stored, as after an eviction: the storage in use was not closed and is used no more.
    fn reopen(&self) -> LocalBoxFuture<'_, Result<Rc<dyn Storage>, StorageError>>;

    /// Whether nothing at all is stored: no table, no row.
    fn is_untouched(&self) -> LocalBoxFuture<'_, Result<bool, StorageError>>;
}

/// The storage under test.
pub struct Bench {
    factory: Rc<dyn StorageFactory>,
    storage: RefCell<Rc<dyn Storage>>,
}

impl Bench {
    pub(super) async fn new(factory: Rc<dyn StorageFactory>) -> CaseResult<Self> {
        let storage = RefCell::new(factory.fresh().await?);
        Ok(Self { factory, storage })
    }

    /// The storage in use.
    pub fn storage(&self) -> Rc<dyn Storage> {
        self.storage.borrow().clone()
    }

    pub(super) async fn reopen(&self) -> CaseResult {
        let storage = self.factory.reopen().await?;
        *self.storage.borrow_mut() = storage;
        Ok(())
    }

    pub(super) async fn start_over(&self) -> CaseResult {
        let storage = self.factory.fresh().await?;
        *self.storage.borrow_mut() = storage;
        Ok(())
    }

    pub(super) async fn is_untouched(&self) -> CaseResult<bool> {
        Ok(self.factory.is_untouched().await?)
    }

    pub(super) async fn commit(&self, writes: &[StorageWrite]) -> CaseResult<Seq> {
        Ok(self.storage().commit(writes).await?)
    }

    /// Commits what must be refused as a bad batch.
    pub(super) async fn refuse(&self, writes: &[StorageWrite]) -> CaseResult {
        match self.storage().commit(writes).await {
            Err(StorageError::Batch(_)) => Ok(()),
            other => Err(Failure(format!(
                "commit answered {other:?} instead of refusing {writes:?}"
            ))),
        }
    }

    /// The root conversation alone.
    pub(super) async fn root(&self) -> CaseResult<Seq> {
        self.commit(&[conv(1)]).await
    }

    /// A storage that holds conversation 1 and one document, created at the returned point.
    pub(super) async fn with_document(&self, record: Doc, version: u32, value: Json) -> CaseResult<Seq> {
        self.root().await?;
        self.commit(&[doc::create(record, version, value)]).await
    }

    pub(super) async fn document(&self, id: u64, at: Point) -> CaseResult<Option<StoredDocument>> {
        Ok(self.storage().document(DocumentId(id), at).await?)
    }

    /// The value of a document that must be there.
    pub(super) async fn value(&self, id: u64, at: Point) -> CaseResult<Json> {
        match self.document(id, at).await? {
            Some(stored) => Ok(stored.value),
            None => Err(Failure(format!("document {id} is absent at {at:?}"))),
        }
    }

    pub(super) async fn record(&self, id: u64) -> CaseResult<DocumentRecord> {
        match self.document(id, Point::Current).await? {
            Some(stored) => Ok(stored.record),
            None => Err(Failure(format!("document {id} is absent"))),
        }
    }

    /// Ids of all visible entries, page by page.
    pub(super) async fn entry_ids(&self, query: EntryQuery, limit: usize) -> CaseResult<Vec<u64>> {
        let storage = self.storage();
        let (mut ids, mut cursor) = (Vec::new(), None);
        loop {
            let page = storage.scan_entries(&query, limit, cursor.as_ref()).await?;
            holds!(
                page.items.len() <= limit,
                "{} items on a page of {limit}",
                page.items.len()
            );
            ids.extend(page.items.iter().map(|entry| entry.id.0));
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(ids),
            }
        }
    }

    pub(super) async fn has_entry(&self, id: u64) -> CaseResult<bool> {
        Ok(self.storage().entry(EntryId(id)).await?.is_some())
    }

    pub(super) async fn sees(&self, conversation: u64, entry: u64) -> CaseResult<bool> {
        let found = self
            .storage()
            .visible_entry(ConversationId(conversation), EntryId(entry))
            .await?;
        Ok(found.is_some())
    }
}
