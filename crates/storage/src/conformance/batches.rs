//! Atomicity, immutability and sequence numbers.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::documents::Point;
use tidehold_session::ids::{ConversationId, DocumentId, Seq, SubmissionId, TaskId};

cases!["batches": sequence_increases, sequence_increases_across_reopen, empty_batch_takes_a_number,
    failing_batch_leaves_nothing, failing_first_batch_leaves_nothing, storage_works_after_a_refusal,
    conversations_are_immutable, entries_are_immutable, equal_rewrite_is_refused_too,
    tasks_are_replaced, submissions_are_replaced, task_keeps_conversation_and_kind,
    submission_keeps_conversation_and_request, many_writes_in_one_batch, reads_observe_the_commit];

async fn sequence_increases(bench: &Bench) -> CaseResult {
    let mut last = bench.root().await?;
    for id in 10..30 {
        let seq = bench.commit(&[entry(id, 1)]).await?;
        holds!(seq > last, "{seq} after {last}");
        last = seq;
    }
    Ok(())
}

async fn sequence_increases_across_reopen(bench: &Bench) -> CaseResult {
    let mut last = bench.root().await?;
    for id in 10..15 {
        bench.reopen().await?;
        let seq = bench.commit(&[entry(id, 1)]).await?;
        holds!(seq > last, "{seq} after {last}");
        last = seq;
    }
    Ok(())
}

async fn empty_batch_takes_a_number(bench: &Bench) -> CaseResult {
    let first = bench.commit(&[]).await?;
    let second = bench.commit(&[]).await?;
    holds!(second > first, "{second} after {first}");
    Ok(())
}

async fn failing_batch_leaves_nothing(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry(10, 1), put_task(task(11, 1, "t", pending()))])
        .await?;
    bench
        .commit(&[doc::create(doc::latest(12, 1, "d"), 1, json!({ "n": 1 }))])
        .await?;
    let writes = [
        conv(20),
        entry(21, 1),
        put_task(task(11, 1, "t", running())),
        put_submission(submission(22, 1, Some("r"), queued())),
        doc::create(doc::session(23, "s"), 1, json!({})),
        doc::delta(12, 1, vec![doc::set("n", 2)]),
        // Unknown, found last.
        doc::retire(999),
    ];
    bench.refuse(&writes).await?;
    for _ in 0..2 {
        let storage = bench.storage();
        same!(storage.conversation(ConversationId(20)).await?, None);
        same!(bench.has_entry(21).await?, false);
        same!(storage.task(TaskId(11)).await?, Some(task(11, 1, "t", pending())));
        same!(storage.submission(SubmissionId(22)).await?, None);
        same!(storage.submission_by_request(ConversationId(1), "r").await?, None);
        same!(storage.document(DocumentId(23), Point::Current).await?, None);
        same!(bench.value(12, Point::Current).await?, json!({ "n": 1 }));
        same!(bench.entry_ids(entries_of(1, None), 10).await?, vec![10]);
        bench.reopen().await?;
    }
    Ok(())
}

async fn failing_first_batch_leaves_nothing(bench: &Bench) -> CaseResult {
    bench.refuse(&[conv(1), doc::retire(5)]).await?;
    same!(bench.storage().head().await?, None);
    same!(bench.storage().incarnation().await?, None);
    same!(bench.is_untouched().await?, true);
    bench.root().await?;
    Ok(())
}

async fn storage_works_after_a_refusal(bench: &Bench) -> CaseResult {
    let first = bench.root().await?;
    bench.refuse(&[entry(10, 1), conv(1)]).await?;
    let second = bench.commit(&[entry(10, 1)]).await?;
    holds!(second > first, "{second} after {first}");
    same!(bench.storage().head().await?, Some(second));
    Ok(())
}

async fn conversations_are_immutable(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench.commit(&[fork(2, 1, 10)]).await?;
    bench.refuse(&[conv(2)]).await?;
    bench.refuse(&[conv(1)]).await
}

async fn entries_are_immutable(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry_with(10, 1, json!("first"))])
        .await?;
    bench.refuse(&[entry_with(10, 1, json!("second"))]).await?;
    let stored = bench.storage().entry(tidehold_session::ids::EntryId(10)).await?;
    same!(stored.and_then(|stored| stored.entry.data), Some(json!("first")));
    Ok(())
}

async fn equal_rewrite_is_refused_too(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench.reopen().await?;
    bench.refuse(&[entry(10, 1)]).await?;
    bench.refuse(&[conv(1)]).await
}

async fn tasks_are_replaced(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for state in [pending(), running(), waiting(&[3]), completing(), terminal()] {
        let record = task(10, 1, "t", state);
        bench.commit(&[put_task(record.clone())]).await?;
        same!(bench.storage().task(TaskId(10)).await?, Some(record));
    }
    Ok(())
}

async fn submissions_are_replaced(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for state in [queued(), placed(20), done(20, 21)] {
        let record = submission(10, 1, Some("r"), state);
        bench.commit(&[put_submission(record.clone())]).await?;
        same!(bench.storage().submission(SubmissionId(10)).await?, Some(record));
    }
    Ok(())
}

async fn task_keeps_conversation_and_kind(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), conv(2), put_task(task(10, 1, "t", pending()))])
        .await?;
    bench.refuse(&[put_task(task(10, 2, "t", running()))]).await?;
    bench.refuse(&[put_task(task(10, 1, "u", running()))]).await
}

async fn submission_keeps_conversation_and_request(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            conv(2),
            put_submission(submission(10, 1, Some("r"), queued())),
        ])
        .await?;
    bench
        .refuse(&[put_submission(submission(10, 2, Some("r"), placed(3)))])
        .await?;
    bench
        .refuse(&[put_submission(submission(10, 1, None, placed(3)))])
        .await?;
    bench
        .refuse(&[put_submission(submission(10, 1, Some("s"), placed(3)))])
        .await
}

async fn many_writes_in_one_batch(bench: &Bench) -> CaseResult {
    let mut writes = vec![conv(1)];
    writes.extend((10..510).map(|id| entry(id, 1)));
    let seq = bench.commit(&writes).await?;
    same!(seq, bench.storage().head().await?.unwrap_or(Seq(0)));
    same!(
        bench.entry_ids(entries_of(1, None), 100).await?,
        (10..510).rev().collect::<Vec<_>>()
    );
    Ok(())
}

async fn reads_observe_the_commit(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let seq = bench.commit(&[entry(10, 1)]).await?;
    let stored = bench.storage().entry(tidehold_session::ids::EntryId(10)).await?;
    same!(stored.map(|stored| stored.commit_seq), Some(seq));
    Ok(())
}
