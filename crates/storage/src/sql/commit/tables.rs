//! Writes of conversations, entries, tasks and submissions.

use super::Target;
use crate::batch::{self, Plan, TableWrite};
use crate::sql::chunks::{self, Place};
use crate::sql::codec::{decode_name, encode_name};
use crate::sql::driver::Param;
use crate::sql::encode::encode as encode_record;
use crate::sql::recall::TaskFacts;
use crate::sql::rows::{exact, exact_or_null, flag};
use crate::sql::statements as sql;
use crate::sql::writes::{Cell, Span, Writes};
use crate::status;
use tidehold_delta::write_string;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::StorageError;

/// A record and where its JSON text is.
pub(super) struct EncodedRow<'a> {
    write: TableWrite<'a>,
    text: Span,
}

/// Encodes the records of a batch, before any of them is looked up.
pub(super) fn encode<'a>(writes: &mut Writes, plan: &Plan<'a>) -> Result<Vec<EncodedRow<'a>>, StorageError> {
    let encode_one = |write: &TableWrite<'a>| {
        let (text, encoded) = writes.encode(|text| {
            encode_record(text, |writer| match write {
                TableWrite::Conversation(record) => writer.conversation(record),
                TableWrite::Entry(record) => writer.entry(record),
                TableWrite::Task(record) => writer.task(record),
                TableWrite::Submission(record) => writer.submission(record),
            })
        });
        encoded.map(|()| EncodedRow { write: *write, text })
    };
    plan.tables.iter().map(encode_one).collect()
}

pub(super) fn write(target: &mut Target<'_>, row: EncodedRow<'_>) -> Result<(), StorageError> {
    match row.write {
        TableWrite::Conversation(record) => conversation(target, record, row.text),
        TableWrite::Entry(record) => entry(target, record, row.text),
        TableWrite::Task(record) => task(target, record, row.text),
        TableWrite::Submission(record) => submission(target, record, row.text),
    }
}

fn conversation(
    target: &mut Target<'_>,
    record: &ConversationRecord,
    text: Span,
) -> Result<(), StorageError> {
    target.check_new(record.id.0)?;
    let cells = [
        exact(record.id.0),
        exact_or_null(record.parent.map(|parent| parent.conversation_id.0)),
        exact_or_null(record.parent.map(|parent| parent.at.0)),
        exact_or_null(record.owner.map(|owner| owner.conversation_id.0)),
        exact_or_null(record.owner.map(|owner| owner.task_id.0)),
        Cell::Text(text),
    ];
    target.writes.push(&sql::INSERT_CONVERSATION, &cells);
    Ok(())
}

fn entry(target: &mut Target<'_>, record: &EntryRecord, text: Span) -> Result<(), StorageError> {
    target.check_new(record.id.0)?;
    let (count, inline) = place_text(&mut target.writes, record.id.0, 0, text);
    let cells = [
        exact(record.id.0),
        exact(record.conversation_id.0),
        exact_or_null(record.head.map(|head| head.0)),
        exact(target.seq.0),
        exact(count),
        Cell::Text(inline),
    ];
    target.writes.push(&sql::INSERT_ENTRY, &cells);
    Ok(())
}

/// What is stored of a record that is about to be replaced.
struct Facts {
    conversation: ConversationId,
    name: Option<String>,
    /// `ended` of a task, `live` of a submission.
    mark: bool,
    chunks: u64,
}

fn facts(
    target: &Target<'_>,
    statement: &'static sql::Statement,
    id: u64,
) -> Result<Option<Facts>, StorageError> {
    if target.before.is_fresh(id) {
        return Ok(None);
    }
    let Some(mut row) = target.reader().first(statement, &[exact(id)])? else {
        return Ok(None);
    };
    Ok(Some(Facts {
        conversation: ConversationId(row.number()?),
        name: row.optional_text()?,
        mark: row.optional_number()?.is_some_and(|mark| mark != 0),
        chunks: row.number()?,
    }))
}

fn task_facts(target: &mut Target<'_>, id: u64) -> Result<Option<TaskFacts>, StorageError> {
    let recalled = target.recall.tasks.take(id);
    if recalled.is_some() {
        return Ok(recalled);
    }
    let Some(stored) = facts(target, &sql::TASK_FACTS, id)? else {
        return Ok(None);
    };
    Ok(Some(TaskFacts {
        conversation: stored.conversation,
        kind: decode_name(stored.name.as_deref().unwrap_or_default())?,
        ended: stored.mark,
        chunks: stored.chunks,
    }))
}

