//! Document values: bases, delta chains, versions.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::{Json, Op, json};
use tidehold_session::documents::Point;
use tidehold_session::storage::StorageError;

cases!["content": deltas_accumulate, base_restarts_the_count, every_operation_applies, empty_delta_counts,
    root_replacement_is_a_delta, delta_cannot_cross_a_version, base_may_change_the_version,
    two_content_commands_are_refused, create_and_change_is_refused, change_and_retire,
    inapplicable_delta_is_corruption, numeric_read_of_current_only_is_a_request_error,
    long_chain_across_reopen, packs_fill_and_are_reclaimed, documents_do_not_share_content,
    recreated_starts_clean, unknown_document_is_absent];

async fn deltas_accumulate(bench: &Bench) -> CaseResult {
    for record in [
        doc::latest(10, 1, "d"),
        doc::rewindable(10, 1, "d"),
        doc::session(10, "d"),
        doc::of_task(10, 3, "d"),
    ] {
        bench.start_over().await?;
        bench
            .with_document(record, 1, json!({ "text": "", "n": 0 }))
            .await?;
        for n in 1..=20u32 {
            bench
                .commit(&[doc::delta(
                    10,
                    1,
                    vec![doc::append("text", "x"), doc::set("n", n)],
                )])
                .await?;
            let stored = bench.document(10, Point::Current).await?;
            let wanted = json!({ "text": "x".repeat(n as usize), "n": n });
            same!(
                stored.map(|stored| (stored.value, stored.version, stored.deltas_since_base)),
                Some((wanted, 1, n))
            );
        }
    }
    Ok(())
}

async fn base_restarts_the_count(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    bench.commit(&[doc::delta(10, 1, vec![doc::set("n", 1)])]).await?;
    bench.commit(&[doc::base(10, 1, json!({ "n": 5 }))]).await?;
    let stored = bench.document(10, Point::Current).await?;
    same!(
        stored.map(|stored| (stored.value, stored.deltas_since_base)),
        Some((json!({ "n": 5 }), 0))
    );
    bench.commit(&[doc::delta(10, 1, vec![doc::set("m", 6)])]).await?;
    let stored = bench.document(10, Point::Current).await?;
    same!(
        stored.map(|stored| (stored.value, stored.deltas_since_base)),
        Some((json!({ "n": 5, "m": 6 }), 1))
    );
    Ok(())
}

async fn every_operation_applies(bench: &Bench) -> CaseResult {
    let path = |key: &str| vec![key.into()];
    bench
        .with_document(
            doc::latest(10, 1, "d"),
            1,
            json!({ "t": "ab😀", "l": [1, 2, 3], "x": 1 }),
        )
        .await?;
    let Json::Array(items) = json!(["new"]) else {
        return Ok(());
    };
    let ops = vec![
        Op::Set(path("s"), json!({ "deep": [null] })),
        Op::Delete(path("x")),
        Op::Append(path("t"), "é".into()),
        Op::TrimStart(path("t"), 1),
        Op::Splice {
            path: path("l"),
            index: 1,
            remove: 1,
            items,
        },
        Op::Move(path("l"), vec![2, 0, 1]),
    ];
    bench.commit(&[doc::delta(10, 1, ops)]).await?;
    bench.reopen().await?;
    let wanted = json!({ "t": "b😀é", "l": [3, 1, "new"], "s": { "deep": [null] } });
    same!(bench.value(10, Point::Current).await?, wanted);
    Ok(())
}

async fn empty_delta_counts(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    bench.commit(&[doc::delta(10, 1, vec![])]).await?;
    let stored = bench.document(10, Point::Current).await?;
    same!(
        stored.map(|stored| (stored.value, stored.deltas_since_base)),
        Some((json!({ "n": 0 }), 1))
    );
    Ok(())
}

