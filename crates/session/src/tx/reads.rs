//! Table reads of a transaction: committed state, before the first table write (spec 4).

use super::Tx;
use crate::error::SessionError;
use crate::ids::{ConversationId, EntryId, SubmissionId, TaskId};
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use crate::storage::{
    ConversationQuery, Cursor, EntryQuery, HeadMarker, Page, StorageFuture, SubmissionQuery, TaskQuery,
};
use futures::future::LocalBoxFuture;

impl Tx {
    async fn read<T>(&self, method: &'static str, call: StorageFuture<'_, T>) -> Result<T, SessionError> {
        self.table_read(method)?;
        let result = self.0.session.read(call).await;
        self.open()?;
        result
    }

    /// The conversation, if committed.
    pub fn conversation<'a>(
        &'a self,
        id: ConversationId,
    ) -> LocalBoxFuture<'a, Result<Option<ConversationRecord>, SessionError>> {
        Box::pin(async move {
            self.read("conversation", self.0.session.storage.conversation(id))
                .await
        })
    }

    /// The entry, if committed.
    pub fn entry<'a>(&'a self, id: EntryId) -> LocalBoxFuture<'a, Result<Option<EntryRecord>, SessionError>> {
        Box::pin(async move {
            Ok(self
                .read("entry", self.0.session.storage.entry(id))
                .await?
                .map(|stored| stored.entry))
        })
    }

    /// The entry, if visible from `conversation`.
    pub fn visible_entry<'a>(
        &'a self,
        conversation: ConversationId,
        id: EntryId,
    ) -> LocalBoxFuture<'a, Result<Option<EntryRecord>, SessionError>> {
        Box::pin(async move {
            let found = self
                .read(
                    "visible_entry",
                    self.0.session.storage.visible_entry(conversation, id),
                )
                .await?;
            Ok(found.map(|stored| stored.entry))
        })
    }

    /// The committed task record.
    pub fn task<'a>(&'a self, id: TaskId) -> LocalBoxFuture<'a, Result<Option<TaskRecord>, SessionError>> {
        Box::pin(async move { self.read("task", self.0.session.storage.task(id)).await })
    }

    /// The committed submission record.
    pub fn submission<'a>(
        &'a self,
        id: SubmissionId,
    ) -> LocalBoxFuture<'a, Result<Option<SubmissionRecord>, SessionError>> {
        Box::pin(async move {
            self.read("submission", self.0.session.storage.submission(id))
                .await
        })
    }

    /// The submission admitted under this request id.
    pub fn submission_by_request<'a>(
        &'a self,
        conversation: ConversationId,
        request_id: &'a str,
    ) -> LocalBoxFuture<'a, Result<Option<SubmissionRecord>, SessionError>> {
        Box::pin(async move {
            let call = self
                .0
                .session
                .storage
                .submission_by_request(conversation, request_id);
            let found = self.read("submission_by_request", call).await?;
            if found.is_none() {
                self.0.state.borrow_mut().free_request = Some((conversation, request_id.into()));
            }
            Ok(found)
        })
    }

    /// Newest visible entry of the conversation that carries a head.
    pub fn latest_head_marker<'a>(
        &'a self,
        conversation: ConversationId,
    ) -> LocalBoxFuture<'a, Result<Option<HeadMarker>, SessionError>> {
        Box::pin(async move {
            let call = self.0.session.storage.find_latest_head_marker(conversation, None);
            self.read("latest_head_marker", call).await
        })
    }

    /// Pages of conversations.
    pub fn scan_conversations<'a>(
        &'a self,
        query: &'a ConversationQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<ConversationRecord>, SessionError>> {
        Box::pin(async move {
            let call = self.0.session.storage.scan_conversations(query, limit, cursor);
            self.read("scan_conversations", call).await
        })
    }

    /// Pages of visible entries.
    pub fn scan_entries<'a>(
        &'a self,
        query: &'a EntryQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<EntryRecord>, SessionError>> {
        Box::pin(async move {
            self.read(
                "scan_entries",
                self.0.session.storage.scan_entries(query, limit, cursor),
            )
            .await
        })
    }

    /// Pages of tasks.
    pub fn scan_tasks<'a>(
        &'a self,
        query: &'a TaskQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<TaskRecord>, SessionError>> {
        Box::pin(async move {
            self.read(
                "scan_tasks",
                self.0.session.storage.scan_tasks(query, limit, cursor),
            )
            .await
        })
    }

    /// Pages of submissions.
    pub fn scan_submissions<'a>(
        &'a self,
        query: &'a SubmissionQuery,
        limit: usize,
        cursor: Option<&'a Cursor>,
    ) -> LocalBoxFuture<'a, Result<Page<SubmissionRecord>, SessionError>> {
        Box::pin(async move {
            self.read(
                "scan_submissions",
                self.0.session.storage.scan_submissions(query, limit, cursor),
            )
            .await
        })
    }
}
