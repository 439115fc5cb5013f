//! Entries of one conversation, and conversations by owner.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::ids::{ConversationId, EntryId, TaskId};
use tidehold_session::records::{ContextEdit, ContextEditAction, EntryRecord};
use tidehold_session::storage::*;

cases!["entries": newest_first_by_default, oldest_first_on_request, bounds_are_inclusive,
    bounds_outside_find_nothing, other_conversations_are_left_out, out_of_order_commits_sort_by_id,
    unknown_conversation_is_a_request_error, empty_conversation_is_an_empty_page, commit_seq_of_each,
    every_member_round_trips, explicit_null_is_not_absence, conversations_in_both_orders,
    conversations_by_owner_task, conversations_by_owner_conversation, conversations_by_both_owners];

async fn newest_first_by_default(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry(10, 1), entry(11, 1), entry(12, 1)])
        .await?;
    same!(bench.entry_ids(entries_of(1, None), 2).await?, vec![12, 11, 10]);
    same!(
        bench
            .entry_ids(entries_of(1, Some(ScanOrder::Descending)), 2)
            .await?,
        vec![12, 11, 10]
    );
    Ok(())
}

async fn oldest_first_on_request(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry(10, 1), entry(11, 1), entry(12, 1)])
        .await?;
    for limit in 1..5 {
        same!(
            bench
                .entry_ids(entries_of(1, Some(ScanOrder::Ascending)), limit)
                .await?,
            vec![10, 11, 12]
        );
    }
    Ok(())
}

fn between(min: u64, max: u64, order: ScanOrder) -> EntryQuery {
    EntryQuery {
        min_entry_id: Some(EntryId(min)),
        max_entry_id: Some(EntryId(max)),
        ..entries_of(1, Some(order))
    }
}

async fn bounds_are_inclusive(bench: &Bench) -> CaseResult {
    let mut writes = vec![conv(1)];
    writes.extend((10..20).map(|id| entry(id, 1)));
    bench.commit(&writes).await?;
    for limit in [1, 2, 100] {
        same!(
            bench
                .entry_ids(between(12, 15, ScanOrder::Ascending), limit)
                .await?,
            vec![12, 13, 14, 15]
        );
        same!(
            bench
                .entry_ids(between(12, 15, ScanOrder::Descending), limit)
                .await?,
            vec![15, 14, 13, 12]
        );
        same!(
            bench
                .entry_ids(between(13, 13, ScanOrder::Descending), limit)
                .await?,
            vec![13]
        );
    }
    Ok(())
}

async fn bounds_outside_find_nothing(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), entry(10, 1)]).await?;
    for (min, max) in [(11, 20), (1, 9), (12, 8), (u64::MAX, u64::MAX), (0, 0)] {
        same!(
            bench
                .entry_ids(between(min, max, ScanOrder::Descending), 5)
                .await?,
            Vec::new()
        );
    }
    same!(
        bench
            .entry_ids(between(0, u64::MAX, ScanOrder::Ascending), 5)
            .await?,
        vec![10]
    );
    Ok(())
}

async fn other_conversations_are_left_out(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            conv(2),
            entry(10, 1),
            entry(11, 2),
            entry(12, 1),
            entry(13, 2),
        ])
        .await?;
    same!(bench.entry_ids(entries_of(1, None), 5).await?, vec![12, 10]);
    same!(bench.entry_ids(entries_of(2, None), 5).await?, vec![13, 11]);
    same!(bench.sees(1, 11).await?, false);
    same!(bench.sees(2, 11).await?, true);
    Ok(())
}

async fn out_of_order_commits_sort_by_id(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for id in [30, 20, 10] {
        bench.commit(&[entry(id, 1)]).await?;
    }
    same!(bench.entry_ids(entries_of(1, None), 2).await?, vec![30, 20, 10]);
    same!(
        bench
            .entry_ids(entries_of(1, Some(ScanOrder::Ascending)), 2)
            .await?,
        vec![10, 20, 30]
    );
    Ok(())
}

async fn unknown_conversation_is_a_request_error(bench: &Bench) -> CaseResult {
    bench.root().await?;
    fails!(
        bench.storage().scan_entries(&entries_of(9, None), 5, None).await,
        StorageError::Request(_)
    );
    same!(bench.sees(9, 1).await?, false);
    // Only the call failed.
    bench.commit(&[entry(10, 1)]).await?;
    Ok(())
}

async fn empty_conversation_is_an_empty_page(bench: &Bench) -> CaseResult {
    bench.root().await?;
    same!(
        bench
            .storage()
            .scan_entries(&entries_of(1, None), 5, None)
            .await?,
        Page {
            items: vec![],
            next: None
        }
    );
    Ok(())
}

