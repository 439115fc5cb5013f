//! Entries through the ancestry of a conversation.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_session::ids::EntryId;
use tidehold_session::storage::{EntryQuery, ScanOrder};

cases!["forks": child_sees_through_the_fork_entry, three_levels_in_both_orders, caps_only_fall,
    fork_at_an_inherited_entry, later_parent_entries_stay_out, siblings_do_not_mix, bounds_across_levels,
    visibility_of_single_entries, fork_entry_committed_with_later_ones, deep_line, survives_reopen];

/// Root 1 with 10..=14; 20 forks at 12 with 21..=23; 30 forks 20 at 22 with 31, 32. Each level goes on afterwards.
async fn three_levels(bench: &Bench) -> CaseResult {
    let mut writes = vec![conv(1)];
    writes.extend((10..15).map(|id| entry(id, 1)));
    bench.commit(&writes).await?;
    bench
        .commit(&[fork(20, 1, 12), entry(21, 20), entry(22, 20), entry(23, 20)])
        .await?;
    bench
        .commit(&[fork(30, 20, 22), entry(31, 30), entry(32, 30)])
        .await?;
    bench
        .commit(&[entry(40, 1), entry(41, 20), entry(42, 30)])
        .await?;
    Ok(())
}

const LINE_OF_30: [u64; 8] = [10, 11, 12, 21, 22, 31, 32, 42];

async fn child_sees_through_the_fork_entry(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    same!(
        bench.entry_ids(entries_of(20, None), 3).await?,
        vec![41, 23, 22, 21, 12, 11, 10]
    );
    same!(
        bench.entry_ids(entries_of(1, None), 3).await?,
        vec![40, 14, 13, 12, 11, 10]
    );
    Ok(())
}

async fn three_levels_in_both_orders(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    let mut newest_first = LINE_OF_30.to_vec();
    newest_first.reverse();
    for limit in 1..10 {
        same!(
            bench
                .entry_ids(entries_of(30, Some(ScanOrder::Ascending)), limit)
                .await?,
            LINE_OF_30.to_vec()
        );
        same!(bench.entry_ids(entries_of(30, None), limit).await?, newest_first);
    }
    Ok(())
}

async fn caps_only_fall(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    // 50 forks 30 at 31: of 20 it still sees only what 30 does, though 23 and 41 are older than 50.
    bench.commit(&[fork(50, 30, 31), entry(51, 50)]).await?;
    same!(
        bench
            .entry_ids(entries_of(50, Some(ScanOrder::Ascending)), 2)
            .await?,
        vec![10, 11, 12, 21, 22, 31, 51]
    );
    Ok(())
}

async fn fork_at_an_inherited_entry(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    bench.commit(&[fork(50, 30, 11), entry(51, 50)]).await?;
    same!(
        bench
            .entry_ids(entries_of(50, Some(ScanOrder::Ascending)), 2)
            .await?,
        vec![10, 11, 51]
    );
    same!(bench.sees(50, 21).await?, false);
    same!(bench.sees(50, 12).await?, false);
    Ok(())
}

async fn later_parent_entries_stay_out(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench.commit(&[fork(20, 1, 10)]).await?;
    bench.commit(&[entry(30, 1), entry(31, 1)]).await?;
    same!(bench.entry_ids(entries_of(20, None), 5).await?, vec![10]);
    bench.commit(&[entry(32, 20)]).await?;
    same!(bench.entry_ids(entries_of(20, None), 5).await?, vec![32, 10]);
    same!(bench.entry_ids(entries_of(1, None), 5).await?, vec![31, 30, 10]);
    Ok(())
}

async fn siblings_do_not_mix(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    bench
        .commit(&[
            fork(20, 1, 10),
            fork(21, 1, 10),
            entry(22, 20),
            entry(23, 21),
            entry(24, 20),
        ])
        .await?;
    same!(bench.entry_ids(entries_of(20, None), 5).await?, vec![24, 22, 10]);
    same!(bench.entry_ids(entries_of(21, None), 5).await?, vec![23, 10]);
    Ok(())
}

async fn bounds_across_levels(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    let wanted = |min: u64, max: u64| -> Vec<u64> {
        LINE_OF_30
            .iter()
            .copied()
            .filter(|id| (min..=max).contains(id))
            .collect()
    };
    for (min, max) in [(11, 31), (12, 12), (13, 20), (22, 99), (0, 10), (32, 42)] {
        let query = EntryQuery {
            min_entry_id: Some(EntryId(min)),
            max_entry_id: Some(EntryId(max)),
            ..entries_of(30, Some(ScanOrder::Ascending))
        };
        for limit in [1, 3, 50] {
            same!(bench.entry_ids(query.clone(), limit).await?, wanted(min, max));
        }
        let mut newest_first = wanted(min, max);
        newest_first.reverse();
        let query = EntryQuery {
            order: Some(ScanOrder::Descending),
            ..query
        };
        same!(bench.entry_ids(query, 2).await?, newest_first);
    }
    Ok(())
}

async fn visibility_of_single_entries(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    for id in (10..15).chain(21..24).chain(31..33).chain(40..43) {
        same!(bench.sees(30, id).await?, LINE_OF_30.contains(&id));
        same!(bench.has_entry(id).await?, true);
    }
    same!(bench.sees(1, 31).await?, false);
    Ok(())
}

async fn fork_entry_committed_with_later_ones(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry(10, 1), entry(11, 1), entry(12, 1)])
        .await?;
    bench.commit(&[fork(20, 1, 11)]).await?;
    same!(bench.entry_ids(entries_of(20, None), 5).await?, vec![11, 10]);
    Ok(())
}

async fn deep_line(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(1000, 1)]).await?;
    let (mut parent, mut at) = (1, 1000);
    let mut wanted = vec![1000];
    for level in 1..60 {
        let (child, next) = (1000 + level * 10, 1000 + level * 10 + 1);
        bench
            .commit(&[fork(child, parent, at), entry(next, child)])
            .await?;
        (parent, at) = (child, next);
        wanted.push(next);
    }
    same!(
        bench
            .entry_ids(entries_of(parent, Some(ScanOrder::Ascending)), 7)
            .await?,
        wanted
    );
    wanted.reverse();
    same!(bench.entry_ids(entries_of(parent, None), 7).await?, wanted);
    Ok(())
}

async fn survives_reopen(bench: &Bench) -> CaseResult {
    three_levels(bench).await?;
    bench.reopen().await?;
    same!(
        bench
            .entry_ids(entries_of(30, Some(ScanOrder::Ascending)), 3)
            .await?,
        LINE_OF_30.to_vec()
    );
    same!(bench.sees(30, 23).await?, false);
    Ok(())
}