async fn root_replacement_is_a_delta(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "n": 0 }))
        .await?;
    bench
        .commit(&[doc::delta(10, 1, vec![Op::Replace(json!({ "m": 1 }))])])
        .await?;
    bench.commit(&[doc::delta(10, 1, vec![doc::set("k", 2)])]).await?;
    let stored = bench.document(10, Point::Current).await?;
    same!(
        stored.map(|stored| (stored.value, stored.deltas_since_base)),
        Some((json!({ "m": 1, "k": 2 }), 2))
    );
    Ok(())
}

async fn delta_cannot_cross_a_version(bench: &Bench) -> CaseResult {
    for record in [doc::latest(10, 1, "d"), doc::rewindable(10, 1, "d")] {
        bench.start_over().await?;
        bench.with_document(record, 2, json!({})).await?;
        for version in [1, 3] {
            bench
                .refuse(&[doc::delta(10, version, vec![doc::set("n", 1)])])
                .await?;
        }
        bench.commit(&[doc::delta(10, 2, vec![doc::set("n", 1)])]).await?;
        bench.commit(&[doc::base(10, 3, json!({}))]).await?;
        bench.refuse(&[doc::delta(10, 2, vec![doc::set("n", 1)])]).await?;
        bench.reopen().await?;
        bench.refuse(&[doc::delta(10, 2, vec![doc::set("n", 1)])]).await?;
    }
    Ok(())
}

async fn base_may_change_the_version(bench: &Bench) -> CaseResult {
    for record in [doc::latest(10, 1, "d"), doc::rewindable(10, 1, "d")] {
        bench.start_over().await?;
        bench.with_document(record, 1, json!({ "v": 1 })).await?;
        bench.commit(&[doc::delta(10, 1, vec![doc::set("n", 1)])]).await?;
        bench.commit(&[doc::base(10, 4, json!({ "v": 4 }))]).await?;
        bench.commit(&[doc::delta(10, 4, vec![doc::set("n", 2)])]).await?;
        bench.reopen().await?;
        let stored = bench.document(10, Point::Current).await?;
        let wanted = Some((4, json!({ "v": 4, "n": 2 }), 1));
        same!(
            stored.map(|stored| (stored.version, stored.value, stored.deltas_since_base)),
            wanted
        );
    }
    Ok(())
}

async fn two_content_commands_are_refused(bench: &Bench) -> CaseResult {
    bench.with_document(doc::latest(10, 1, "d"), 1, json!({})).await?;
    let delta = || doc::delta(10, 1, vec![doc::set("n", 1)]);
    bench.refuse(&[delta(), delta()]).await?;
    bench.refuse(&[doc::base(10, 1, json!({})), delta()]).await?;
    same!(bench.value(10, Point::Current).await?, json!({}));
    Ok(())
}

async fn create_and_change_is_refused(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let create = || doc::create(doc::latest(10, 1, "d"), 1, json!({}));
    bench
        .refuse(&[create(), doc::delta(10, 1, vec![doc::set("n", 1)])])
        .await?;
    bench.refuse(&[doc::base(10, 1, json!({})), create()]).await?;
    bench.refuse(&[create(), create()]).await
}

async fn change_and_retire(bench: &Bench) -> CaseResult {
    for record in [doc::latest(10, 1, "d"), doc::rewindable(10, 1, "d")] {
        bench.start_over().await?;
        bench.with_document(record, 1, json!({})).await?;
        // The change is checked like any other.
        bench
            .refuse(&[doc::delta(10, 9, vec![]), doc::retire(10)])
            .await?;
        bench
            .commit(&[doc::base(10, 2, json!({ "n": 1 })), doc::retire(10)])
            .await?;
        same!(bench.document(10, Point::Current).await?, None);
    }
    Ok(())
}

async fn inapplicable_delta_is_corruption(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "n": 1 }))
        .await?;
    bench
        .commit(&[doc::delta(10, 1, vec![doc::append("n", "text")])])
        .await?;
    let found = bench
        .storage()
        .document(tidehold_session::ids::DocumentId(10), Point::Current)
        .await;
    fails!(found, StorageError::Corrupt(_));
    Ok(())
}

