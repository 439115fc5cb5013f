//! Cursors: stateless positions that belong to one scan and one order.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{Point, Scope};
use tidehold_session::storage::*;

cases!["cursors": continue_below_newer_commits, survive_json_text, survive_reopen, carry_their_order,
    other_order_is_refused, other_scan_is_refused, no_scan_takes_the_cursor_of_another,
    no_scan_takes_a_cursor_of_the_other_order, each_scan_continues_without_repeating_its_order, malformed_is_refused, zero_limit_is_refused,
    refused_on_empty_storage_too, full_last_page_ends, documents_continue_by_id];

/// Conversation 1 with the entries 10 to 19.
async fn ten_entries(bench: &Bench) -> CaseResult {
    let mut writes = vec![conv(1)];
    writes.extend((10..20).map(|id| entry(id, 1)));
    bench.commit(&writes).await?;
    Ok(())
}

fn ids(page: &Page<tidehold_session::records::EntryRecord>) -> Vec<u64> {
    page.items.iter().map(|entry| entry.id.0).collect()
}

async fn continue_below_newer_commits(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let query = entries_of(1, None);
    let first = storage.scan_entries(&query, 3, None).await?;
    same!(ids(&first), vec![19, 18, 17]);
    bench.commit(&[entry(20, 1), entry(21, 1)]).await?;
    let second = storage.scan_entries(&query, 3, first.next.as_ref()).await?;
    same!(ids(&second), vec![16, 15, 14]);
    Ok(())
}

async fn survive_json_text(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let query = entries_of(1, None);
    let first = storage.scan_entries(&query, 4, None).await?;
    let text = first.next.map(|cursor| cursor.0.to_string()).unwrap_or_default();
    let Ok(parsed) = Json::parse(&text, 16) else {
        return Err(super::Failure(format!("the cursor is no JSON: {text}")));
    };
    let second = storage.scan_entries(&query, 4, Some(&Cursor(parsed))).await?;
    same!(ids(&second), vec![15, 14, 13, 12]);
    Ok(())
}

async fn survive_reopen(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let query = entries_of(1, Some(ScanOrder::Ascending));
    let first = bench.storage().scan_entries(&query, 4, None).await?;
    bench.reopen().await?;
    let second = bench
        .storage()
        .scan_entries(&query, 4, first.next.as_ref())
        .await?;
    same!(ids(&second), vec![14, 15, 16, 17]);
    Ok(())
}

async fn carry_their_order(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let ascending = entries_of(1, Some(ScanOrder::Ascending));
    let first = storage.scan_entries(&ascending, 2, None).await?;
    let second = storage
        .scan_entries(&entries_of(1, None), 2, first.next.as_ref())
        .await?;
    same!(ids(&second), vec![12, 13]);
    Ok(())
}

async fn other_order_is_refused(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let first = storage.scan_entries(&entries_of(1, None), 2, None).await?;
    let other = entries_of(1, Some(ScanOrder::Ascending));
    fails!(
        storage.scan_entries(&other, 2, first.next.as_ref()).await,
        StorageError::Request(_)
    );
    // Only the call failed.
    same!(bench.has_entry(10).await?, true);
    Ok(())
}

async fn other_scan_is_refused(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let cursor = storage.scan_entries(&entries_of(1, None), 2, None).await?.next;
    let cursor = cursor.as_ref();
    holds!(cursor.is_some(), "a full page has a cursor");
    let conversations = ConversationQuery {
        order: Some(ScanOrder::Descending),
        ..Default::default()
    };
    fails!(
        storage.scan_conversations(&conversations, 2, cursor).await,
        StorageError::Request(_)
    );
    let tasks = TaskQuery {
        order: Some(ScanOrder::Descending),
        ..Default::default()
    };
    fails!(
        storage.scan_tasks(&tasks, 2, cursor).await,
        StorageError::Request(_)
    );
    let submissions = SubmissionQuery {
        order: Some(ScanOrder::Descending),
        ..Default::default()
    };
    fails!(
        storage.scan_submissions(&submissions, 2, cursor).await,
        StorageError::Request(_)
    );
    let documents = DocumentQuery {
        scope: Scope::Session,
        at: Point::Current,
        kind: None,
    };
    fails!(
        storage.scan_documents(&documents, 2, cursor).await,
        StorageError::Request(_)
    );
    Ok(())
}

