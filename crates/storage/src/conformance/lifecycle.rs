//! Before the first commit, between openings, after close.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::documents::{Point, Scope};
use tidehold_session::ids::*;
use tidehold_session::storage::*;

cases!["lifecycle": reading_empty_leaves_no_trace, minting_leaves_no_trace, incarnation_appears_with_the_first_commit,
    incarnation_survives_reopen, incarnation_changes_after_delete, deleted_data_is_gone, head_follows_commits,
    head_after_reopen_is_between, ids_stay_above_across_reopen, ids_stay_above_across_many_reopens,
    every_record_survives_reopen, closed_refuses_everything, close_twice_is_fine, reopen_after_close];

async fn reading_empty_leaves_no_trace(bench: &Bench) -> CaseResult {
    let storage = bench.storage();
    same!(storage.incarnation().await?, None);
    same!(storage.head().await?, None);
    same!(storage.conversation(ConversationId(1)).await?, None);
    same!(storage.entry(EntryId(1)).await?, None);
    same!(storage.visible_entry(ConversationId(1), EntryId(1)).await?, None);
    same!(
        storage.find_latest_head_marker(ConversationId(1), None).await?,
        None
    );
    same!(storage.task(TaskId(1)).await?, None);
    same!(storage.submission(SubmissionId(1)).await?, None);
    same!(storage.submission_by_request(ConversationId(1), "r").await?, None);
    same!(storage.document(DocumentId(1), Point::Current).await?, None);
    same!(storage.document(DocumentId(1), Point::At(Seq(1))).await?, None);
    let address = doc::address(&doc::session(1, "k"));
    same!(storage.find_document(&address, Point::Current).await?, None);
    same!(
        storage
            .scan_conversations(&ConversationQuery::default(), 5, None)
            .await?
            .items
            .len(),
        0
    );
    same!(
        storage
            .scan_tasks(&TaskQuery::default(), 5, None)
            .await?
            .items
            .len(),
        0
    );
    same!(
        storage
            .scan_submissions(&SubmissionQuery::default(), 5, None)
            .await?
            .items
            .len(),
        0
    );
    let query = DocumentQuery {
        scope: Scope::Session,
        at: Point::Current,
        kind: None,
    };
    same!(storage.scan_documents(&query, 5, None).await?.items.len(), 0);
    fails!(
        storage.scan_entries(&entries_of(1, None), 5, None).await,
        StorageError::Request(_)
    );
    same!(bench.is_untouched().await?, true);
    Ok(())
}

async fn minting_leaves_no_trace(bench: &Bench) -> CaseResult {
    for _ in 0..2000 {
        bench.storage().mint_id().await?;
    }
    same!(bench.is_untouched().await?, true);
    Ok(())
}

async fn incarnation_appears_with_the_first_commit(bench: &Bench) -> CaseResult {
    same!(bench.storage().incarnation().await?, None);
    bench.root().await?;
    holds!(
        bench.storage().incarnation().await?.is_some(),
        "no incarnation after a commit"
    );
    same!(bench.is_untouched().await?, false);
    Ok(())
}

async fn incarnation_survives_reopen(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let before = bench.storage().incarnation().await?;
    bench.reopen().await?;
    same!(bench.storage().incarnation().await?, before);
    bench.commit(&[entry(10, 1)]).await?;
    bench.reopen().await?;
    same!(bench.storage().incarnation().await?, before);
    Ok(())
}

async fn incarnation_changes_after_delete(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let before = bench.storage().incarnation().await?;
    bench.start_over().await?;
    same!(bench.storage().incarnation().await?, None);
    bench.root().await?;
    let after = bench.storage().incarnation().await?;
    holds!(after.is_some() && after != before, "{after:?} after {before:?}");
    Ok(())
}

async fn deleted_data_is_gone(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench.start_over().await?;
    same!(bench.is_untouched().await?, true);
    same!(bench.has_entry(10).await?, false);
    same!(bench.storage().mint_id().await?, 2);
    bench
        .commit(&[conv(1), put_task(task(10, 1, "t", pending()))])
        .await?;
    Ok(())
}

async fn head_follows_commits(bench: &Bench) -> CaseResult {
    same!(bench.storage().head().await?, None);
    for id in 10..14 {
        let writes = if id == 10 {
            vec![conv(1)]
        } else {
            vec![entry(id, 1)]
        };
        let seq = bench.commit(&writes).await?;
        same!(bench.storage().head().await?, Some(seq));
    }
    Ok(())
}

async fn head_after_reopen_is_between(bench: &Bench) -> CaseResult {
    let newest = bench.root().await?;
    bench.reopen().await?;
    let head = bench.storage().head().await?;
    let next = bench.commit(&[entry(10, 1)]).await?;
    holds!(
        head.is_some_and(|head| newest <= head && head < next),
        "{newest}, {head:?}, {next}"
    );
    Ok(())
}

