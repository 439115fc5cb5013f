//! Writes of conversations, entries, tasks and submissions.

use super::Target;
use crate::batch::{self, Plan, TableWrite};
use crate::sql::chunks::{self, Place};
use crate::sql::codec::{decode_name, encode_name};
use crate::sql::driver::Param;
use crate::sql::encode::encode as encode_record;
use crate::sql::recall::TaskFacts;
use crate::sql::rows::{exact, exact_or_null, flag, text_or_null, write as execute};
use crate::sql::statements as sql;
use crate::status;
use tidehold_session::ids::ConversationId;
use tidehold_session::records::{ConversationRecord, EntryRecord, SubmissionRecord, TaskRecord};
use tidehold_session::storage::StorageError;

/// A record with its JSON text.
pub(super) struct EncodedRow<'a> {
    write: TableWrite<'a>,
    text: String,
}

/// Encodes the records of a batch, before the transaction begins.
pub(super) fn encode<'a>(plan: &Plan<'a>) -> Result<Vec<EncodedRow<'a>>, StorageError> {
    let encode_one = |write: &TableWrite<'a>| {
        let text = encode_record(|writer| match write {
            TableWrite::Conversation(record) => writer.conversation(record),
            TableWrite::Entry(record) => writer.entry(record),
            TableWrite::Task(record) => writer.task(record),
            TableWrite::Submission(record) => writer.submission(record),
        })?;
        Ok(EncodedRow { write: *write, text })
    };
    plan.tables.iter().map(encode_one).collect()
}

pub(super) fn write(target: &Target<'_>, row: &EncodedRow<'_>) -> Result<(), StorageError> {
    match row.write {
        TableWrite::Conversation(record) => conversation(target, record, &row.text),
        TableWrite::Entry(record) => entry(target, record, &row.text),
        TableWrite::Task(record) => task(target, record, &row.text),
        TableWrite::Submission(record) => submission(target, record, &row.text),
    }
}

fn conversation(target: &Target<'_>, record: &ConversationRecord, text: &str) -> Result<(), StorageError> {
    target.check_new(record.id.0)?;
    let params = [
        exact(record.id.0),
        exact_or_null(record.parent.map(|parent| parent.conversation_id.0)),
        exact_or_null(record.parent.map(|parent| parent.at.0)),
        exact_or_null(record.owner.map(|owner| owner.conversation_id.0)),
        exact_or_null(record.owner.map(|owner| owner.task_id.0)),
        Param::Text(text),
    ];
    execute(target.driver, &sql::INSERT_CONVERSATION, &params)
}

fn entry(target: &Target<'_>, record: &EntryRecord, text: &str) -> Result<(), StorageError> {
    target.check_new(record.id.0)?;
    let (count, inline) = place_text(target, record.id.0, 0, text)?;
    let params = [
        exact(record.id.0),
        exact(record.conversation_id.0),
        exact_or_null(record.head.map(|head| head.0)),
        exact(target.seq.0),
        exact(count),
        Param::Text(inline),
    ];
    execute(target.driver, &sql::INSERT_ENTRY, &params)
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

fn task_facts(target: &Target<'_>, id: u64) -> Result<Option<TaskFacts>, StorageError> {
    let recalled = target.recall.borrow_mut().tasks.take(id);
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

fn task(target: &Target<'_>, record: &TaskRecord, text: &str) -> Result<(), StorageError> {
    let id = record.id.0;
    let status = Param::Text(status::task_name(status::of_task(record)));
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
    let (count, inline) = place_text(target, id, chunks, text)?;
    let (id, chunks, inline) = (exact(id), exact(count), Param::Text(inline));
    match &stored {
        None => {
            let kind = encode_name(&record.kind);
            let conversation = exact(record.conversation_id.0);
            let kind = Param::Text(&kind);
            let ended = flag(ended);
            let params = [
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
            execute(target.driver, &sql::INSERT_TASK, &params)?;
        }
        Some(stored) if stored.ended == ended => {
            let params = [id, status, abort, background, chunks, inline];
            execute(target.driver, &sql::UPDATE_TASK, &params)?;
        }
        Some(_) => {
            let params = [id, status, abort, background, chunks, inline, flag(ended)];
            execute(target.driver, &sql::TURN_TASK, &params)?;
        }
    }
    if !ended {
        let facts = TaskFacts {
            conversation: record.conversation_id,
            kind: record.kind.clone(),
            ended,
            chunks: count,
        };
        target.recall.borrow_mut().tasks.put(record.id.0, facts);
    }
    Ok(())
}

fn submission(target: &Target<'_>, record: &SubmissionRecord, text: &str) -> Result<(), StorageError> {
    let id = record.id.0;
    let status = Param::Text(status::submission_name(status::of_submission(record)));
    let live = !record.is_settled();
    let live_column = if live { exact(1) } else { Param::Null };
    let Some(stored) = facts(target, &sql::SUBMISSION_FACTS, id)? else {
        target.check_new(id)?;
        let request = record.request_id.as_deref().map(encode_name);
        check_request(target, record, request.as_deref())?;
        let (count, inline) = place_text(target, id, 0, text)?;
        let params = [
            exact(id),
            exact(record.conversation_id.0),
            text_or_null(request.as_deref()),
            status,
            live_column,
            exact(count),
            Param::Text(inline),
        ];
        return execute(target.driver, &sql::INSERT_SUBMISSION, &params);
    };
    let request = stored.name.as_deref().map(decode_name).transpose()?;
    batch::check_submission_stays(record, stored.conversation, request.as_deref())?;
    let (count, inline) = place_text(target, id, stored.chunks, text)?;
    let params = [exact(id), status, exact(count), Param::Text(inline)];
    if stored.mark == live {
        return execute(target.driver, &sql::UPDATE_SUBMISSION, &params);
    }
    let [id, status, count, inline] = params;
    execute(
        target.driver,
        &sql::TURN_SUBMISSION,
        &[id, status, count, inline, live_column],
    )
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
fn place_text<'t>(
    target: &Target<'_>,
    id: u64,
    stored: u64,
    text: &'t str,
) -> Result<(u64, &'t str), StorageError> {
    let place = Place::record(id);
    let count = chunks::needed(text);
    if stored > count {
        chunks::trim(target.driver, place, count)?;
    }
    if count == 0 {
        return Ok((0, text));
    }
    chunks::put(target.driver, place, text)?;
    Ok((count, ""))
}