/// Three records of every sort: conversations 1 to 3, entries, tasks, submissions and documents.
async fn three_of_each(bench: &Bench) -> CaseResult {
    let mut writes = vec![conv(1), conv(2), conv(3)];
    for n in 0..3 {
        writes.push(entry(10 + n, 1));
        writes.push(put_task(task(20 + n, 1, "t", pending())));
        writes.push(put_submission(submission(30 + n, 1, None, queued())));
        let record = doc::keyed(doc::session(40 + n, "d"), &format!("k{n}"));
        writes.push(doc::create(record, 1, json!({})));
    }
    bench.commit(&writes).await?;
    Ok(())
}

const SCANS: [&str; 5] = ["conversations", "entries", "tasks", "submissions", "documents"];

/// One page of two of a scan: the ids on it, and the cursor. Documents have one order.
async fn page_of(
    bench: &Bench,
    scan: &str,
    order: Option<ScanOrder>,
    cursor: Option<&Cursor>,
) -> Result<(Vec<u64>, Option<Cursor>), StorageError> {
    let storage = bench.storage();
    Ok(match scan {
        "conversations" => {
            let query = ConversationQuery {
                order,
                ..Default::default()
            };
            let page = storage.scan_conversations(&query, 2, cursor).await?;
            (page.items.iter().map(|record| record.id.0).collect(), page.next)
        }
        "entries" => {
            let page = storage.scan_entries(&entries_of(1, order), 2, cursor).await?;
            (ids(&page), page.next)
        }
        "tasks" => {
            let query = TaskQuery {
                order,
                ..Default::default()
            };
            let page = storage.scan_tasks(&query, 2, cursor).await?;
            (page.items.iter().map(|record| record.id.0).collect(), page.next)
        }
        "submissions" => {
            let query = SubmissionQuery {
                order,
                ..Default::default()
            };
            let page = storage.scan_submissions(&query, 2, cursor).await?;
            (page.items.iter().map(|record| record.id.0).collect(), page.next)
        }
        _ => {
            let query = DocumentQuery {
                scope: Scope::Session,
                at: Point::Current,
                kind: None,
            };
            let page = storage.scan_documents(&query, 2, cursor).await?;
            (page.items.iter().map(|record| record.id.0).collect(), page.next)
        }
    })
}

async fn no_scan_takes_the_cursor_of_another(bench: &Bench) -> CaseResult {
    three_of_each(bench).await?;
    for from in SCANS {
        let (_, cursor) = page_of(bench, from, None, None).await?;
        holds!(cursor.is_some(), "{from}: a full page has a cursor");
        for to in SCANS {
            let answer = page_of(bench, to, None, cursor.as_ref()).await;
            match answer {
                Ok(_) if to == from => {}
                Err(StorageError::Request(_)) if to != from => {}
                other => holds!(false, "{from} to {to}: {other:?}"),
            }
        }
    }
    Ok(())
}

const ORDERS: [(ScanOrder, ScanOrder); 2] = [
    (ScanOrder::Ascending, ScanOrder::Descending),
    (ScanOrder::Descending, ScanOrder::Ascending),
];

async fn no_scan_takes_a_cursor_of_the_other_order(bench: &Bench) -> CaseResult {
    three_of_each(bench).await?;
    for scan in SCANS.into_iter().filter(|scan| *scan != "documents") {
        for (order, other) in ORDERS {
            let (_, cursor) = page_of(bench, scan, Some(order), None).await?;
            fails!(
                page_of(bench, scan, Some(other), cursor.as_ref()).await,
                StorageError::Request(_)
            );
        }
    }
    Ok(())
}

