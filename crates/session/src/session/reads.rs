//! Committed reads outside transactions. They go straight to storage; a fatal error ends the session.

use super::typed::{check_semantics, migrated_before, read_as};
use super::{CachedDocument, Session};
use crate::documents::{DocDef, DocumentAddress, DocumentRecord, Point, Scope, Token};
use crate::error::{Rejection, SessionError};
use crate::ids::{ConversationId, EntryId, Seq, SubmissionId, TaskId};
use crate::limits::SCAN_PAGE;
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use crate::storage::{
    ConversationQuery, Cursor, DocumentQuery, EntryQuery, HeadMarker, Page, StorageFuture, StoredEntry,
    SubmissionQuery, TaskQuery,
};
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_delta::{Json, Text};

impl Session {
    async fn read<T>(&self, call: StorageFuture<'_, T>) -> Result<T, SessionError> {
        self.health()?;
        self.0.read(call).await
    }

    /// The conversation, if it was created.
    pub fn conversation<'a>(
        &'a self,
        id: ConversationId,
    ) -> LocalBoxFuture<'a, Result<Option<ConversationRecord>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.conversation(id)).await })
    }

    /// Pages of conversations in id order.
    pub fn scan_conversations<'a>(
        &'a self,
        query: &'a ConversationQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<ConversationRecord>, SessionError>> {
        Box::pin(async move {
            self.read(self.0.storage.scan_conversations(query, limit, cursor))
                .await
        })
    }

    /// Exact lookup of an entry.
    pub fn entry<'a>(&'a self, id: EntryId) -> LocalBoxFuture<'a, Result<Option<StoredEntry>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.entry(id)).await })
    }

    /// An entry visible from `conversation`.
    pub fn visible_entry<'a>(
        &'a self,
        conversation: ConversationId,
        id: EntryId,
    ) -> LocalBoxFuture<'a, Result<Option<StoredEntry>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.visible_entry(conversation, id)).await })
    }

    /// The newest visible head marker at or before the cutoff.
    pub fn latest_head_marker<'a>(
        &'a self,
        conversation: ConversationId,
        at_or_before: Option<EntryId>,
    ) -> LocalBoxFuture<'a, Result<Option<HeadMarker>, SessionError>> {
        Box::pin(async move {
            self.read(self.0.storage.find_latest_head_marker(conversation, at_or_before))
                .await
        })
    }

    /// Pages of visible entries.
    pub fn scan_entries<'a>(
        &'a self,
        query: &'a EntryQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<EntryRecord>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.scan_entries(query, limit, cursor)).await })
    }

    /// The committed task record.
    pub fn task<'a>(&'a self, id: TaskId) -> LocalBoxFuture<'a, Result<Option<TaskRecord>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.task(id)).await })
    }

    /// Pages of tasks in id order.
    pub fn scan_tasks<'a>(
        &'a self,
        query: &'a TaskQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<TaskRecord>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.scan_tasks(query, limit, cursor)).await })
    }

    /// The committed submission record.
    pub fn submission<'a>(
        &'a self,
        id: SubmissionId,
    ) -> LocalBoxFuture<'a, Result<Option<SubmissionRecord>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.submission(id)).await })
    }

    /// Pages of submissions in id order.
    pub fn scan_submissions<'a>(
        &'a self,
        query: &'a SubmissionQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<SubmissionRecord>, SessionError>> {
        Box::pin(async move {
            self.read(self.0.storage.scan_submissions(query, limit, cursor))
                .await
        })
    }

    /// Random name of this session's lifetime; `None` before its first commit.
    pub fn incarnation<'a>(&'a self) -> LocalBoxFuture<'a, Result<Option<Text>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.incarnation()).await })
    }

    /// Sequence number of the newest commit; see [`crate::storage::Storage::head`].
    pub fn head<'a>(&'a self) -> LocalBoxFuture<'a, Result<Option<Seq>, SessionError>> {
        Box::pin(async move { self.read(self.0.storage.head()).await })
    }

    /// The committed value of a document, migrated in memory; never creates it (spec 3.3).
    pub fn snapshot<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<Option<Json>, SessionError>> {
        self.snapshot_at(token.def(), token.address(at))
    }

    // Boxed in here and out of line: its code then exists once, and not in each crate that names a token.
    #[inline(never)]
    fn snapshot_at(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
    ) -> LocalBoxFuture<'_, Result<Option<Json>, SessionError>> {
        Box::pin(async move {
            self.health()?;
            if let Some(cached) = self.0.documents.borrow_mut().get(&address, self.0.host.now())
                && let Some((value, _)) = migrated_before(def, cached)?
            {
                return Ok(Some(value));
            }
            let inner = Rc::clone(&self.0);
            let document = self
                .on_line(async move || inner.typed_document(def, &address).await)
                .await??;
            Ok(document.map(|document| document.value))
        })
    }

    /// Like [`Session::snapshot`], for jobs that already run on the line ([`Session::on_line`]).
    pub fn committed_document<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
    ) -> LocalBoxFuture<'a, Result<Option<Json>, SessionError>> {
        self.committed_at(token.def(), token.address(at))
    }

    #[inline(never)]
    fn committed_at(
        &self,
        def: &'static DocDef,
        address: DocumentAddress,
    ) -> LocalBoxFuture<'_, Result<Option<Json>, SessionError>> {
        Box::pin(async move {
            let document = self.0.typed_document(def, &address).await?;
            Ok(document.map(|document| document.value))
        })
    }

    /// The value of a rewindable conversation document at the end of the commit that appended `entry`, which must be visible
    /// from the conversation. `None` where no instance was alive then. Read from the conversation that owns the entry: a
    /// fork's own copy is younger than what it inherited (spec 3.3).
    ///
    /// # Errors
    /// [`Rejection::NotRewindable`], [`Rejection::EntryNotVisible`], and those of [`Session::snapshot`].
    pub fn snapshot_as_of<'a, T: Token>(
        &'a self,
        token: T,
        at: T::At<'_>,
        entry: EntryId,
    ) -> LocalBoxFuture<'a, Result<Option<Json>, SessionError>> {
        self.as_of(token.def(), token.address(at), entry)
    }

    #[inline(never)]
    fn as_of(
        &self,
        def: &'static DocDef,
        mut address: DocumentAddress,
        entry: EntryId,
    ) -> LocalBoxFuture<'_, Result<Option<Json>, SessionError>> {
        Box::pin(async move {
            let (Scope::Conversation { conversation_id }, true) = (address.scope, def.is_rewindable()) else {
                let kind = def.kind.into();
                return Err(Rejection::NotRewindable { kind }.into());
            };
            self.health()?;
            // One read, though it takes three calls: a close meanwhile lets it end.
            let (_hold, inner) = (self.0.hold(), &self.0);
            let found = inner
                .read(inner.storage.visible_entry(conversation_id, entry))
                .await?;
            let found = found.ok_or(Rejection::EntryNotVisible {
                entry,
                conversation: conversation_id,
            })?;
            address.scope = found.entry.conversation_id.into();
            let at = Point::At(found.commit_seq);
            let record = inner.read(inner.storage.find_document(&address, at)).await?;
            let Some(record) = record else { return Ok(None) };
            check_semantics(def, &record)?;
            let stored = inner.read(inner.storage.document(record.id, at)).await?;
            let Some(stored) = stored else { return Ok(None) };
            let (value, _) = read_as(def, stored.version, stored.value)?;
            Ok(Some(value))
        })
    }
}

