//! One id space: minting, ownership, exhaustion.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::ids::{EntryId, TaskId};
use tidehold_session::storage::{StorageError, StorageWrite};

cases!["ids": first_is_two, increase_by_calls, explicit_id_lifts_the_next, explicit_id_below_does_not,
    minted_before_a_commit_stay_spent, largest_then_exhausted, zero_is_refused, beyond_2_pow_53_is_refused,
    taken_by_another_type, taken_by_another_type_after_reopen, taken_twice_in_a_batch,
    two_types_in_a_batch, refused_ids_stay_free, reads_of_impossible_ids_find_nothing];

async fn first_is_two(bench: &Bench) -> CaseResult {
    same!(bench.storage().mint_id().await?, 2);
    Ok(())
}

async fn increase_by_calls(bench: &Bench) -> CaseResult {
    let storage = bench.storage();
    let mut last = 1;
    for round in 0..3000 {
        let id = storage.mint_id().await?;
        holds!(id > last, "{id} after {last}");
        last = id;
        if round == 1000 {
            bench.root().await?;
        }
    }
    Ok(())
}

async fn explicit_id_lifts_the_next(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(100, 1)]).await?;
    same!(bench.storage().mint_id().await?, 101);
    bench.commit(&[entry(5000, 1)]).await?;
    same!(bench.storage().mint_id().await?, 5001);
    Ok(())
}

async fn explicit_id_below_does_not(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(100, 1)]).await?;
    bench.commit(&[entry(50, 1)]).await?;
    same!(bench.storage().mint_id().await?, 101);
    Ok(())
}

async fn minted_before_a_commit_stay_spent(bench: &Bench) -> CaseResult {
    let storage = bench.storage();
    let minted = [storage.mint_id().await?, storage.mint_id().await?];
    bench.root().await?;
    let next = storage.mint_id().await?;
    holds!(next > minted[1], "{next} after {minted:?}");
    Ok(())
}

async fn largest_then_exhausted(bench: &Bench) -> CaseResult {
    let largest = tidehold_delta::MAX_SAFE_INTEGER;
    bench.commit(&[conv(1), entry(largest, 1)]).await?;
    for _ in 0..2 {
        fails!(bench.storage().mint_id().await, StorageError::IdsExhausted);
    }
    bench.reopen().await?;
    fails!(bench.storage().mint_id().await, StorageError::IdsExhausted);
    holds!(bench.has_entry(largest).await?, "the largest id is found");
    Ok(())
}

async fn zero_is_refused(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench.refuse(&[entry(0, 1)]).await
}

async fn beyond_2_pow_53_is_refused(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench.refuse(&[entry(1 << 53, 1)]).await?;
    bench.refuse(&[entry(u64::MAX, 1)]).await
}

/// Every type, each under an id of its own.
fn one_of_each(ids: [u64; 5]) -> [StorageWrite; 5] {
    let [conversation, entry_id, task_id, submission_id, document] = ids;
    [
        conv(conversation),
        entry(entry_id, 1),
        put_task(task(task_id, 1, "t", pending())),
        put_submission(submission(submission_id, 1, None, queued())),
        doc::create(doc::session(document, &format!("kind-{document}")), 1, json!({})),
    ]
}

/// Tries to store every type under every taken id. Tasks and submissions may replace their own kind.
async fn refuse_taken(bench: &Bench) -> CaseResult {
    for (position, taken) in [1, 10, 11, 12, 13].into_iter().enumerate() {
        for (other, write) in one_of_each([taken; 5]).into_iter().enumerate() {
            let replaces = position == other && (position == 2 || position == 3);
            if !replaces {
                bench.refuse(&[write]).await?;
            }
        }
    }
    Ok(())
}

async fn taken_by_another_type(bench: &Bench) -> CaseResult {
    bench.commit(&one_of_each([1, 10, 11, 12, 13])).await?;
    refuse_taken(bench).await
}

async fn taken_by_another_type_after_reopen(bench: &Bench) -> CaseResult {
    bench.commit(&one_of_each([1, 10, 11, 12, 13])).await?;
    bench.reopen().await?;
    refuse_taken(bench).await
}

async fn taken_twice_in_a_batch(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench.refuse(&[entry(10, 1), entry(10, 1)]).await?;
    let twice = || put_task(task(10, 1, "t", pending()));
    bench.refuse(&[twice(), twice()]).await?;
    let twice = || put_submission(submission(10, 1, None, queued()));
    bench.refuse(&[twice(), twice()]).await
}

async fn two_types_in_a_batch(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let writes = one_of_each([10; 5]);
    for (position, first) in writes.iter().enumerate() {
        for second in writes.iter().skip(position + 1) {
            bench.refuse(&[first.clone(), second.clone()]).await?;
        }
    }
    Ok(())
}

async fn refused_ids_stay_free(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench.refuse(&[entry(10, 1), conv(1)]).await?;
    bench.commit(&[put_task(task(10, 1, "t", pending()))]).await?;
    same!(bench.has_entry(10).await?, false);
    Ok(())
}

async fn reads_of_impossible_ids_find_nothing(bench: &Bench) -> CaseResult {
    let largest = tidehold_delta::MAX_SAFE_INTEGER;
    bench.commit(&[conv(1), entry(largest, 1)]).await?;
    for id in [0, largest + 1, u64::MAX] {
        same!(bench.storage().entry(EntryId(id)).await?, None);
        same!(bench.storage().task(TaskId(id)).await?, None);
    }
    Ok(())
}
