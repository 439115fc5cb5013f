//! Conversations. Their records hold only ids, so they are never chunked.

use crate::cursor::{PageRequest, Scan};
use crate::limits::MAX_LINEAGE;
use crate::lineage::Ancestor;
use crate::sql::codec::decode_record;
use crate::sql::rows::{Reader, bound, exact, exact_or_null};
use crate::sql::statements as sql;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::ConversationRecord;
use tidehold_session::storage::{ConversationQuery, Cursor, Page, ScanOrder, StorageError};

pub(in crate::sql) fn load(
    reader: &Reader<'_>,
    id: ConversationId,
) -> Result<Option<ConversationRecord>, StorageError> {
    match reader.first(&sql::CONVERSATION, &[exact(id.0)])? {
        Some(mut row) => decode_record(&row.text()?).map(Some),
        None => Ok(None),
    }
}

pub(in crate::sql) fn scan(
    reader: &Reader<'_>,
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
    let range = [bound(page.start()), bound(page.limit as u64)];
    let ascending = page.order == ScanOrder::Ascending;
    let [start, limit] = range;
    let rows = match (query.owner_task_id, query.owner_conversation_id) {
        (Some(task), conversation) => {
            let statement = if ascending {
                &sql::CONVERSATIONS_OF_TASK_ASC
            } else {
                &sql::CONVERSATIONS_OF_TASK_DESC
            };
            let conversation = exact_or_null(conversation.map(|id| id.0));
            reader.rows(statement, &[start, limit, exact(task.0), conversation])
        }
        (None, Some(conversation)) => {
            let statement = if ascending {
                &sql::CONVERSATIONS_OF_OWNER_ASC
            } else {
                &sql::CONVERSATIONS_OF_OWNER_DESC
            };
            reader.rows(statement, &[start, limit, exact(conversation.0)])
        }
        (None, None) => {
            let statement = if ascending {
                &sql::CONVERSATIONS_ASC
            } else {
                &sql::CONVERSATIONS_DESC
            };
            reader.rows(statement, &range)
        }
    }?;
    let mut items = Vec::with_capacity(rows.len());
    let mut last = None;
    for mut row in rows {
        last = Some(row.number()?);
        items.push(decode_record(&row.text()?)?);
    }
    Ok(page.page(items, last))
}

/// The conversation and its ancestors, nearest first; empty when it is unknown.
pub(super) fn lineage(reader: &Reader<'_>, id: ConversationId) -> Result<Vec<Ancestor>, StorageError> {
    let rows = reader.rows(&sql::LINEAGE, &[exact(id.0), bound(MAX_LINEAGE as u64)])?;
    if rows.len() > MAX_LINEAGE {
        return Err(StorageError::Corrupt(format!(
            "conversation {id} has too many ancestors"
        )));
    }
    let decode = |mut row: crate::sql::rows::Columns| {
        Ok(Ancestor {
            conversation: ConversationId(row.number()?),
            cap: row.number()?,
        })
    };
    rows.into_iter().map(decode).collect()
}
