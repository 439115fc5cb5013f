//! `SqlStorage`: the `Storage` trait over a driver. Every method is ready at its first poll.

use super::driver::SqlDriver;
use super::marks::Counters;
use super::recall::Recall;
use super::rows::Reader;
use super::writes::Writes;
use super::{commit, read, schema};
use std::cell::Cell;
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// A session in a SQLite database.
pub struct SqlStorage<D> {
    driver: D,
    /// The stored incarnation, or the one the first commit will store.
    incarnation: Text,
    counters: Cell<Counters>,
    recall: Cell<Recall>,
    closed: Cell<bool>,
}

impl<D: SqlDriver> SqlStorage<D> {
    /// Opens what `driver` holds and migrates it to the current schema; an empty database stays untouched.
    /// `candidate` becomes the incarnation of a session that has none, with its first commit.
    ///
    /// # Errors
    /// [`StorageError::SchemaTooNew`], [`StorageError::Corrupt`] when the schema has no metadata, and what the driver
    /// reports.
    pub fn open(driver: D, candidate: impl Into<Text>) -> Result<Self, StorageError> {
        let stored = schema::open(&driver)?;
        let (incarnation, counters) = match stored {
            Some(meta) => (meta.incarnation, Counters::reopened(meta.marks)),
            None => (candidate.into(), Counters::empty()),
        };
        Ok(Self {
            driver,
            incarnation,
            counters: Cell::new(counters),
            recall: Cell::default(),
            closed: Cell::new(false),
        })
    }

    /// The driver, for what the platform counts.
    pub fn driver(&self) -> &D {
        &self.driver
    }

    fn read<'a, T: 'a>(
        &'a self,
        body: impl FnOnce(&Reader<'_>) -> Result<T, StorageError> + 'a,
    ) -> StorageFuture<'a, T> {
        Box::pin(async move {
            self.check_open()?;
            body(&Reader::new(&self.driver, &self.counters.get()))
        })
    }

    fn check_open(&self) -> Result<(), StorageError> {
        if self.closed.get() {
            Err(StorageError::Closed)
        } else {
            Ok(())
        }
    }

    fn commit_now(&self, writes: &[StorageWrite]) -> Result<Seq, StorageError> {
        self.check_open()?;
        // Taken, so that nothing is remembered unless the commit succeeds.
        let before = commit::Before {
            counters: self.counters.get(),
            recall: self.recall.take(),
            incarnation: &self.incarnation,
        };
        let done = commit::commit(&self.driver, before, writes)?;
        self.counters.set(done.counters);
        self.recall.set(done.recall);
        Ok(done.seq)
    }

    fn mint_now(&self) -> Result<u64, StorageError> {
        self.check_open()?;
        let before = self.counters.get();
        let (id, after) = before.mint()?;
        if let Some(marks) = after.raised_since(&before) {
            let mut writes = Writes::default();
            schema::set_marks(&mut writes, marks);
            self.driver.apply(&writes).map_err(super::rows::backend)?;
        }
        self.counters.set(after);
        Ok(id)
    }
}

impl<D: SqlDriver> Storage for SqlStorage<D> {
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq> {
        Box::pin(async move { self.commit_now(writes) })
    }

    fn mint_id(&self) -> StorageFuture<'_, u64> {
        Box::pin(async move { self.mint_now() })
    }

    fn incarnation(&self) -> StorageFuture<'_, Option<Text>> {
        self.read(|_| Ok(self.counters.get().is_stored().then(|| self.incarnation.clone())))
    }

    fn head(&self) -> StorageFuture<'_, Option<Seq>> {
        self.read(|_| Ok(self.counters.get().head()))
    }

    fn conversation(&self, id: ConversationId) -> StorageFuture<'_, Option<ConversationRecord>> {
        self.read(move |reader| read::conversations::load(reader, id))
    }

    fn scan_conversations<'a>(
        &'a self,
        query: &'a ConversationQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<ConversationRecord>> {
        self.read(move |reader| read::conversations::scan(reader, query, limit, cursor))
    }

    fn entry(&self, id: EntryId) -> StorageFuture<'_, Option<StoredEntry>> {
        self.read(move |reader| Ok(read::entries::load(reader, id)?.map(|(entry, _)| entry)))
    }

    fn visible_entry(
        &self,
        conversation: ConversationId,
        id: EntryId,
    ) -> StorageFuture<'_, Option<StoredEntry>> {
        self.read(move |reader| read::entries::load_visible(reader, conversation, id))
    }

    fn find_latest_head_marker(
        &self,
        conversation: ConversationId,
        at_or_before: Option<EntryId>,
    ) -> StorageFuture<'_, Option<HeadMarker>> {
        self.read(move |reader| read::entries::head_marker(reader, conversation, at_or_before))
    }

    fn scan_entries<'a>(
        &'a self,
        query: &'a EntryQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<EntryRecord>> {
        self.read(move |reader| read::entries::scan(reader, query, limit, cursor))
    }

    fn task(&self, id: TaskId) -> StorageFuture<'_, Option<TaskRecord>> {
        self.read(move |reader| read::tasks::load(reader, id))
    }

    fn scan_tasks<'a>(
        &'a self,
        query: &'a TaskQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<TaskRecord>> {
        self.read(move |reader| read::tasks::scan(reader, query, limit, cursor))
    }

    fn submission(&self, id: SubmissionId) -> StorageFuture<'_, Option<SubmissionRecord>> {
        self.read(move |reader| read::submissions::load(reader, id))
    }

    fn scan_submissions<'a>(
        &'a self,
        query: &'a SubmissionQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<SubmissionRecord>> {
        self.read(move |reader| read::submissions::scan(reader, query, limit, cursor))
    }

    fn submission_by_request<'a>(
        &'a self,
        conversation: ConversationId,
        request_id: &'a str,
    ) -> StorageFuture<'a, Option<SubmissionRecord>> {
        self.read(move |reader| read::submissions::by_request(reader, conversation, request_id))
    }

    fn find_document<'a>(
        &'a self,
        address: &'a DocumentAddress,
        at: Point,
    ) -> StorageFuture<'a, Option<DocumentRecord>> {
        self.read(move |reader| read::documents::find(reader, address, at))
    }

    fn document(&self, id: DocumentId, at: Point) -> StorageFuture<'_, Option<StoredDocument>> {
        self.read(move |reader| read::documents::load(reader, id, at))
    }

    fn scan_documents<'a>(
        &'a self,
        query: &'a DocumentQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<DocumentRecord>> {
        self.read(move |reader| read::documents::scan(reader, query, limit, cursor))
    }

    fn close(&self) -> StorageFuture<'_, ()> {
        Box::pin(async move {
            if self.closed.replace(true) {
                return Ok(());
            }
            self.driver.close().map_err(super::rows::backend)
        })
    }
}
