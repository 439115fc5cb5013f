//! `document.copy`: an independent base made from committed, pre-batch state.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::documents::{ForkPolicy, Point, StoredHistory};
use tidehold_session::ids::Seq;

cases!["copies": current_value_with_its_version, value_as_of_a_point, pre_batch_state_in_any_order, independent_of_the_source,
    source_touched_in_the_batch_is_refused, retired_source_is_refused, historical_source_retired_later,
    historical_point_of_current_only_is_refused, unknown_source_is_refused, non_conversation_source_is_refused,
    mismatch_is_refused, copy_of_a_copy, copy_within_the_fork_commit];

/// Root, document 10 at version 3 with one delta, child conversation 20. Returns the creation and the change.
async fn source(bench: &Bench, record: doc::Doc) -> CaseResult<(Seq, Seq)> {
    let created = bench.with_document(record, 3, json!({ "n": 1 })).await?;
    let changed = bench.commit(&[doc::delta(10, 3, vec![doc::set("n", 2)])]).await?;
    bench.commit(&[entry(15, 1), fork(20, 1, 15)]).await?;
    Ok((created, changed))
}

async fn current_value_with_its_version(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    let copy = doc::latest(30, 20, "d");
    let seq = bench
        .commit(&[doc::copy(copy.clone(), 10, Point::Current)])
        .await?;
    let stored = bench.document(30, Point::Current).await?;
    let wanted = Some((copy.stamped(seq), 3, json!({ "n": 2 }), 0));
    same!(
        stored.map(|s| (s.record, s.version, s.value, s.deltas_since_base)),
        wanted
    );
    Ok(())
}

async fn value_as_of_a_point(bench: &Bench) -> CaseResult {
    let (created, changed) = source(bench, doc::rewindable(10, 1, "d")).await?;
    bench.commit(&[doc::delta(10, 3, vec![doc::set("n", 3)])]).await?;
    for (id, at, n) in [(30, created, 1), (31, changed, 2)] {
        let conversation = id + 10;
        bench.commit(&[fork(conversation, 1, 15)]).await?;
        bench
            .commit(&[doc::copy(
                doc::rewindable(id, conversation, "d"),
                10,
                Point::At(at),
            )])
            .await?;
        same!(bench.value(id, Point::Current).await?, json!({ "n": n }));
    }
    Ok(())
}

async fn pre_batch_state_in_any_order(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    bench
        .commit(&[doc::create(doc::latest(11, 1, "e"), 1, json!({ "n": 7 }))])
        .await?;
    // Other documents may change in the batch, before and after the copy.
    bench
        .commit(&[
            doc::delta(11, 1, vec![doc::set("n", 8)]),
            doc::copy(doc::latest(30, 20, "d"), 10, Point::Current),
            entry(31, 20),
        ])
        .await?;
    same!(bench.value(30, Point::Current).await?, json!({ "n": 2 }));
    Ok(())
}

async fn independent_of_the_source(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    bench
        .commit(&[doc::copy(doc::latest(30, 20, "d"), 10, Point::Current)])
        .await?;
    bench.commit(&[doc::delta(10, 3, vec![doc::set("n", 9)])]).await?;
    same!(bench.value(30, Point::Current).await?, json!({ "n": 2 }));
    bench.commit(&[doc::delta(30, 3, vec![doc::set("m", 1)])]).await?;
    same!(bench.value(10, Point::Current).await?, json!({ "n": 9 }));
    bench.commit(&[doc::base(10, 4, json!({}))]).await?;
    bench.commit(&[doc::retire(10)]).await?;
    bench.reopen().await?;
    same!(bench.value(30, Point::Current).await?, json!({ "n": 2, "m": 1 }));
    Ok(())
}

async fn source_touched_in_the_batch_is_refused(bench: &Bench) -> CaseResult {
    source(bench, doc::rewindable(10, 1, "d")).await?;
    let copy = |source| doc::copy(doc::rewindable(30, 20, "d"), source, Point::Current);
    bench
        .refuse(&[copy(10), doc::delta(10, 3, vec![doc::set("n", 5)])])
        .await?;
    bench.refuse(&[doc::base(10, 4, json!({})), copy(10)]).await?;
    bench.refuse(&[copy(10), doc::retire(10)]).await?;
    bench
        .refuse(&[doc::create(doc::rewindable(11, 1, "d2"), 1, json!({})), copy(11)])
        .await?;
    same!(bench.document(30, Point::Current).await?, None);
    same!(bench.value(10, Point::Current).await?, json!({ "n": 2 }));
    Ok(())
}

