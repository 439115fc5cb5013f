//! Submissions.

use super::{decode_first, decode_page};
use crate::cursor::{PageRequest, Scan};
use crate::sql::codec::encode_name;
use crate::sql::driver::Param;
use crate::sql::rows::{Reader, bound, exact, exact_or_null, text_or_null};
use crate::sql::statements as sql;
use crate::status;
use tidehold_session::ids::{ConversationId, SubmissionId};
use tidehold_session::records::SubmissionRecord;
use tidehold_session::storage::{Cursor, Page, ScanOrder, StorageError, SubmissionQuery, SubmissionStatus};

pub(in crate::sql) fn load(
    reader: &Reader<'_>,
    id: SubmissionId,
) -> Result<Option<SubmissionRecord>, StorageError> {
    let row = reader.first(&sql::SUBMISSION, &[exact(id.0)])?;
    decode_first(reader, row)
}

pub(in crate::sql) fn by_request(
    reader: &Reader<'_>,
    conversation: ConversationId,
    request: &str,
) -> Result<Option<SubmissionRecord>, StorageError> {
    let request = encode_name(request);
    let row = reader.first(
        &sql::SUBMISSION_BY_REQUEST,
        &[exact(conversation.0), Param::Text(&request)],
    )?;
    decode_first(reader, row)
}

pub(in crate::sql) fn scan(
    reader: &Reader<'_>,
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
    let unsettled = |status| matches!(status, SubmissionStatus::Queued | SubmissionStatus::Placed);
    let statement = match (page.order, query.live || query.status.is_some_and(unsettled)) {
        (ScanOrder::Ascending, true) => &sql::SUBMISSIONS_LIVE_ASC,
        (ScanOrder::Descending, true) => &sql::SUBMISSIONS_LIVE_DESC,
        (ScanOrder::Ascending, false) => &sql::SUBMISSIONS_ASC,
        (ScanOrder::Descending, false) => &sql::SUBMISSIONS_DESC,
    };
    let params = [
        bound(page.start()),
        bound(page.limit as u64),
        exact_or_null(query.conversation_id.map(|id| id.0)),
        text_or_null(query.status.map(status::submission_name)),
    ];
    let rows = reader.rows(statement, &params)?;
    decode_page(reader, &page, rows)
}
