//! Document records: creation, address, lifetime, scope scans.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::documents::{DocumentAddress, ForkPolicy, Point, Scope, StoredHistory};
use tidehold_session::ids::{ConversationId, DocumentId, Seq, TaskId};
use tidehold_session::storage::DocumentQuery;

cases!["documents": created_is_found, address_is_exact, key_and_no_key_differ, scopes_do_not_mix,
    retired_is_gone, retired_stays_a_historical_record, half_open_lifetime, recreated_in_one_commit,
    created_and_retired_in_one_commit, order_in_the_batch_is_irrelevant, occupied_address_is_refused,
    two_at_one_address_in_a_batch, unknown_is_refused, retired_is_refused, retired_twice_is_refused,
    history_fits_the_scope, scope_scan_by_kind, scope_scan_at_a_point, scope_scan_pages, empty_key_is_a_key];

async fn find(bench: &Bench, record: &doc::Doc, at: Point) -> CaseResult<Option<u64>> {
    let found = bench.storage().find_document(&doc::address(record), at).await?;
    Ok(found.map(|record| record.id.0))
}

async fn scan(bench: &Bench, scope: Scope, kind: Option<&str>, at: Point) -> CaseResult<Vec<u64>> {
    let query = DocumentQuery {
        scope,
        at,
        kind: kind.map(Into::into),
    };
    let storage = bench.storage();
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = storage.scan_documents(&query, 2, cursor.as_ref()).await?;
        ids.extend(page.items.iter().map(|record| record.id.0));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(ids),
        }
    }
}

async fn created_is_found(bench: &Bench) -> CaseResult {
    let record = doc::keyed(doc::latest(10, 1, "d"), "k");
    let created = bench.with_document(record.clone(), 2, json!({ "n": 1 })).await?;
    let found = bench
        .storage()
        .find_document(&doc::address(&record), Point::Current)
        .await?;
    same!(found, Some(record.clone().stamped(created)));
    let stored = bench.document(10, Point::Current).await?;
    same!(
        stored.as_ref().map(|stored| stored.record.clone()),
        Some(record.stamped(created))
    );
    same!(
        stored.map(|stored| (stored.version, stored.value, stored.deltas_since_base)),
        Some((2, json!({ "n": 1 }), 0))
    );
    Ok(())
}

async fn address_is_exact(bench: &Bench) -> CaseResult {
    bench.with_document(doc::latest(10, 1, "d"), 1, json!({})).await?;
    same!(
        find(bench, &doc::latest(0, 1, "d"), Point::Current).await?,
        Some(10)
    );
    same!(find(bench, &doc::latest(0, 1, "D"), Point::Current).await?, None);
    same!(find(bench, &doc::latest(0, 2, "d"), Point::Current).await?, None);
    same!(
        find(bench, &doc::keyed(doc::latest(0, 1, "d"), "d"), Point::Current).await?,
        None
    );
    Ok(())
}

async fn key_and_no_key_differ(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let family = |id, key: &str| doc::create(doc::keyed(doc::latest(id, 1, "d"), key), 1, json!({}));
    bench
        .commit(&[
            doc::create(doc::latest(10, 1, "d"), 1, json!({})),
            family(11, "a"),
            family(12, "b"),
        ])
        .await?;
    same!(
        find(bench, &doc::latest(0, 1, "d"), Point::Current).await?,
        Some(10)
    );
    same!(
        find(bench, &doc::keyed(doc::latest(0, 1, "d"), "a"), Point::Current).await?,
        Some(11)
    );
    same!(
        find(bench, &doc::keyed(doc::latest(0, 1, "d"), "b"), Point::Current).await?,
        Some(12)
    );
    Ok(())
}

async fn scopes_do_not_mix(bench: &Bench) -> CaseResult {
    bench
        .commit(&[
            conv(1),
            doc::create(doc::session(10, "d"), 1, json!({})),
            doc::create(doc::latest(11, 1, "d"), 1, json!({})),
            doc::create(doc::of_task(12, 1, "d"), 1, json!({})),
            doc::create(doc::of_task(13, 2, "d"), 1, json!({})),
        ])
        .await?;
    same!(scan(bench, Scope::Session, None, Point::Current).await?, vec![10]);
    same!(
        scan(bench, ConversationId(1).into(), None, Point::Current).await?,
        vec![11]
    );
    same!(
        scan(bench, TaskId(1).into(), None, Point::Current).await?,
        vec![12]
    );
    same!(
        find(bench, &doc::of_task(0, 2, "d"), Point::Current).await?,
        Some(13)
    );
    Ok(())
}

async fn retired_is_gone(bench: &Bench) -> CaseResult {
    for record in [
        doc::latest(10, 1, "d"),
        doc::rewindable(10, 1, "d"),
        doc::session(10, "d"),
    ] {
        bench.start_over().await?;
        bench.with_document(record.clone(), 1, json!({})).await?;
        bench.commit(&[doc::retire(10)]).await?;
        same!(bench.document(10, Point::Current).await?, None);
        same!(find(bench, &record, Point::Current).await?, None);
        same!(scan(bench, record.scope, None, Point::Current).await?, Vec::new());
    }
    Ok(())
}