async fn each_scan_continues_without_repeating_its_order(bench: &Bench) -> CaseResult {
    three_of_each(bench).await?;
    for scan in SCANS.into_iter().filter(|scan| *scan != "documents") {
        for (order, _) in ORDERS {
            let (mut found, cursor) = page_of(bench, scan, Some(order), None).await?;
            let (rest, end) = page_of(bench, scan, None, cursor.as_ref()).await?;
            found.extend(rest);
            same!(end, None);
            let mut sorted = found.clone();
            sorted.sort_unstable();
            if order == ScanOrder::Descending {
                sorted.reverse();
            }
            same!(found, sorted);
            same!(found.len(), 3);
        }
    }
    Ok(())
}

async fn malformed_is_refused(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    let storage = bench.storage();
    let next = storage.scan_entries(&entries_of(1, None), 2, None).await?.next;
    let mut bad = vec![
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({}),
        json!({ "after": 12 }),
    ];
    if let Some(Cursor(Json::Object(members))) = &next {
        for key in members.keys() {
            let mut less = members.clone();
            less.remove(key);
            bad.push(Json::Object(less.clone()));
            for value in [json!(null), json!(-1), json!(1.5), json!("other"), json!([])] {
                less.insert(key.clone(), value);
                bad.push(Json::Object(less.clone()));
            }
        }
    }
    holds!(bad.len() > 6, "cursors are objects");
    for cursor in bad {
        let cursor = Cursor(cursor);
        fails!(
            storage.scan_entries(&entries_of(1, None), 2, Some(&cursor)).await,
            StorageError::Request(_)
        );
    }
    Ok(())
}

async fn zero_limit_is_refused(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    fails!(
        bench.storage().scan_entries(&entries_of(1, None), 0, None).await,
        StorageError::Request(_)
    );
    fails!(
        bench.storage().scan_tasks(&TaskQuery::default(), 0, None).await,
        StorageError::Request(_)
    );
    Ok(())
}

async fn refused_on_empty_storage_too(bench: &Bench) -> CaseResult {
    let cursor = Cursor(json!({ "after": "x" }));
    let storage = bench.storage();
    fails!(
        storage.scan_tasks(&TaskQuery::default(), 2, Some(&cursor)).await,
        StorageError::Request(_)
    );
    let documents = DocumentQuery {
        scope: Scope::Session,
        at: Point::Current,
        kind: None,
    };
    fails!(
        storage.scan_documents(&documents, 2, Some(&cursor)).await,
        StorageError::Request(_)
    );
    Ok(())
}

async fn full_last_page_ends(bench: &Bench) -> CaseResult {
    ten_entries(bench).await?;
    for limit in [1, 2, 3, 5, 9, 10, 11, 1000] {
        same!(
            bench.entry_ids(entries_of(1, None), limit).await?,
            (10..20).rev().collect::<Vec<_>>()
        );
    }
    let huge = bench
        .storage()
        .scan_entries(&entries_of(1, None), usize::MAX, None)
        .await?;
    same!(huge.items.len(), 10);
    same!(huge.next, None);
    Ok(())
}

async fn documents_continue_by_id(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for id in [14, 12, 10, 13, 11] {
        bench
            .commit(&[doc::create(
                doc::keyed(doc::latest(id, 1, "d"), &format!("k{id}")),
                1,
                json!({}),
            )])
            .await?;
    }
    let query = DocumentQuery {
        scope: tidehold_session::ids::ConversationId(1).into(),
        at: Point::Current,
        kind: None,
    };
    let storage = bench.storage();
    let first = storage.scan_documents(&query, 2, None).await?;
    bench.commit(&[doc::retire(11), doc::retire(13)]).await?;
    let second = storage.scan_documents(&query, 2, first.next.as_ref()).await?;
    let ids = |page: &Page<tidehold_session::documents::DocumentRecord>| {
        page.items.iter().map(|record| record.id.0).collect::<Vec<_>>()
    };
    same!(ids(&first), vec![10, 11]);
    same!(ids(&second), vec![12, 14]);
    Ok(())
}
