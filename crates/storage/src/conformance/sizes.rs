//! Values of every size: the borders of a chunk, characters across them, megabytes.

use super::build::*;
use super::{Bench, CaseResult};
use crate::limits::{CHUNK_BYTES, PACK_BYTES};
use tidehold_delta::{Json, json};
use tidehold_session::documents::Point;
use tidehold_session::ids::{EntryId, SubmissionId, TaskId};
use tidehold_session::records::{
    EntryRecord, InputStatus, SubmissionRecord, SubmissionState, TaskOutcome, TaskState,
};

cases!["sizes": entries_around_a_chunk, characters_across_a_border, entry_of_five_megabytes,
    task_grows_and_shrinks, submission_grows_and_shrinks, base_around_a_chunk, base_grows_and_shrinks,
    delta_around_a_chunk, rewindable_large_revisions, long_values_are_reclaimed, copy_of_five_megabytes,
    large_scan_page, deltas_around_a_pack, refused_batch_leaves_old_chunks];

const FIVE_MB: usize = 5_000_000;

/// A record of exactly `size` bytes of JSON.
fn sized(id: u64, size: usize) -> EntryRecord {
    let of = |data: String| EntryRecord {
        data: Some(data.into()),
        ..entry_record(id, 1)
    };
    let frame = Json::from_serialize(&of(String::new())).map_or(0, |json| json.encoded_len());
    of("x".repeat(size.saturating_sub(frame)))
}

fn put(record: &EntryRecord) -> tidehold_session::storage::StorageWrite {
    tidehold_session::storage::StorageWrite::Entry(std::rc::Rc::new(record.clone()))
}

async fn check_entry(bench: &Bench, record: &EntryRecord) -> CaseResult {
    let found = bench.storage().entry(record.id).await?.map(|stored| stored.entry);
    holds!(found.as_ref() == Some(record), "entry {} differs", record.id);
    Ok(())
}

async fn entries_around_a_chunk(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let sizes = [
        CHUNK_BYTES - 1,
        CHUNK_BYTES,
        CHUNK_BYTES + 1,
        2 * CHUNK_BYTES,
        2 * CHUNK_BYTES + 1,
    ];
    let records: Vec<EntryRecord> = (10..).zip(sizes).map(|(id, size)| sized(id, size)).collect();
    for (record, size) in records.iter().zip(sizes) {
        same!(
            Json::from_serialize(record).map_or(0, |json| json.encoded_len()),
            size
        );
        bench.commit(&[put(record)]).await?;
    }
    bench.reopen().await?;
    for record in &records {
        check_entry(bench, record).await?;
    }
    check_entry_of(bench, 9, String::new()).await
}

/// Stores and reads back an entry whose data is `text`.
async fn check_entry_of(bench: &Bench, id: u64, text: String) -> CaseResult {
    let record = EntryRecord {
        data: Some(text.into()),
        ..entry_record(id, 1)
    };
    bench.commit(&[put(&record)]).await?;
    bench.reopen().await?;
    check_entry(bench, &record).await
}

async fn characters_across_a_border(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let mut id = 10;
    for piece in ["é", "ह", "😀", "e\u{301}👨\u{200d}👩"] {
        // Each shift puts another byte of a character on the border.
        for shift in 0..4 {
            let text = "a".repeat(shift) + &piece.repeat(CHUNK_BYTES * 2 / piece.len() + 2);
            check_entry_of(bench, id, text).await?;
            id += 1;
        }
    }
    Ok(())
}

async fn entry_of_five_megabytes(bench: &Bench) -> CaseResult {
    bench.root().await?;
    check_entry_of(bench, 10, "0123456789".repeat(FIVE_MB / 10)).await
}

async fn task_grows_and_shrinks(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for size in [10, FIVE_MB, CHUNK_BYTES + 50, 3 * CHUNK_BYTES, 0] {
        let checkpoint = json!({ "text": "y".repeat(size) });
        let record = task(10, 1, "t", TaskState::Running { checkpoint });
        bench.commit(&[put_task(record.clone())]).await?;
        bench.reopen().await?;
        holds!(
            bench.storage().task(TaskId(10)).await? == Some(record),
            "task of {size} bytes differs"
        );
    }
    let outcome = TaskOutcome::Completed {
        result: "z".repeat(FIVE_MB).into(),
    };
    let record = task(10, 1, "t", TaskState::Terminal { outcome });
    bench.commit(&[put_task(record.clone())]).await?;
    holds!(
        bench.storage().task(TaskId(10)).await? == Some(record),
        "terminal task differs"
    );
    Ok(())
}

async fn submission_grows_and_shrinks(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for size in [10, 2 * CHUNK_BYTES, 0, CHUNK_BYTES] {
        let state = SubmissionState::Input(InputStatus::Unanswered {
            entry: None,
            reason: "r".into(),
            detail: Some("é".repeat(size).into()),
        });
        let record: SubmissionRecord = submission(10, 1, Some("r"), state);
        bench.commit(&[put_submission(record.clone())]).await?;
        bench.reopen().await?;
        let found = bench.storage().submission(SubmissionId(10)).await?;
        holds!(found == Some(record), "submission of {size} differs");
    }
    Ok(())
}

/// An object of exactly `size` bytes of JSON.
fn value_of(size: usize) -> Json {
    json!({ "t": "v".repeat(size.saturating_sub(8)) })
}

async fn check_value(bench: &Bench, id: u64, at: Point, wanted: &Json) -> CaseResult {
    holds!(
        bench.value(id, at).await? == *wanted,
        "value of {} bytes differs",
        wanted.encoded_len()
    );
    Ok(())
}