async fn retired_stays_a_historical_record(bench: &Bench) -> CaseResult {
    let record = doc::latest(10, 1, "d");
    let created = bench.with_document(record.clone(), 1, json!({})).await?;
    let retired = bench.commit(&[doc::retire(10)]).await?;
    bench.reopen().await?;
    let found = bench
        .storage()
        .find_document(&doc::address(&record), Point::At(created))
        .await?;
    same!(
        found.map(|found| (found.created_at, found.retired_at)),
        Some((created, Some(retired)))
    );
    Ok(())
}

async fn half_open_lifetime(bench: &Bench) -> CaseResult {
    let record = doc::latest(10, 1, "d");
    let created = bench.with_document(record.clone(), 1, json!({})).await?;
    let between = bench.commit(&[entry(11, 1)]).await?;
    let retired = bench.commit(&[doc::retire(10)]).await?;
    let after = bench.commit(&[entry(12, 1)]).await?;
    let before = Seq(created.0 - 1);
    for (at, wanted) in [
        (before, None),
        (created, Some(10)),
        (between, Some(10)),
        (retired, None),
        (after, None),
    ] {
        same!(find(bench, &record, Point::At(at)).await?, wanted);
        let ids = scan(bench, record.scope, None, Point::At(at)).await?;
        same!(ids, wanted.into_iter().collect::<Vec<_>>());
    }
    Ok(())
}

async fn recreated_in_one_commit(bench: &Bench) -> CaseResult {
    let created = bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "old": true }))
        .await?;
    let create = doc::create(doc::latest(11, 1, "d"), 2, json!({ "new": true }));
    let seq = bench.commit(&[create, doc::retire(10)]).await?;
    let address = doc::latest(0, 1, "d");
    same!(find(bench, &address, Point::Current).await?, Some(11));
    same!(find(bench, &address, Point::At(seq)).await?, Some(11));
    same!(find(bench, &address, Point::At(created)).await?, Some(10));
    same!(bench.document(10, Point::Current).await?, None);
    same!(bench.value(11, Point::Current).await?, json!({ "new": true }));
    Ok(())
}

async fn created_and_retired_in_one_commit(bench: &Bench) -> CaseResult {
    for record in [doc::latest(10, 1, "d"), doc::rewindable(10, 1, "d")] {
        bench.start_over().await?;
        bench.root().await?;
        let seq = bench
            .commit(&[doc::retire(10), doc::create(record.clone(), 1, json!({}))])
            .await?;
        same!(bench.document(10, Point::Current).await?, None);
        same!(find(bench, &record, Point::Current).await?, None);
        same!(find(bench, &record, Point::At(seq)).await?, None);
        if record.history == Some(StoredHistory::Rewindable) {
            same!(bench.document(10, Point::At(seq)).await?, None);
        }
        // The id stays spent, the address is free.
        bench.refuse(&[entry(10, 1)]).await?;
        bench
            .commit(&[doc::create(doc::latest(11, 1, "d"), 1, json!({}))])
            .await?;
    }
    Ok(())
}

async fn order_in_the_batch_is_irrelevant(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::rewindable(10, 1, "d"), 1, json!({ "n": 1 }))
        .await?;
    let seq = bench
        .commit(&[doc::retire(10), doc::delta(10, 1, vec![doc::set("n", 2)])])
        .await?;
    same!(bench.document(10, Point::At(seq)).await?, None);
    same!(
        bench.value(10, Point::At(Seq(seq.0 - 1))).await?,
        json!({ "n": 1 })
    );
    Ok(())
}

async fn occupied_address_is_refused(bench: &Bench) -> CaseResult {
    bench.with_document(doc::latest(10, 1, "d"), 1, json!({})).await?;
    bench
        .refuse(&[doc::create(doc::latest(11, 1, "d"), 1, json!({}))])
        .await?;
    bench.commit(&[doc::retire(10)]).await?;
    bench
        .commit(&[doc::create(doc::latest(11, 1, "d"), 1, json!({}))])
        .await?;
    Ok(())
}

async fn two_at_one_address_in_a_batch(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let create = |id| doc::create(doc::latest(id, 1, "d"), 1, json!({}));
    bench.refuse(&[create(10), create(11)]).await?;
    bench.commit(&[create(10), create(11), doc::retire(10)]).await?;
    same!(
        find(bench, &doc::latest(0, 1, "d"), Point::Current).await?,
        Some(11)
    );
    Ok(())
}

async fn unknown_is_refused(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench.refuse(&[doc::delta(10, 1, vec![])]).await?;
    bench.refuse(&[doc::base(10, 1, json!({}))]).await?;
    bench.refuse(&[doc::retire(10)]).await?;
    // An id of another type is no document either.
    bench.commit(&[entry(10, 1)]).await?;
    bench.refuse(&[doc::retire(10)]).await
}

async fn retired_is_refused(bench: &Bench) -> CaseResult {
    for record in [doc::latest(10, 1, "d"), doc::rewindable(10, 1, "d")] {
        bench.start_over().await?;
        bench.with_document(record, 1, json!({})).await?;
        bench.commit(&[doc::retire(10)]).await?;
        bench.refuse(&[doc::delta(10, 1, vec![doc::set("n", 2)])]).await?;
        bench.refuse(&[doc::base(10, 1, json!({}))]).await?;
    }
    Ok(())
}

