//! Reads of the four tables.

use super::state::State;
use crate::cursor::{PageRequest, Scan};
use crate::limits::MAX_LINEAGE;
use crate::lineage::{Ancestor, is_visible, segments};
use crate::status;
use std::collections::BTreeMap;
use std::rc::Rc;
use tidehold_session::ids::{ConversationId, EntryId};
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::*;

/// One page of the records that `wanted` keeps.
fn scan<T: Clone>(
    records: &BTreeMap<u64, Rc<T>>,
    page: &PageRequest,
    wanted: impl Fn(&T) -> bool,
) -> Page<T> {
    let keep = |(_, record): &(&u64, &Rc<T>)| wanted(record);
    let found: Vec<(&u64, &Rc<T>)> = match page.order {
        ScanOrder::Ascending => records
            .range(page.start() + 1..)
            .filter(keep)
            .take(page.limit)
            .collect(),
        ScanOrder::Descending => records
            .range(..page.start())
            .rev()
            .filter(keep)
            .take(page.limit)
            .collect(),
    };
    let last = found.last().map(|(id, _)| **id);
    page.page(
        found.into_iter().map(|(_, record)| (**record).clone()).collect(),
        last,
    )
}

pub(super) fn conversations(
    state: &State,
    query: &ConversationQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<ConversationRecord>, StorageError> {
    let page = PageRequest::new(
        Scan::Conversations,
        query.order,
        ScanOrder::Ascending,
        limit,
        cursor,
    )?;
    Ok(scan(&state.conversations, &page, |record| {
        let owner = record.owner;
        query
            .owner_conversation_id
            .is_none_or(|id| owner.is_some_and(|owner| owner.conversation_id == id))
            && query
                .owner_task_id
                .is_none_or(|id| owner.is_some_and(|owner| owner.task_id == id))
    }))
}

/// The conversation and its ancestors; empty when it is unknown.
fn lineage(state: &State, conversation: ConversationId) -> Result<Vec<Ancestor>, StorageError> {
    let mut line = Vec::new();
    let (mut next, mut cap) = (Some(conversation), u64::MAX);
    while let Some(conversation) = next {
        let Some(record) = state.conversations.get(&conversation.0) else {
            break;
        };
        if line.len() > MAX_LINEAGE {
            return Err(StorageError::Corrupt(format!(
                "conversation {conversation} has too many ancestors"
            )));
        }
        line.push(Ancestor { conversation, cap });
        next = record.parent.map(|parent| parent.conversation_id);
        cap = record.parent.map_or(cap, |parent| cap.min(parent.at.0));
    }
    Ok(line)
}

pub(super) fn entry(state: &State, id: EntryId) -> Option<StoredEntry> {
    let (record, commit_seq) = state.entries.get(&id.0)?;
    Some(StoredEntry {
        entry: (**record).clone(),
        commit_seq: *commit_seq,
    })
}

pub(super) fn visible_entry(
    state: &State,
    conversation: ConversationId,
    id: EntryId,
) -> Result<Option<StoredEntry>, StorageError> {
    let line = lineage(state, conversation)?;
    Ok(entry(state, id).filter(|found| is_visible(&line, found.entry.conversation_id, id)))
}

pub(super) fn head_marker(
    state: &State,
    conversation: ConversationId,
    at_or_before: Option<EntryId>,
) -> Result<Option<HeadMarker>, StorageError> {
    let cutoff = at_or_before.map_or(u64::MAX, |id| id.0);
    for ancestor in lineage(state, conversation)? {
        let Some(ids) = state.entries_of.get(&ancestor.conversation) else {
            continue;
        };
        let records = ids
            .range(..=cutoff.min(ancestor.cap))
            .rev()
            .filter_map(|id| state.entries.get(id));
        for (record, _) in records {
            if let Some(head) = record.head {
                return Ok(Some(HeadMarker {
                    entry: (**record).clone(),
                    head,
                }));
            }
        }
    }
    Ok(None)
}

pub(super) fn entries(
    state: &State,
    query: &EntryQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<EntryRecord>, StorageError> {
    let page = PageRequest::new(Scan::Entries, query.order, ScanOrder::Descending, limit, cursor)?;
    let line = lineage(state, query.conversation_id)?;
    if line.is_empty() {
        return Err(StorageError::Request(format!(
            "unknown conversation {}",
            query.conversation_id
        )));
    }
    let mut ids: Vec<u64> = Vec::new();
    for segment in segments(&line, query, &page) {
        let Some(stored) = state.entries_of.get(&segment.conversation) else {
            continue;
        };
        let range = stored.range(segment.min..=segment.max);
        let free = page.limit - ids.len();
        match page.order {
            ScanOrder::Ascending => ids.extend(range.take(free)),
            ScanOrder::Descending => ids.extend(range.rev().take(free)),
        }
    }
    let last = ids.last().copied();
    let records = ids.iter().filter_map(|id| state.entries.get(id));
    Ok(page.page(records.map(|(record, _)| (**record).clone()).collect(), last))
}

pub(super) fn tasks(
    state: &State,
    query: &TaskQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<TaskRecord>, StorageError> {
    let page = PageRequest::new(Scan::Tasks, query.order, ScanOrder::Ascending, limit, cursor)?;
    Ok(scan(&state.tasks, &page, |record| {
        query
            .conversation_id
            .is_none_or(|id| record.conversation_id == id)
            && query.kind.as_ref().is_none_or(|kind| *kind == record.kind)
            && query
                .status
                .is_none_or(|wanted| status::of_task(record) == wanted)
            && (!query.live || record.is_live())
            && query
                .abort_requested
                .is_none_or(|wanted| record.abort_requested == wanted)
            && query.background.is_none_or(|wanted| record.background == wanted)
    }))
}

pub(super) fn submissions(
    state: &State,
    query: &SubmissionQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<SubmissionRecord>, StorageError> {
    let page = PageRequest::new(
        Scan::Submissions,
        query.order,
        ScanOrder::Ascending,
        limit,
        cursor,
    )?;
    Ok(scan(&state.submissions, &page, |record| {
        query
            .conversation_id
            .is_none_or(|id| record.conversation_id == id)
            && query
                .status
                .is_none_or(|wanted| status::of_submission(record) == wanted)
            && (!query.live || !record.is_settled())
    }))
}

pub(super) fn submission_by_request(
    state: &State,
    conversation: ConversationId,
    request: &str,
) -> Option<SubmissionRecord> {
    let id = state.requests.get(&(conversation, request.into()))?;
    state.submissions.get(id).map(|record| (**record).clone())
}
