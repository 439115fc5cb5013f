//! Everything a storage answers, in a form that two storages can be compared by.
//!
//! Sequence numbers may have gaps, so commits are named by their position among the *moments* given: moment `n` is the
//! first one at or after a commit.

use std::collections::HashSet;
use tidehold_delta::Json;
use tidehold_session::documents::{DocumentAddress, DocumentRecord, Point, Scope};
use tidehold_session::ids::{ConversationId, DocumentId, EntryId, Seq, SubmissionId, TaskId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// Page size: small, so that scans continue.
const PAGE: usize = 5;

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Conversation(ConversationRecord),
    /// All entries a conversation sees, oldest first, and its head marker.
    Transcript(ConversationId, Vec<EntryId>, Option<(EntryId, EntryId)>),
    Entry(EntryRecord, Moment),
    Task(TaskRecord),
    LiveTasks(Vec<TaskId>),
    Submission(SubmissionRecord),
    LiveSubmissions(Vec<SubmissionId>),
    /// The incarnations of a scope.
    Scope(Scope, Moment, Vec<DocumentId>),
    /// The record, with moments instead of sequence numbers.
    Document(DocumentRecord),
    /// What an address names.
    Found(DocumentAddress, Moment, Option<DocumentId>),
    /// Version, value and deltas since the base.
    Value(DocumentId, Moment, Result<Option<(u32, Json, u32)>, &'static str>),
}

/// Position among the moments; [`NOW`] for the current state.
pub type Moment = usize;

/// The current state, or a commit after all moments.
pub const NOW: Moment = usize::MAX;

/// Reads everything that `storage` holds, with the history at each of the ascending `moments`.
///
/// # Errors
/// Those of the reads. A document whose content is damaged is an answer.
pub async fn dump(storage: &dyn Storage, moments: &[Seq]) -> Result<Vec<Item>, StorageError> {
    let mut dump = Dump {
        storage,
        moments,
        items: Vec::new(),
        documents: Vec::new(),
    };
    dump.conversations().await?;
    dump.tasks().await?;
    dump.submissions().await?;
    dump.documents_of(Scope::Session).await?;
    dump.all_documents().await?;
    Ok(dump.items)
}

/// The first difference, for a message.
pub fn difference(found: &[Item], wanted: &[Item]) -> Option<String> {
    let longer = found.len().max(wanted.len());
    let at = (0..longer).find(|at| found.get(*at) != wanted.get(*at))?;
    let text = |item: Option<&Item>| item.map_or("nothing".to_owned(), super::check::brief);
    Some(format!(
        "found {} instead of {}",
        text(found.get(at)),
        text(wanted.get(at))
    ))
}

struct Dump<'a> {
    storage: &'a dyn Storage,
    moments: &'a [Seq],
    items: Vec<Item>,
    /// Found in any scope at any moment.
    documents: Vec<DocumentRecord>,
}

/// Collects all pages of a scan.
macro_rules! all_pages {
    ($storage:expr, $scan:ident, $query:expr) => {{
        let (mut items, mut cursor) = (Vec::new(), None);
        loop {
            let page = $storage.$scan($query, PAGE, cursor.as_ref()).await?;
            items.extend(page.items);
            cursor = match page.next {
                Some(next) => Some(next),
                None => break items,
            };
        }
    }};
}

