//! Committed reads outside transactions. They go straight to storage; a fatal error ends the session.

use super::{CachedDocument, Session};
use crate::documents::{DocDef, DocumentAddress, Point, Scope};
use crate::error::SessionError;
use crate::ids::{ConversationId, EntryId, Seq, SubmissionId, TaskId};
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use crate::storage::{
    ConversationQuery, Cursor, EntryQuery, HeadMarker, Page, StorageFuture, StoredEntry, SubmissionQuery,
    TaskQuery,
};
use crate::tx::documents::{address_of, check_stored};
use std::rc::Rc;
use tidehold_delta::{Json, Text};

impl Session {
    async fn read<T>(&self, call: StorageFuture<'_, T>) -> Result<T, SessionError> {
        self.health()?;
        let result = call.await;
        // A call under way while the session failed reports the failure whatever it returned.
        self.health()?;
        result.map_err(|error| self.0.read_error(error))
    }

    /// The conversation, if it was created.
    pub async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRecord>, SessionError> {
        self.read(self.0.storage.conversation(id)).await
    }

    /// Pages of conversations in id order.
    pub async fn scan_conversations(
        &self,
        query: &ConversationQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<ConversationRecord>, SessionError> {
        self.read(self.0.storage.scan_conversations(query, limit, cursor))
            .await
    }

    /// Exact lookup of an entry.
    pub async fn entry(&self, id: EntryId) -> Result<Option<StoredEntry>, SessionError> {
        self.read(self.0.storage.entry(id)).await
    }

    /// An entry visible from `conversation`.
    pub async fn visible_entry(
        &self,
        conversation: ConversationId,
        id: EntryId,
    ) -> Result<Option<StoredEntry>, SessionError> {
        self.read(self.0.storage.visible_entry(conversation, id)).await
    }

    /// The newest visible head marker at or before the cutoff.
    pub async fn latest_head_marker(
        &self,
        conversation: ConversationId,
        at_or_before: Option<EntryId>,
    ) -> Result<Option<HeadMarker>, SessionError> {
        self.read(self.0.storage.find_latest_head_marker(conversation, at_or_before))
            .await
    }

    /// Pages of visible entries.
    pub async fn scan_entries(
        &self,
        query: &EntryQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<EntryRecord>, SessionError> {
        self.read(self.0.storage.scan_entries(query, limit, cursor)).await
    }

    /// The committed task record.
    pub async fn task(&self, id: TaskId) -> Result<Option<TaskRecord>, SessionError> {
        self.read(self.0.storage.task(id)).await
    }

    /// Pages of tasks in id order.
    pub async fn scan_tasks(
        &self,
        query: &TaskQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<TaskRecord>, SessionError> {
        self.read(self.0.storage.scan_tasks(query, limit, cursor)).await
    }

    /// The committed submission record.
    pub async fn submission(&self, id: SubmissionId) -> Result<Option<SubmissionRecord>, SessionError> {
        self.read(self.0.storage.submission(id)).await
    }

    /// Pages of submissions in id order.
    pub async fn scan_submissions(
        &self,
        query: &SubmissionQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<SubmissionRecord>, SessionError> {
        self.read(self.0.storage.scan_submissions(query, limit, cursor))
            .await
    }

    /// Random name of this session's lifetime; `None` before its first commit.
    pub async fn incarnation(&self) -> Result<Option<Text>, SessionError> {
        self.read(self.0.storage.incarnation()).await
    }

    /// Sequence number of the newest commit; see [`crate::storage::Storage::head`].
    pub async fn head(&self) -> Result<Option<Seq>, SessionError> {
        self.read(self.0.storage.head()).await
    }

    /// The committed value of a document; never creates it (spec 3.3).
    pub async fn snapshot(
        &self,
        def: &'static DocDef,
        scope: impl Into<Scope>,
    ) -> Result<Option<Json>, SessionError> {
        self.health()?;
        let address = address_of(def, scope.into());
        if let Some(cached) = self.0.documents.borrow().get(&address) {
            check_stored(def, &cached.record, cached.version)?;
            return Ok(Some(cached.value.clone()));
        }
        let inner = Rc::clone(&self.0);
        let loaded = self
            .on_line(async move || inner.load_document(&address).await)
            .await??;
        match loaded {
            Some(document) => {
                check_stored(def, &document.record, document.version)?;
                Ok(Some(document.value))
            }
            None => Ok(None),
        }
    }

    /// Like [`Session::snapshot`], for jobs that already run on the line ([`Session::on_line`]).
    pub async fn committed_document(
        &self,
        def: &'static DocDef,
        scope: impl Into<Scope>,
    ) -> Result<Option<Json>, SessionError> {
        let loaded = self.0.load_document(&address_of(def, scope.into())).await?;
        let Some(document) = loaded else { return Ok(None) };
        check_stored(def, &document.record, document.version)?;
        Ok(Some(document.value))
    }
}

impl super::Inner {
    /// Loads a document into the cache. Only on the line, so that no commit can pass between read and insert.
    pub(crate) async fn load_document(
        &self,
        address: &DocumentAddress,
    ) -> Result<Option<CachedDocument>, SessionError> {
        if let Some(cached) = self.documents.borrow().get(address) {
            return Ok(Some(cached.clone()));
        }
        let found = self
            .storage
            .find_document(address, Point::Current)
            .await
            .map_err(|e| self.read_error(e))?;
        let Some(record) = found else { return Ok(None) };
        let stored = self
            .storage
            .document(record.id, Point::Current)
            .await
            .map_err(|e| self.read_error(e))?;
        let Some(stored) = stored else { return Ok(None) };
        let cached = CachedDocument {
            record: Rc::new(stored.record),
            version: stored.version,
            value: stored.value,
            deltas_since_base: stored.deltas_since_base,
        };
        self.documents
            .borrow_mut()
            .insert(address.clone(), cached.clone());
        Ok(Some(cached))
    }
}