async fn commit_seq_of_each(bench: &Bench) -> CaseResult {
    let first = bench.commit(&[conv(1), entry(10, 1), entry(11, 1)]).await?;
    let second = bench.commit(&[entry(12, 1)]).await?;
    for (id, wanted) in [(10, first), (11, first), (12, second)] {
        let storage = bench.storage();
        same!(
            storage.entry(EntryId(id)).await?.map(|stored| stored.commit_seq),
            Some(wanted)
        );
        let visible = storage.visible_entry(ConversationId(1), EntryId(id)).await?;
        same!(visible, storage.entry(EntryId(id)).await?);
    }
    Ok(())
}

async fn every_member_round_trips(bench: &Bench) -> CaseResult {
    let edits = vec![
        ContextEdit {
            target: EntryId(3),
            action: ContextEditAction::Omit,
        },
        ContextEdit {
            target: EntryId(4),
            action: ContextEditAction::Replace {
                messages: vec![json!({ "role": "user", "content": "x" })],
            },
        },
    ];
    let record = EntryRecord {
        model: Some(vec![
            json!({ "role": "user", "content": "hello" }),
            json!({ "n": [1, 2.5, -3] }),
        ]),
        data: Some(json!({ "a": null, "b": [], "c": {} })),
        head: Some(EntryId(10)),
        edits: Some(edits),
        by_task_id: Some(TaskId(7)),
        ..entry_record(10, 1)
    };
    bench
        .commit(&[conv(1), StorageWrite::Entry(std::rc::Rc::new(record.clone()))])
        .await?;
    bench.reopen().await?;
    same!(
        bench
            .storage()
            .entry(EntryId(10))
            .await?
            .map(|stored| stored.entry),
        Some(record)
    );
    Ok(())
}

async fn explicit_null_is_not_absence(bench: &Bench) -> CaseResult {
    bench
        .commit(&[conv(1), entry_with(10, 1, json!(null)), entry(11, 1)])
        .await?;
    bench.reopen().await?;
    let data = |stored: Option<StoredEntry>| stored.map(|stored| stored.entry.data);
    same!(
        data(bench.storage().entry(EntryId(10)).await?),
        Some(Some(json!(null)))
    );
    same!(data(bench.storage().entry(EntryId(11)).await?), Some(None));
    Ok(())
}

/// Ids of the conversations found, two a page.
async fn conversations(bench: &Bench, query: ConversationQuery) -> CaseResult<Vec<u64>> {
    let storage = bench.storage();
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = storage.scan_conversations(&query, 2, cursor.as_ref()).await?;
        ids.extend(page.items.iter().map(|record| record.id.0));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(ids),
        }
    }
}

/// The root and seven more: three owned by task 50, two by task 51 of the same conversation, one of another.
async fn owners(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            owned(10, 1, 50),
            owned(11, 1, 51),
            owned(12, 1, 50),
            conv(13),
            owned(14, 1, 51),
        ])
        .await?;
    bench.commit(&[owned(15, 1, 50), owned(16, 13, 60)]).await?;
    Ok(())
}

async fn conversations_in_both_orders(bench: &Bench) -> CaseResult {
    owners(bench).await?;
    same!(
        conversations(bench, ConversationQuery::default()).await?,
        vec![1, 10, 11, 12, 13, 14, 15, 16]
    );
    let query = ConversationQuery {
        order: Some(ScanOrder::Descending),
        ..Default::default()
    };
    same!(
        conversations(bench, query).await?,
        vec![16, 15, 14, 13, 12, 11, 10, 1]
    );
    Ok(())
}

async fn conversations_by_owner_task(bench: &Bench) -> CaseResult {
    owners(bench).await?;
    let query = ConversationQuery {
        owner_task_id: Some(TaskId(50)),
        ..Default::default()
    };
    same!(conversations(bench, query.clone()).await?, vec![10, 12, 15]);
    let query = ConversationQuery {
        order: Some(ScanOrder::Descending),
        ..query
    };
    same!(conversations(bench, query).await?, vec![15, 12, 10]);
    Ok(())
}

async fn conversations_by_owner_conversation(bench: &Bench) -> CaseResult {
    owners(bench).await?;
    let query = ConversationQuery {
        owner_conversation_id: Some(ConversationId(1)),
        ..Default::default()
    };
    same!(
        conversations(bench, query.clone()).await?,
        vec![10, 11, 12, 14, 15]
    );
    let query = ConversationQuery {
        order: Some(ScanOrder::Descending),
        ..query
    };
    same!(conversations(bench, query).await?, vec![15, 14, 12, 11, 10]);
    Ok(())
}

async fn conversations_by_both_owners(bench: &Bench) -> CaseResult {
    owners(bench).await?;
    let both = |conversation, task| ConversationQuery {
        owner_conversation_id: Some(ConversationId(conversation)),
        owner_task_id: Some(TaskId(task)),
        order: None,
    };
    same!(conversations(bench, both(1, 51)).await?, vec![11, 14]);
    same!(conversations(bench, both(13, 51)).await?, Vec::new());
    same!(conversations(bench, both(13, 60)).await?, vec![16]);
    Ok(())
}