async fn ids_stay_above_across_reopen(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let minted = bench.storage().mint_id().await?;
    bench.reopen().await?;
    let next = bench.storage().mint_id().await?;
    holds!(next > minted, "{next} after {minted}, which was never stored");
    Ok(())
}

async fn ids_stay_above_across_many_reopens(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let mut last = 1;
    for round in 0..6 {
        for _ in 0..round * 700 {
            let id = bench.storage().mint_id().await?;
            holds!(id > last, "{id} after {last}");
            last = id;
        }
        bench.reopen().await?;
    }
    Ok(())
}

async fn every_record_survives_reopen(bench: &Bench) -> CaseResult {
    let task_record = task(11, 1, "t", waiting(&[12]));
    let submission_record = submission(13, 1, Some("r"), placed(10));
    let created = bench
        .commit(&[
            conv(1),
            entry_with(10, 1, json!({ "deep": [1, 2.5, null, true, "x"] })),
            put_task(task_record.clone()),
            put_submission(submission_record.clone()),
            owned(14, 1, 11),
            doc::create(doc::keyed(doc::rewindable(15, 1, "d"), "k"), 3, json!({ "n": 1 })),
        ])
        .await?;
    bench.reopen().await?;
    let storage = bench.storage();
    let stored = storage.entry(EntryId(10)).await?;
    same!(stored.as_ref().map(|stored| stored.commit_seq), Some(created));
    same!(
        stored.and_then(|stored| stored.entry.data),
        Some(json!({ "deep": [1, 2.5, null, true, "x"] }))
    );
    same!(storage.task(TaskId(11)).await?, Some(task_record));
    same!(
        storage.submission(SubmissionId(13)).await?,
        Some(submission_record)
    );
    let owner = storage
        .conversation(ConversationId(14))
        .await?
        .and_then(|record| record.owner);
    same!(
        owner.map(|owner| (owner.conversation_id.0, owner.task_id.0)),
        Some((1, 11))
    );
    let stored = bench.document(15, Point::Current).await?;
    let wanted = doc::keyed(doc::rewindable(15, 1, "d"), "k").stamped(created);
    same!(stored.as_ref().map(|stored| stored.record.clone()), Some(wanted));
    same!(
        stored.map(|stored| (stored.version, stored.value)),
        Some((3, json!({ "n": 1 })))
    );
    Ok(())
}

async fn closed_refuses_everything(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let storage = bench.storage();
    storage.close().await?;
    fails!(storage.commit(&[entry(10, 1)]).await, StorageError::Closed);
    fails!(storage.mint_id().await, StorageError::Closed);
    fails!(storage.head().await, StorageError::Closed);
    fails!(storage.incarnation().await, StorageError::Closed);
    fails!(
        storage.conversation(ConversationId(1)).await,
        StorageError::Closed
    );
    fails!(storage.entry(EntryId(1)).await, StorageError::Closed);
    fails!(
        storage.visible_entry(ConversationId(1), EntryId(1)).await,
        StorageError::Closed
    );
    fails!(
        storage.find_latest_head_marker(ConversationId(1), None).await,
        StorageError::Closed
    );
    fails!(
        storage.scan_entries(&entries_of(1, None), 5, None).await,
        StorageError::Closed
    );
    fails!(
        storage
            .scan_conversations(&ConversationQuery::default(), 5, None)
            .await,
        StorageError::Closed
    );
    fails!(storage.task(TaskId(1)).await, StorageError::Closed);
    fails!(
        storage.scan_tasks(&TaskQuery::default(), 5, None).await,
        StorageError::Closed
    );
    fails!(storage.submission(SubmissionId(1)).await, StorageError::Closed);
    fails!(
        storage
            .scan_submissions(&SubmissionQuery::default(), 5, None)
            .await,
        StorageError::Closed
    );
    fails!(
        storage.submission_by_request(ConversationId(1), "r").await,
        StorageError::Closed
    );
    fails!(
        storage.document(DocumentId(1), Point::Current).await,
        StorageError::Closed
    );
    let address = doc::address(&doc::session(1, "k"));
    fails!(
        storage.find_document(&address, Point::Current).await,
        StorageError::Closed
    );
    let query = DocumentQuery {
        scope: Scope::Session,
        at: Point::Current,
        kind: None,
    };
    fails!(
        storage.scan_documents(&query, 5, None).await,
        StorageError::Closed
    );
    Ok(())
}

async fn close_twice_is_fine(bench: &Bench) -> CaseResult {
    let storage = bench.storage();
    storage.close().await?;
    storage.close().await?;
    Ok(())
}

async fn reopen_after_close(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench.storage().close().await?;
    bench.reopen().await?;
    same!(bench.has_entry(10).await?, true);
    bench.commit(&[entry(11, 1)]).await?;
    Ok(())
}