impl super::Inner {
    /// Every incarnation of one scope that is alive at the point, in the order of ids.
    pub(crate) async fn documents_in(
        &self,
        scope: Scope,
        at: Point,
    ) -> Result<Vec<DocumentRecord>, SessionError> {
        let kind = None;
        let query = DocumentQuery { scope, at, kind };
        let (mut records, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.storage.scan_documents(&query, SCAN_PAGE, cursor.as_ref());
            let page = self.read(page).await?;
            records.extend(page.items);
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(records),
            }
        }
    }

    /// The committed document at an address, from memory or into it. On the line, so that no commit passes meanwhile.
    pub(crate) fn load_document<'a>(
        &'a self,
        address: &'a DocumentAddress,
    ) -> LocalBoxFuture<'a, Result<Option<CachedDocument>, SessionError>> {
        Box::pin(async move {
            if let Some(cached) = self.documents.borrow_mut().get(address, self.host.now()) {
                return Ok(Some(cached.clone()));
            }
            let asked = self.documents.borrow().adopted();
            let found = self
                .read(self.storage.find_document(address, Point::Current))
                .await?;
            let Some(record) = found else { return Ok(None) };
            let stored = self
                .read(self.storage.document(record.id, Point::Current))
                .await?;
            let Some(stored) = stored else { return Ok(None) };
            let cached = CachedDocument {
                record: Rc::new(stored.record),
                version: stored.version,
                value: stored.value,
                migrated: None,
                deltas_since_base: stored.deltas_since_base,
            };
            let mut cache = self.documents.borrow_mut();
            cache.loaded(address, &cached, asked, self.host.now());
            Ok(Some(cached))
        })
    }
}