async fn base_around_a_chunk(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let sizes = [CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, FIVE_MB];
    for (id, size) in (10..).zip(sizes) {
        let value = value_of(size);
        same!(value.encoded_len(), size);
        let record = doc::keyed(doc::latest(id, 1, "d"), &size.to_string());
        bench.commit(&[doc::create(record, 1, value.clone())]).await?;
        bench.reopen().await?;
        check_value(bench, id, Point::Current, &value).await?;
    }
    Ok(())
}

async fn base_grows_and_shrinks(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value_of(FIVE_MB))
        .await?;
    for size in [100, 3 * CHUNK_BYTES, CHUNK_BYTES + 1, FIVE_MB, 8] {
        bench
            .commit(&[doc::delta(10, 1, vec![doc::set("big", "w".repeat(size))])])
            .await?;
        let value = value_of(size);
        bench.commit(&[doc::base(10, 1, value.clone())]).await?;
        bench.reopen().await?;
        check_value(bench, 10, Point::Current, &value).await?;
    }
    Ok(())
}

async fn delta_around_a_chunk(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "t": "" }))
        .await?;
    let mut text = String::new();
    for size in [CHUNK_BYTES - 20, 1, CHUNK_BYTES, 1, 2 * CHUNK_BYTES, 30_000] {
        let piece = "é😀".repeat(size / 6 + 1);
        bench
            .commit(&[doc::delta(10, 1, vec![doc::append("t", &piece)])])
            .await?;
        text.push_str(&piece);
        check_value(bench, 10, Point::Current, &json!({ "t": text.clone() })).await?;
    }
    bench.reopen().await?;
    check_value(bench, 10, Point::Current, &json!({ "t": text })).await
}

async fn rewindable_large_revisions(bench: &Bench) -> CaseResult {
    let mut points = vec![(
        bench
            .with_document(doc::rewindable(10, 1, "d"), 1, value_of(2_500_000))
            .await?,
        value_of(2_500_000),
    )];
    for size in [10, 1_500_000, 2_200_000] {
        let write = doc::delta(10, 1, vec![doc::set("t", "v".repeat(size))]);
        points.push((bench.commit(&[write]).await?, value_of(size + 8)));
        points.push((
            bench.commit(&[doc::base(10, 1, value_of(size * 2))]).await?,
            value_of(size * 2),
        ));
    }
    bench.reopen().await?;
    for (seq, value) in points {
        check_value(bench, 10, Point::At(seq), &value).await?;
    }
    Ok(())
}

async fn long_values_are_reclaimed(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value_of(3_000_000))
        .await?;
    bench
        .commit(&[doc::delta(10, 1, vec![doc::set("u", "u".repeat(2_000_000))])])
        .await?;
    bench
        .commit(&[
            doc::retire(10),
            doc::create(doc::latest(11, 1, "d"), 1, value_of(50)),
        ])
        .await?;
    same!(bench.document(10, Point::Current).await?, None);
    check_value(bench, 11, Point::Current, &value_of(50)).await
}

async fn copy_of_five_megabytes(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value_of(FIVE_MB))
        .await?;
    bench.commit(&[entry(11, 1), fork(20, 1, 11)]).await?;
    bench
        .commit(&[doc::copy(doc::latest(21, 20, "d"), 10, Point::Current)])
        .await?;
    bench.commit(&[doc::retire(10)]).await?;
    check_value(bench, 21, Point::Current, &value_of(FIVE_MB)).await
}

async fn large_scan_page(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let records: Vec<EntryRecord> = (10..16).map(|id| sized(id, CHUNK_BYTES + id as usize)).collect();
    for record in &records {
        bench.commit(&[put(record)]).await?;
    }
    let page = bench
        .storage()
        .scan_entries(&entries_of(1, None), 4, None)
        .await?;
    holds!(
        page.items.iter().eq(records.iter().rev().take(4)),
        "the page differs"
    );
    Ok(())
}

async fn deltas_around_a_pack(bench: &Bench) -> CaseResult {
    for size in [
        PACK_BYTES - 60,
        PACK_BYTES - 40,
        PACK_BYTES - 30,
        PACK_BYTES,
        PACK_BYTES + 1,
    ] {
        bench.start_over().await?;
        bench
            .with_document(doc::latest(10, 1, "d"), 1, json!({ "t": "" }))
            .await?;
        let mut text = String::new();
        for piece in [
            "p".repeat(size),
            "q".into(),
            "r".repeat(size / 2),
            "s".repeat(size / 2),
            "é".into(),
        ] {
            bench
                .commit(&[doc::delta(10, 1, vec![doc::append("t", &piece)])])
                .await?;
            text.push_str(&piece);
            check_value(bench, 10, Point::Current, &json!({ "t": text.clone() })).await?;
        }
    }
    Ok(())
}

async fn refused_batch_leaves_old_chunks(bench: &Bench) -> CaseResult {
    let old = task(
        11,
        1,
        "t",
        TaskState::Running {
            checkpoint: "old".repeat(1_000_000).into(),
        },
    );
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value_of(3_000_000))
        .await?;
    bench.commit(&[put_task(old.clone())]).await?;
    let new = task(
        11,
        1,
        "t",
        TaskState::Running {
            checkpoint: "n".repeat(1_500_000).into(),
        },
    );
    bench
        .refuse(&[
            put_task(new),
            doc::base(10, 1, value_of(1_500_000)),
            doc::retire(999),
        ])
        .await?;
    bench.reopen().await?;
    check_value(bench, 10, Point::Current, &value_of(3_000_000)).await?;
    holds!(
        bench.storage().task(TaskId(11)).await? == Some(old),
        "the task differs"
    );
    same!(bench.storage().entry(EntryId(11)).await?, None);
    Ok(())
}