async fn retired_source_is_refused(bench: &Bench) -> CaseResult {
    source(bench, doc::rewindable(10, 1, "d")).await?;
    let retired = bench.commit(&[doc::retire(10)]).await?;
    for at in [Point::Current, Point::At(retired)] {
        bench
            .refuse(&[doc::copy(doc::rewindable(30, 20, "d"), 10, at)])
            .await?;
    }
    Ok(())
}

async fn historical_source_retired_later(bench: &Bench) -> CaseResult {
    let (created, _) = source(bench, doc::rewindable(10, 1, "d")).await?;
    bench.commit(&[doc::retire(10)]).await?;
    bench
        .commit(&[doc::copy(doc::rewindable(30, 20, "d"), 10, Point::At(created))])
        .await?;
    same!(bench.value(30, Point::Current).await?, json!({ "n": 1 }));
    bench
        .refuse(&[doc::copy(
            doc::rewindable(31, 1, "d"),
            10,
            Point::At(Seq(created.0 - 1)),
        )])
        .await
}

async fn historical_point_of_current_only_is_refused(bench: &Bench) -> CaseResult {
    let (created, _) = source(bench, doc::latest(10, 1, "d")).await?;
    bench
        .refuse(&[doc::copy(doc::latest(30, 20, "d"), 10, Point::At(created))])
        .await
}

async fn unknown_source_is_refused(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    bench
        .refuse(&[doc::copy(doc::latest(30, 20, "d"), 15, Point::Current)])
        .await?;
    bench
        .refuse(&[doc::copy(doc::latest(30, 20, "d"), 99, Point::Current)])
        .await
}

async fn non_conversation_source_is_refused(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    let create = |record| doc::create(record, 1, json!({}));
    bench
        .commit(&[create(doc::session(11, "d")), create(doc::of_task(12, 5, "d"))])
        .await?;
    for source in [11, 12] {
        bench
            .refuse(&[doc::copy(doc::latest(30, 20, "d"), source, Point::Current)])
            .await?;
    }
    bench
        .refuse(&[doc::copy(doc::session(30, "e"), 10, Point::Current)])
        .await
}

async fn mismatch_is_refused(bench: &Bench) -> CaseResult {
    source(bench, doc::rewindable(10, 1, "d")).await?;
    let child = doc::rewindable(30, 20, "d");
    let wrong = [
        doc::rewindable(30, 20, "e"),
        doc::keyed(child.clone(), "k"),
        doc::Doc {
            history: Some(StoredHistory::Latest),
            fork: Some(ForkPolicy::Current),
            ..child.clone()
        },
        doc::Doc {
            fork: Some(ForkPolicy::Current),
            ..child.clone()
        },
    ];
    for record in wrong {
        bench.refuse(&[doc::copy(record, 10, Point::Current)]).await?;
    }
    bench.commit(&[doc::copy(child, 10, Point::Current)]).await?;
    Ok(())
}

async fn copy_of_a_copy(bench: &Bench) -> CaseResult {
    source(bench, doc::rewindable(10, 1, "d")).await?;
    let seq = bench
        .commit(&[doc::copy(doc::rewindable(30, 20, "d"), 10, Point::Current)])
        .await?;
    bench.commit(&[entry(31, 20), fork(40, 20, 31)]).await?;
    bench
        .commit(&[doc::copy(doc::rewindable(50, 40, "d"), 30, Point::At(seq))])
        .await?;
    same!(bench.value(50, Point::Current).await?, json!({ "n": 2 }));
    Ok(())
}

async fn copy_within_the_fork_commit(bench: &Bench) -> CaseResult {
    source(bench, doc::latest(10, 1, "d")).await?;
    bench
        .commit(&[
            doc::copy(doc::latest(30, 60, "d"), 10, Point::Current),
            fork(60, 1, 15),
            entry(61, 60),
        ])
        .await?;
    same!(bench.value(30, Point::Current).await?, json!({ "n": 2 }));
    same!(bench.entry_ids(entries_of(60, None), 5).await?, vec![61, 15]);
    Ok(())
}