async fn numeric_read_of_current_only_is_a_request_error(bench: &Bench) -> CaseResult {
    for record in [
        doc::latest(10, 1, "d"),
        doc::session(10, "d"),
        doc::of_task(10, 3, "d"),
    ] {
        bench.start_over().await?;
        let created = bench.with_document(record, 1, json!({})).await?;
        let id = tidehold_session::ids::DocumentId(10);
        let answer = bench.storage().document(id, Point::At(created)).await;
        let explained = matches!(&answer, Err(StorageError::Request(reason))
            if reason.contains("does not retain historical content"));
        holds!(explained, "{answer:?}");
        bench.commit(&[doc::retire(10)]).await?;
        fails!(
            bench.storage().document(id, Point::At(created)).await,
            StorageError::Request(_)
        );
    }
    Ok(())
}

async fn long_chain_across_reopen(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "text": "" }))
        .await?;
    let mut wanted = String::new();
    for n in 0..200 {
        let piece = format!("{n} é😀;");
        bench
            .commit(&[doc::delta(10, 1, vec![doc::append("text", &piece)])])
            .await?;
        wanted.push_str(&piece);
        if n % 50 == 49 {
            bench.reopen().await?;
            same!(
                bench.value(10, Point::Current).await?,
                json!({ "text": wanted.clone() })
            );
        }
    }
    same!(
        bench
            .document(10, Point::Current)
            .await?
            .map(|stored| stored.deltas_since_base),
        Some(200)
    );
    Ok(())
}

async fn packs_fill_and_are_reclaimed(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "text": "" }))
        .await?;
    let piece = "0123456789é".repeat(1000);
    for round in 0..2 {
        for n in 1..=20 {
            bench
                .commit(&[doc::delta(10, 1, vec![doc::append("text", &piece)])])
                .await?;
            same!(
                bench.value(10, Point::Current).await?,
                json!({ "text": piece.repeat(n) })
            );
        }
        bench.reopen().await?;
        same!(
            bench.value(10, Point::Current).await?,
            json!({ "text": piece.repeat(20) })
        );
        bench.commit(&[doc::base(10, 1, json!({ "text": "" }))]).await?;
        let stored = bench.document(10, Point::Current).await?;
        same!(
            stored.map(|stored| (stored.value, stored.deltas_since_base, round)),
            Some((json!({ "text": "" }), 0, round))
        );
    }
    Ok(())
}

async fn documents_do_not_share_content(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let create = |id: u64| {
        doc::create(
            doc::keyed(doc::latest(id, 1, "d"), &id.to_string()),
            1,
            json!({ "id": id }),
        )
    };
    bench.commit(&[create(10), create(11)]).await?;
    let change = |id| doc::delta(id, 1, vec![doc::set("changed", id)]);
    bench.commit(&[change(10), change(11)]).await?;
    bench
        .commit(&[change(11), doc::base(10, 1, json!({ "base": true }))])
        .await?;
    same!(bench.value(10, Point::Current).await?, json!({ "base": true }));
    same!(
        bench.value(11, Point::Current).await?,
        json!({ "id": 11, "changed": 11 })
    );
    Ok(())
}

async fn recreated_starts_clean(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "text": "" }))
        .await?;
    bench
        .commit(&[doc::delta(10, 1, vec![doc::append("text", "old")])])
        .await?;
    bench
        .commit(&[
            doc::retire(10),
            doc::create(doc::latest(11, 1, "d"), 1, json!({ "text": "" })),
        ])
        .await?;
    bench
        .commit(&[doc::delta(11, 1, vec![doc::append("text", "new")])])
        .await?;
    bench.reopen().await?;
    same!(bench.value(11, Point::Current).await?, json!({ "text": "new" }));
    Ok(())
}

async fn unknown_document_is_absent(bench: &Bench) -> CaseResult {
    let seq = bench.commit(&[conv(1), entry(10, 1)]).await?;
    for id in [2, 10, 1 << 53, u64::MAX] {
        same!(bench.document(id, Point::Current).await?, None);
        same!(bench.document(id, Point::At(seq)).await?, None);
    }
    Ok(())
}
