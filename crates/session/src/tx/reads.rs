//! Table reads of a transaction: committed state, before the first table write (spec 4).

use super::Tx;
use crate::error::SessionError;
use crate::ids::{ConversationId, EntryId, SubmissionId, TaskId};
use crate::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use crate::storage::{
    ConversationQuery, Cursor, EntryQuery, HeadMarker, Page, StorageFuture, SubmissionQuery, TaskQuery,
};

impl Tx {
    async fn read<T>(&self, method: &'static str, call: StorageFuture<'_, T>) -> Result<T, SessionError> {
        self.table_read(method)?;
        let result = call.await;
        self.open()?;
        result.map_err(|error| self.0.session.read_error(error))
    }

    /// The conversation, if committed.
    pub async fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRecord>, SessionError> {
        self.read("conversation", self.0.session.storage.conversation(id))
            .await
    }

    /// The entry, if committed.
    pub async fn entry(&self, id: EntryId) -> Result<Option<EntryRecord>, SessionError> {
        Ok(self
            .read("entry", self.0.session.storage.entry(id))
            .await?
            .map(|stored| stored.entry))
    }

    /// The entry, if visible from `conversation`.
    pub async fn visible_entry(
        &self,
        conversation: ConversationId,
        id: EntryId,
    ) -> Result<Option<EntryRecord>, SessionError> {
        let found = self
            .read(
                "visible_entry",
                self.0.session.storage.visible_entry(conversation, id),
            )
            .await?;
        Ok(found.map(|stored| stored.entry))
    }

    /// The committed task record.
    pub async fn task(&self, id: TaskId) -> Result<Option<TaskRecord>, SessionError> {
        self.read("task", self.0.session.storage.task(id)).await
    }

    /// The committed submission record.
    pub async fn submission(&self, id: SubmissionId) -> Result<Option<SubmissionRecord>, SessionError> {
        self.read("submission", self.0.session.storage.submission(id))
            .await
    }

    /// The submission admitted under this request id.
    pub async fn submission_by_request(
        &self,
        conversation: ConversationId,
        request_id: &str,
    ) -> Result<Option<SubmissionRecord>, SessionError> {
        let call = self
            .0
            .session
            .storage
            .submission_by_request(conversation, request_id);
        self.read("submission_by_request", call).await
    }

    /// Newest visible entry of the conversation that carries a head.
    pub async fn latest_head_marker(
        &self,
        conversation: ConversationId,
    ) -> Result<Option<HeadMarker>, SessionError> {
        let call = self.0.session.storage.find_latest_head_marker(conversation, None);
        self.read("latest_head_marker", call).await
    }

    /// Pages of conversations.
    pub async fn scan_conversations(
        &self,
        query: &ConversationQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<ConversationRecord>, SessionError> {
        let call = self.0.session.storage.scan_conversations(query, limit, cursor);
        self.read("scan_conversations", call).await
    }

    /// Pages of visible entries.
    pub async fn scan_entries(
        &self,
        query: &EntryQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<EntryRecord>, SessionError> {
        self.read(
            "scan_entries",
            self.0.session.storage.scan_entries(query, limit, cursor),
        )
        .await
    }

    /// Pages of tasks.
    pub async fn scan_tasks(
        &self,
        query: &TaskQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<TaskRecord>, SessionError> {
        self.read(
            "scan_tasks",
            self.0.session.storage.scan_tasks(query, limit, cursor),
        )
        .await
    }

    /// Pages of submissions.
    pub async fn scan_submissions(
        &self,
        query: &SubmissionQuery,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Page<SubmissionRecord>, SessionError> {
        self.read(
            "scan_submissions",
            self.0.session.storage.scan_submissions(query, limit, cursor),
        )
        .await
    }
}