async fn retired_twice_is_refused(bench: &Bench) -> CaseResult {
    bench.with_document(doc::latest(10, 1, "d"), 1, json!({})).await?;
    bench.refuse(&[doc::retire(10), doc::retire(10)]).await?;
    bench.commit(&[doc::retire(10)]).await?;
    bench.refuse(&[doc::retire(10)]).await
}

async fn history_fits_the_scope(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let (latest, rewindable) = (Some(StoredHistory::Latest), Some(StoredHistory::Rewindable));
    let conversation = doc::latest(10, 1, "d");
    for (history, fork) in [
        (None, None),
        (latest, None),
        (None, Some(ForkPolicy::Current)),
        (latest, Some(ForkPolicy::AsOf)),
    ] {
        bench
            .refuse(&[doc::create(
                doc::Doc {
                    history,
                    fork,
                    ..conversation.clone()
                },
                1,
                json!({}),
            )])
            .await?;
    }
    let session = doc::Doc {
        history: latest,
        ..doc::session(10, "d")
    };
    bench.refuse(&[doc::create(session, 1, json!({}))]).await?;
    let of_task = doc::Doc {
        fork: Some(ForkPolicy::Initial),
        ..doc::of_task(10, 3, "d")
    };
    bench.refuse(&[doc::create(of_task, 1, json!({}))]).await?;
    for (id, (history, fork)) in (20..).zip([
        (latest, ForkPolicy::Current),
        (latest, ForkPolicy::Initial),
        (rewindable, ForkPolicy::AsOf),
        (rewindable, ForkPolicy::Current),
        (rewindable, ForkPolicy::Initial),
    ]) {
        let record = doc::Doc {
            history,
            fork: Some(fork),
            id: DocumentId(id),
            ..doc::keyed(conversation.clone(), &id.to_string())
        };
        let created = bench.commit(&[doc::create(record.clone(), 1, json!({}))]).await?;
        same!(bench.record(id).await?, record.stamped(created));
    }
    Ok(())
}

async fn scope_scan_by_kind(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let member = |id, kind: &str| {
        doc::create(
            doc::keyed(doc::latest(id, 1, kind), &id.to_string()),
            1,
            json!({}),
        )
    };
    bench
        .commit(&[
            member(14, "b"),
            member(10, "a"),
            member(12, "b"),
            member(11, "a"),
            member(13, "b"),
        ])
        .await?;
    let scope = ConversationId(1).into();
    same!(
        scan(bench, scope, None, Point::Current).await?,
        vec![10, 11, 12, 13, 14]
    );
    same!(scan(bench, scope, Some("a"), Point::Current).await?, vec![10, 11]);
    same!(
        scan(bench, scope, Some("b"), Point::Current).await?,
        vec![12, 13, 14]
    );
    same!(scan(bench, scope, Some("c"), Point::Current).await?, Vec::new());
    Ok(())
}

async fn scope_scan_at_a_point(bench: &Bench) -> CaseResult {
    let first = bench.with_document(doc::latest(10, 1, "a"), 1, json!({})).await?;
    let second = bench
        .commit(&[doc::create(doc::latest(11, 1, "b"), 1, json!({}))])
        .await?;
    let third = bench
        .commit(&[
            doc::retire(10),
            doc::create(doc::latest(12, 1, "a"), 1, json!({})),
        ])
        .await?;
    let scope = ConversationId(1).into();
    same!(scan(bench, scope, None, Point::At(first)).await?, vec![10]);
    same!(scan(bench, scope, None, Point::At(second)).await?, vec![10, 11]);
    same!(scan(bench, scope, None, Point::At(third)).await?, vec![11, 12]);
    same!(scan(bench, scope, Some("a"), Point::At(second)).await?, vec![10]);
    same!(scan(bench, scope, None, Point::Current).await?, vec![11, 12]);
    Ok(())
}

async fn scope_scan_pages(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let mut writes = Vec::new();
    for id in 10..35 {
        writes.push(doc::create(
            doc::keyed(doc::session(id, "d"), &format!("{}", 100 - id)),
            1,
            json!({}),
        ));
    }
    bench.commit(&writes).await?;
    same!(
        scan(bench, Scope::Session, None, Point::Current).await?,
        (10..35).collect::<Vec<_>>()
    );
    Ok(())
}

async fn empty_key_is_a_key(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let empty = doc::keyed(doc::session(10, "d"), "");
    bench
        .commit(&[
            doc::create(empty.clone(), 1, json!({})),
            doc::create(doc::session(11, "d"), 1, json!({})),
        ])
        .await?;
    same!(find(bench, &empty, Point::Current).await?, Some(10));
    let singleton = DocumentAddress {
        key: None,
        ..doc::address(&empty)
    };
    let found = bench.storage().find_document(&singleton, Point::Current).await?;
    same!(found.map(|record| record.id.0), Some(11));
    Ok(())
}