fn task(target: &mut Target<'_>, record: &TaskRecord, text: Span) -> Result<(), StorageError> {
    let id = record.id.0;
    let (abort, background) = (flag(record.abort_requested), flag(record.background));
    let ended = !record.is_live();
    let stored = task_facts(target, id)?;
    let chunks = match &stored {
        Some(stored) => {
            batch::check_task_stays(record, stored.conversation, &stored.kind)?;
            stored.chunks
        }
        None => {
            target.check_new(id)?;
            0
        }
    };
    let writes = &mut target.writes;
    let (count, inline) = place_text(writes, id, chunks, text);
    let status = writes.text(status::task_name(status::of_task(record)));
    let (id, chunks, inline) = (exact(id), exact(count), Cell::Text(inline));
    match &stored {
        None => {
            let kind = Cell::Text(writes.encode(|text| write_string(text, &record.kind)).0);
            let conversation = exact(record.conversation_id.0);
            let ended = flag(ended);
            let cells = [
                id,
                conversation,
                kind,
                status,
                abort,
                background,
                ended,
                chunks,
                inline,
            ];
            writes.push(&sql::INSERT_TASK, &cells);
        }
        Some(stored) if stored.ended == ended => {
            let cells = [id, status, abort, background, chunks, inline];
            writes.push(&sql::UPDATE_TASK, &cells);
        }
        Some(_) => {
            let cells = [id, status, abort, background, chunks, inline, flag(ended)];
            writes.push(&sql::TURN_TASK, &cells);
        }
    }
    if !ended {
        let facts = TaskFacts {
            conversation: record.conversation_id,
            kind: record.kind.clone(),
            ended,
            chunks: count,
        };
        target.recall.tasks.put(record.id.0, facts);
    }
    Ok(())
}

fn submission(target: &mut Target<'_>, record: &SubmissionRecord, text: Span) -> Result<(), StorageError> {
    let id = record.id.0;
    let status = status::submission_name(status::of_submission(record));
    let live = !record.is_settled();
    let live_column = if live { exact(1) } else { Cell::Null };
    let Some(stored) = facts(target, &sql::SUBMISSION_FACTS, id)? else {
        target.check_new(id)?;
        let request = record.request_id.as_deref().map(encode_name);
        check_request(target, record, request.as_deref())?;
        let writes = &mut target.writes;
        let (count, inline) = place_text(writes, id, 0, text);
        let request = request.map(|request| writes.text(&request));
        let status = writes.text(status);
        let cells = [
            exact(id),
            exact(record.conversation_id.0),
            request.unwrap_or_default(),
            status,
            live_column,
            exact(count),
            Cell::Text(inline),
        ];
        writes.push(&sql::INSERT_SUBMISSION, &cells);
        return Ok(());
    };
    let request = stored.name.as_deref().map(decode_name).transpose()?;
    batch::check_submission_stays(record, stored.conversation, request.as_deref())?;
    let writes = &mut target.writes;
    let (count, inline) = place_text(writes, id, stored.chunks, text);
    let status = writes.text(status);
    let (id, count, inline) = (exact(id), exact(count), Cell::Text(inline));
    if stored.mark == live {
        writes.push(&sql::UPDATE_SUBMISSION, &[id, status, count, inline]);
    } else {
        writes.push(&sql::TURN_SUBMISSION, &[id, status, count, inline, live_column]);
    }
    Ok(())
}

/// The unique index would refuse a second use too, but as a failure of the engine.
fn check_request(
    target: &Target<'_>,
    record: &SubmissionRecord,
    request: Option<&str>,
) -> Result<(), StorageError> {
    let (Some(request), Some(id)) = (request, &record.request_id) else {
        return Ok(());
    };
    let params = [exact(record.conversation_id.0), Param::Text(request)];
    match target.reader().first(&sql::SUBMISSION_BY_REQUEST, &params)? {
        Some(_) => Err(batch::request_taken(id)),
        None => Ok(()),
    }
}

/// Puts a long text into chunks over the `stored` ones. Returns their number and what its row holds.
fn place_text(writes: &mut Writes, id: u64, stored: u64, text: Span) -> (u64, Span) {
    let place = Place::record(id);
    let count = chunks::needed(text);
    if stored > count {
        chunks::trim(writes, place, count);
    }
    if count == 0 {
        return (0, text);
    }
    chunks::put(writes, place, text);
    (count, Span::default())
}
