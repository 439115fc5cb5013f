//! Tasks: live ones through their small index, ended ones by kind or, without one, by id.

use super::{decode, decode_first};
use crate::cursor::{PageRequest, Scan};
use crate::sql::codec::encode_name;
use crate::sql::driver::Param;
use crate::sql::rows::{Columns, Reader, bound, exact, exact_or_null, flag_or_null, text_or_null};
use crate::sql::statements as sql;
use crate::status;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskRecord;
use tidehold_session::storage::{Cursor, Page, ScanOrder, StorageError, TaskQuery, TaskStatus};

pub(in crate::sql) fn load(reader: &Reader<'_>, id: TaskId) -> Result<Option<TaskRecord>, StorageError> {
    let row = reader.first(&sql::TASK, &[exact(id.0)])?;
    decode_first(reader, row)
}

pub(in crate::sql) fn scan(
    reader: &Reader<'_>,
    query: &TaskQuery,
    limit: usize,
    cursor: Option<&Cursor>,
) -> Result<Page<TaskRecord>, StorageError> {
    let page = PageRequest::new(Scan::Tasks, query.order, ScanOrder::Ascending, limit, cursor)?;
    let mut found = Vec::new();
    if query.status != Some(TaskStatus::Terminal) {
        decode_all(reader, live(reader, query, &page)?, &mut found)?;
    }
    if !query.live && query.status.is_none_or(|status| status == TaskStatus::Terminal) {
        decode_all(reader, ended(reader, query, &page)?, &mut found)?;
    }
    // Each part is a full page of its own, so the first `limit` of both are the page.
    match page.order {
        ScanOrder::Ascending => found.sort_by_key(|task| task.id),
        ScanOrder::Descending => found.sort_by_key(|task| std::cmp::Reverse(task.id)),
    }
    found.truncate(page.limit);
    let last = found.last().map(|task| task.id.0);
    Ok(page.page(found, last))
}

fn decode_all(
    reader: &Reader<'_>,
    rows: Vec<Columns>,
    found: &mut Vec<TaskRecord>,
) -> Result<(), StorageError> {
    for mut row in rows {
        found.push(decode(reader, &mut row)?.1);
    }
    Ok(())
}

fn live(reader: &Reader<'_>, query: &TaskQuery, page: &PageRequest) -> Result<Vec<Columns>, StorageError> {
    let statement = match page.order {
        ScanOrder::Ascending => &sql::TASKS_LIVE_ASC,
        ScanOrder::Descending => &sql::TASKS_LIVE_DESC,
    };
    let kind = query.kind.as_deref().map(encode_name);
    let params = [
        bound(page.start()),
        bound(page.limit as u64),
        exact_or_null(query.conversation_id.map(|id| id.0)),
        text_or_null(kind.as_deref()),
        text_or_null(query.status.map(status::task_name)),
        flag_or_null(query.abort_requested),
        flag_or_null(query.background),
    ];
    reader.rows(statement, &params)
}

fn ended(reader: &Reader<'_>, query: &TaskQuery, page: &PageRequest) -> Result<Vec<Columns>, StorageError> {
    let start = bound(page.start());
    let limit = bound(page.limit as u64);
    let conversation = exact_or_null(query.conversation_id.map(|id| id.0));
    let (abort, background) = (
        flag_or_null(query.abort_requested),
        flag_or_null(query.background),
    );
    let ascending = page.order == ScanOrder::Ascending;
    match query.kind.as_deref().map(encode_name) {
        Some(kind) => {
            let statement = if ascending {
                &sql::TASKS_ENDED_OF_KIND_ASC
            } else {
                &sql::TASKS_ENDED_OF_KIND_DESC
            };
            reader.rows(
                statement,
                &[start, limit, conversation, Param::Text(&kind), abort, background],
            )
        }
        None => {
            let statement = if ascending {
                &sql::TASKS_ENDED_ASC
            } else {
                &sql::TASKS_ENDED_DESC
            };
            reader.rows(statement, &[start, limit, conversation, abort, background])
        }
    }
}
