//! Rewindable documents: every value at its commit, for the whole lifetime.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::documents::Point;
use tidehold_session::ids::Seq;

cases!["rewind": every_delta_at_its_commit, between_commits_the_older_value, outside_the_lifetime_absent,
    bases_bound_the_replay, versions_by_point, retirement_keeps_history, reopen_keeps_history,
    future_points_read_the_newest, recreated_address_keeps_both];

/// A rewindable document with 40 deltas and a base at the 20th, returning each commit with its value of `n`.
async fn forty(bench: &Bench) -> CaseResult<Vec<(Seq, u32)>> {
    let created = bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    let mut points = vec![(created, 0)];
    for n in 1..=40u32 {
        let write = if n == 20 {
            doc::base(10, 1, json!({ "n": n }))
        } else {
            doc::delta(10, 1, vec![doc::set("n", n)])
        };
        points.push((bench.commit(&[write]).await?, n));
    }
    Ok(points)
}

async fn every_delta_at_its_commit(bench: &Bench) -> CaseResult {
    for (seq, n) in forty(bench).await? {
        same!(bench.value(10, Point::At(seq)).await?, json!({ "n": n }));
    }
    same!(bench.value(10, Point::Current).await?, json!({ "n": 40 }));
    Ok(())
}

async fn between_commits_the_older_value(bench: &Bench) -> CaseResult {
    let created = bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    let other = bench.commit(&[entry(11, 1)]).await?;
    let changed = bench.commit(&[doc::delta(10, 1, vec![doc::set("n", 1)])]).await?;
    let later = bench.commit(&[entry(12, 1)]).await?;
    for (seq, n) in [(created, 0), (other, 0), (changed, 1), (later, 1)] {
        same!(bench.value(10, Point::At(seq)).await?, json!({ "n": n }));
    }
    Ok(())
}

async fn outside_the_lifetime_absent(bench: &Bench) -> CaseResult {
    let created = bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    same!(bench.document(10, Point::At(Seq(created.0 - 1))).await?, None);
    same!(bench.document(10, Point::At(Seq(0))).await?, None);
    let retired = bench.commit(&[doc::retire(10)]).await?;
    same!(bench.document(10, Point::At(retired)).await?, None);
    same!(bench.document(10, Point::At(Seq(u64::MAX))).await?, None);
    Ok(())
}

async fn bases_bound_the_replay(bench: &Bench) -> CaseResult {
    for (seq, n) in forty(bench).await? {
        let stored = bench.document(10, Point::At(seq)).await?;
        let wanted = if n < 20 { n } else { n - 20 };
        same!(stored.map(|stored| stored.deltas_since_base), Some(wanted));
    }
    Ok(())
}

async fn versions_by_point(bench: &Bench) -> CaseResult {
    let first = bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "v": 1 }))
        .await?;
    let second = bench.commit(&[doc::delta(10, 1, vec![doc::set("n", 1)])]).await?;
    let third = bench.commit(&[doc::base(10, 2, json!({ "v": 2 }))]).await?;
    let fourth = bench.commit(&[doc::delta(10, 2, vec![doc::set("n", 2)])]).await?;
    let fifth = bench.commit(&[doc::base(10, 5, json!({ "v": 5 }))]).await?;
    for (seq, version) in [(first, 1), (second, 1), (third, 2), (fourth, 2), (fifth, 5)] {
        let stored = bench.document(10, Point::At(seq)).await?;
        same!(stored.map(|stored| stored.version), Some(version));
    }
    same!(
        bench.value(10, Point::At(second)).await?,
        json!({ "v": 1, "n": 1 })
    );
    same!(
        bench.value(10, Point::At(fourth)).await?,
        json!({ "v": 2, "n": 2 })
    );
    Ok(())
}

async fn retirement_keeps_history(bench: &Bench) -> CaseResult {
    let points = forty(bench).await?;
    let retired = bench.commit(&[doc::retire(10)]).await?;
    for (seq, n) in points {
        same!(bench.value(10, Point::At(seq)).await?, json!({ "n": n }));
        let stored = bench.document(10, Point::At(seq)).await?;
        same!(stored.and_then(|stored| stored.record.retired_at), Some(retired));
    }
    Ok(())
}

async fn reopen_keeps_history(bench: &Bench) -> CaseResult {
    let points = forty(bench).await?;
    bench.reopen().await?;
    for (seq, n) in points {
        same!(bench.value(10, Point::At(seq)).await?, json!({ "n": n }));
    }
    Ok(())
}

async fn future_points_read_the_newest(bench: &Bench) -> CaseResult {
    forty(bench).await?;
    for seq in [Seq(1_000_000), Seq(u64::MAX)] {
        same!(bench.value(10, Point::At(seq)).await?, json!({ "n": 40 }));
    }
    Ok(())
}

async fn recreated_address_keeps_both(bench: &Bench) -> CaseResult {
    let first = bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "which": 10 }))
        .await?;
    let create = doc::create(doc::rewindable(11, 1, "d"), 1, json!({ "which": 11 }));
    let second = bench.commit(&[doc::retire(10), create]).await?;
    same!(bench.value(10, Point::At(first)).await?, json!({ "which": 10 }));
    same!(bench.document(11, Point::At(first)).await?, None);
    same!(bench.document(10, Point::At(second)).await?, None);
    same!(bench.value(11, Point::At(second)).await?, json!({ "which": 11 }));
    Ok(())
}
