//! The reference backend: ordered maps, exact and simple (spec 11.1).
//!
//! Values need no detaching: `Json` is immutable and records are shared by count and copied out. A batch is validated
//! whole (`commit`), then applied by code that cannot fail.

mod commit;
mod documents;
mod index;
mod read;
mod state;

use crate::batch;
use crate::limits::MAX_NUMBER;
pub(crate) use commit::Copies;
use state::State;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::Text;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// A session in memory. Handles made by [`reopen`](Self::reopen) share its data, each with its own end.
pub struct MemoryStorage {
    state: Rc<RefCell<State>>,
    closed: Cell<bool>,
}

impl MemoryStorage {
    /// Empty, of this incarnation.
    pub fn new(incarnation: impl Into<Text>) -> Self {
        Self {
            state: Rc::new(RefCell::new(State::new(incarnation.into()))),
            closed: Cell::new(false),
        }
    }

    /// Another handle on the same data, as if the process had restarted.
    pub fn reopen(&self) -> Self {
        Self {
            state: self.state.clone(),
            closed: Cell::new(false),
        }
    }

    fn read<'a, T: 'a>(
        &'a self,
        body: impl FnOnce(&State) -> Result<T, StorageError> + 'a,
    ) -> StorageFuture<'a, T> {
        Box::pin(async move {
            self.check_open()?;
            body(&self.state.borrow())
        })
    }

    fn write<'a, T: 'a>(
        &'a self,
        body: impl FnOnce(&mut State) -> Result<T, StorageError> + 'a,
    ) -> StorageFuture<'a, T> {
        Box::pin(async move {
            self.check_open()?;
            body(&mut self.state.borrow_mut())
        })
    }

    fn check_open(&self) -> Result<(), StorageError> {
        if self.closed.get() {
            Err(StorageError::Closed)
        } else {
            Ok(())
        }
    }
}

impl Storage for MemoryStorage {
    fn commit<'a>(&'a self, writes: &'a [StorageWrite]) -> StorageFuture<'a, Seq> {
        self.write(move |state| {
            let plan = batch::plan(writes)?;
            let copies = commit::validate(state, &plan)?;
            let seq = state.next_seq();
            commit::apply(state, &plan, copies, seq);
            Ok(seq)
        })
    }

    fn mint_id(&self) -> StorageFuture<'_, u64> {
        self.write(|state| {
            let id = state.next_id;
            if id > MAX_NUMBER {
                return Err(StorageError::IdsExhausted);
            }
            state.next_id = id + 1;
            Ok(id)
        })
    }

    fn incarnation(&self) -> StorageFuture<'_, Option<Text>> {
        self.read(|state| Ok(state.head.map(|_| state.incarnation.clone())))
    }

    fn head(&self) -> StorageFuture<'_, Option<Seq>> {
        self.read(|state| Ok(state.head))
    }

    fn conversation(&self, id: ConversationId) -> StorageFuture<'_, Option<ConversationRecord>> {
        self.read(move |state| Ok(state.conversations.get(&id.0).map(|record| (**record).clone())))
    }

    fn scan_conversations<'a>(
        &'a self,
        query: &'a ConversationQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<ConversationRecord>> {
        self.read(move |state| read::conversations(state, query, limit, cursor))
    }

    fn entry(&self, id: EntryId) -> StorageFuture<'_, Option<StoredEntry>> {
        self.read(move |state| Ok(read::entry(state, id)))
    }

    fn visible_entry(
        &self,
        conversation: ConversationId,
        id: EntryId,
    ) -> StorageFuture<'_, Option<StoredEntry>> {
        self.read(move |state| read::visible_entry(state, conversation, id))
    }

    fn find_latest_head_marker(
        &self,
        conversation: ConversationId,
        at_or_before: Option<EntryId>,
    ) -> StorageFuture<'_, Option<HeadMarker>> {
        self.read(move |state| read::head_marker(state, conversation, at_or_before))
    }

    fn scan_entries<'a>(
        &'a self,
        query: &'a EntryQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<EntryRecord>> {
        self.read(move |state| read::entries(state, query, limit, cursor))
    }

    fn task(&self, id: TaskId) -> StorageFuture<'_, Option<TaskRecord>> {
        self.read(move |state| Ok(state.tasks.get(&id.0).map(|record| (**record).clone())))
    }

    fn scan_tasks<'a>(
        &'a self,
        query: &'a TaskQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<TaskRecord>> {
        self.read(move |state| read::tasks(state, query, limit, cursor))
    }

    fn submission(&self, id: SubmissionId) -> StorageFuture<'_, Option<SubmissionRecord>> {
        self.read(move |state| Ok(state.submissions.get(&id.0).map(|record| (**record).clone())))
    }

    fn scan_submissions<'a>(
        &'a self,
        query: &'a SubmissionQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<SubmissionRecord>> {
        self.read(move |state| read::submissions(state, query, limit, cursor))
    }

    fn submission_by_request<'a>(
        &'a self,
        conversation: ConversationId,
        request_id: &'a str,
    ) -> StorageFuture<'a, Option<SubmissionRecord>> {
        self.read(move |state| Ok(read::submission_by_request(state, conversation, request_id)))
    }

    fn find_document<'a>(
        &'a self,
        address: &'a DocumentAddress,
        at: Point,
    ) -> StorageFuture<'a, Option<DocumentRecord>> {
        self.read(move |state| Ok(documents::find(state, address, at)))
    }

    fn document(&self, id: DocumentId, at: Point) -> StorageFuture<'_, Option<StoredDocument>> {
        self.read(move |state| documents::load(state, id, at))
    }

    fn scan_documents<'a>(
        &'a self,
        query: &'a DocumentQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> StorageFuture<'a, Page<DocumentRecord>> {
        self.read(move |state| documents::scan(state, query, limit, cursor))
    }

    fn close(&self) -> StorageFuture<'_, ()> {
        Box::pin(async move {
            self.closed.set(true);
            Ok(())
        })
    }
}
