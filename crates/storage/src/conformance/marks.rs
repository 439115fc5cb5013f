//! Head markers.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_session::ids::{ConversationId, EntryId};

cases!["marks": none_without_a_head, newest_wins, cutoff_is_inclusive, through_ancestors,
    ancestor_marker_above_the_fork_is_invisible, marker_carries_the_whole_entry, head_may_be_itself,
    unknown_conversation_has_none, newest_by_id_not_by_commit];

/// Marker and head ids.
async fn marker(bench: &Bench, conversation: u64, cutoff: Option<u64>) -> CaseResult<Option<(u64, u64)>> {
    let storage = bench.storage();
    let found = storage
        .find_latest_head_marker(ConversationId(conversation), cutoff.map(EntryId))
        .await?;
    if let Some(marker) = &found {
        same!(marker.entry.head, Some(marker.head));
    }
    Ok(found.map(|marker| (marker.entry.id.0, marker.head.0)))
}

async fn none_without_a_head(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1), entry(11, 1)]).await?;
    same!(marker(bench, 1, None).await?, None);
    Ok(())
}

async fn newest_wins(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            entry(10, 1),
            head(11, 1, 10),
            entry(12, 1),
            head(13, 1, 12),
            entry(14, 1),
        ])
        .await?;
    same!(marker(bench, 1, None).await?, Some((13, 12)));
    bench.reopen().await?;
    same!(marker(bench, 1, None).await?, Some((13, 12)));
    Ok(())
}

async fn cutoff_is_inclusive(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            entry(10, 1),
            head(11, 1, 10),
            entry(12, 1),
            head(13, 1, 12),
        ])
        .await?;
    for (cutoff, wanted) in [
        (10, None),
        (11, Some((11, 10))),
        (12, Some((11, 10))),
        (13, Some((13, 12))),
        (99, Some((13, 12))),
    ] {
        same!(marker(bench, 1, Some(cutoff)).await?, wanted);
    }
    same!(marker(bench, 1, Some(u64::MAX)).await?, Some((13, 12)));
    Ok(())
}

async fn through_ancestors(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), head(10, 1, 10), entry(11, 1)]).await?;
    bench.commit(&[fork(20, 1, 11), entry(21, 20)]).await?;
    bench.commit(&[fork(30, 20, 21), entry(31, 30)]).await?;
    same!(marker(bench, 30, None).await?, Some((10, 10)));
    bench.commit(&[head(32, 30, 31)]).await?;
    same!(marker(bench, 30, None).await?, Some((32, 31)));
    same!(marker(bench, 30, Some(31)).await?, Some((10, 10)));
    same!(marker(bench, 20, None).await?, Some((10, 10)));
    Ok(())
}

async fn ancestor_marker_above_the_fork_is_invisible(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), head(10, 1, 10), entry(11, 1)]).await?;
    bench.commit(&[fork(20, 1, 11)]).await?;
    bench.commit(&[head(21, 1, 11), entry(22, 20)]).await?;
    same!(marker(bench, 20, None).await?, Some((10, 10)));
    same!(marker(bench, 1, None).await?, Some((21, 11)));
    Ok(())
}

async fn marker_carries_the_whole_entry(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), head(10, 1, 10)]).await?;
    let stored = bench
        .storage()
        .entry(EntryId(10))
        .await?
        .map(|stored| stored.entry);
    let found = bench
        .storage()
        .find_latest_head_marker(ConversationId(1), None)
        .await?;
    same!(found.map(|marker| marker.entry), stored);
    Ok(())
}

async fn head_may_be_itself(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(9, 1), head(10, 1, 10)]).await?;
    same!(marker(bench, 1, None).await?, Some((10, 10)));
    Ok(())
}

async fn unknown_conversation_has_none(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), head(10, 1, 10)]).await?;
    same!(marker(bench, 99, None).await?, None);
    Ok(())
}

async fn newest_by_id_not_by_commit(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), head(30, 1, 30)]).await?;
    bench.commit(&[head(20, 1, 20)]).await?;
    same!(marker(bench, 1, None).await?, Some((30, 30)));
    Ok(())
}