impl Dump<'_> {
    fn moment(&self, seq: Seq) -> Moment {
        self.moments
            .iter()
            .position(|moment| *moment >= seq)
            .unwrap_or(NOW)
    }

    fn points(&self) -> Vec<(Moment, Point)> {
        let moments = self.moments.iter().enumerate();
        let past = moments.map(|(position, seq)| (position, Point::At(*seq)));
        past.chain([(NOW, Point::Current)]).collect()
    }

    async fn conversations(&mut self) -> Result<(), StorageError> {
        let storage = self.storage;
        let conversations = all_pages!(storage, scan_conversations, &ConversationQuery::default());
        let mut entries = HashSet::new();
        for record in conversations {
            let id = record.id;
            if storage.conversation(id).await?.as_ref() != Some(&record) {
                return Err(StorageError::Corrupt(format!(
                    "conversation {id} is read in two ways"
                )));
            }
            self.items.push(Item::Conversation(record));
            let query = EntryQuery {
                conversation_id: id,
                min_entry_id: None,
                max_entry_id: None,
                order: Some(ScanOrder::Ascending),
            };
            let visible = all_pages!(storage, scan_entries, &query);
            let ids: Vec<EntryId> = visible.iter().map(|entry| entry.id).collect();
            let mark = storage.find_latest_head_marker(id, None).await?;
            let mark = mark.map(|mark| (mark.entry.id, mark.head));
            self.items.push(Item::Transcript(id, ids, mark));
            for entry in visible {
                if !entries.insert(entry.id) {
                    continue;
                }
                let stored = storage.entry(entry.id).await?;
                let seq = stored.map_or(Seq(0), |stored| stored.commit_seq);
                let moment = self.moment(seq);
                self.items.push(Item::Entry(entry, moment));
            }
            self.documents_of(id.into()).await?;
        }
        Ok(())
    }

    async fn tasks(&mut self) -> Result<(), StorageError> {
        let storage = self.storage;
        let tasks = all_pages!(storage, scan_tasks, &TaskQuery::default());
        for record in tasks {
            let scope = record.id.into();
            self.items.push(Item::Task(record));
            self.documents_of(scope).await?;
        }
        let live = TaskQuery {
            live: true,
            ..TaskQuery::default()
        };
        let live = all_pages!(storage, scan_tasks, &live);
        self.items
            .push(Item::LiveTasks(live.iter().map(|task| task.id).collect()));
        Ok(())
    }

    async fn submissions(&mut self) -> Result<(), StorageError> {
        let storage = self.storage;
        for record in all_pages!(storage, scan_submissions, &SubmissionQuery::default()) {
            if let Some(request) = &record.request_id {
                let found = storage
                    .submission_by_request(record.conversation_id, request)
                    .await?;
                if found.as_ref() != Some(&record) {
                    let reason = format!("submission {} is not found by its request", record.id);
                    return Err(StorageError::Corrupt(reason));
                }
            }
            self.items.push(Item::Submission(record));
        }
        let live = SubmissionQuery {
            live: true,
            ..SubmissionQuery::default()
        };
        let live = all_pages!(storage, scan_submissions, &live);
        let live = live.iter().map(|submission| submission.id).collect();
        self.items.push(Item::LiveSubmissions(live));
        Ok(())
    }

    async fn documents_of(&mut self, scope: Scope) -> Result<(), StorageError> {
        let storage = self.storage;
        for (moment, at) in self.points() {
            let query = DocumentQuery {
                scope,
                at,
                kind: None,
            };
            let found = all_pages!(storage, scan_documents, &query);
            let ids = found.iter().map(|record| record.id).collect();
            self.items.push(Item::Scope(scope, moment, ids));
            for record in found {
                if !self.documents.iter().any(|known| known.id == record.id) {
                    self.documents.push(record);
                }
            }
        }
        Ok(())
    }

    async fn all_documents(&mut self) -> Result<(), StorageError> {
        let mut documents = std::mem::take(&mut self.documents);
        documents.sort_by_key(|record| record.id);
        for record in documents {
            let address = record.address();
            for (moment, at) in self.points() {
                let found = self.storage.find_document(&address, at).await?;
                let found = found.map(|record| record.id);
                self.items.push(Item::Found(address.clone(), moment, found));
                if at == Point::Current || record.is_rewindable() {
                    let value = match self.storage.document(record.id, at).await {
                        Ok(stored) => {
                            Ok(stored.map(|stored| (stored.version, stored.value, stored.deltas_since_base)))
                        }
                        Err(StorageError::Corrupt(_)) => Err("corrupt"),
                        Err(error) => return Err(error),
                    };
                    self.items.push(Item::Value(record.id, moment, value));
                }
            }
            let position = |seq: Seq| Seq(self.moment(seq) as u64);
            let (created_at, retired_at) = (position(record.created_at), record.retired_at.map(position));
            self.items.push(Item::Document(DocumentRecord {
                created_at,
                retired_at,
                ..record
            }));
        }
        Ok(())
    }
}
