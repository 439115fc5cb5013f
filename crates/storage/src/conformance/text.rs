//! Text of every sort in every text field, and numbers that must not change.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{Point, Scope};
use tidehold_session::ids::{ConversationId, EntryId, SubmissionId, TaskId};
use tidehold_session::records::{EntryRecord, TaskRecord};
use tidehold_session::storage::{DocumentQuery, StorageWrite, TaskQuery, TaskStatus};

cases!["text": kinds_of_entries, kinds_of_tasks, request_ids, kinds_and_keys_of_documents, names_that_differ_slightly,
    values_and_member_names, operations, numbers_stay_exact, deep_values, member_order_is_kept];

/// Emoji, combining and right-to-left text, every C0 control and DEL, quotes, SQL, separators, non-characters.
fn samples() -> Vec<String> {
    let mut samples: Vec<String> = [
        "",
        " ",
        "😀👨\u{200d}👩\u{200d}👧\u{200d}👦🇩🇪",
        "e\u{301}\u{327} é",
        "مرحبا \u{202e}reversed",
        "'; DROP TABLE entries; --",
        "\"' OR 1=1 /*",
        "?1 :a @b $c %_ \\ \\u0000 \\n",
        "NULL",
        "null",
        "0",
        "\u{2028}\u{2029}\u{85}\u{feff}\u{fffd}\u{ffff}\u{10ffff}",
        "line\nbreak\r\nand tab\t",
        "b 1 1 {}\nd 2 1 []",
        "__proto__",
        "\u{7f}\u{80}\u{9f}",
    ]
    .map(String::from)
    .into();
    samples.push((0u8..32).map(char::from).collect());
    samples.extend((0u8..32).map(|control| format!("a{}b", char::from(control))));
    samples.push("long ".repeat(2000));
    samples
}

async fn kinds_of_entries(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let records: Vec<EntryRecord> = (10..)
        .zip(samples())
        .map(|(id, text)| EntryRecord {
            kind: text.as_str().into(),
            data: Some(text.into()),
            ..entry_record(id, 1)
        })
        .collect();
    let writes: Vec<StorageWrite> = records
        .iter()
        .map(|record| StorageWrite::Entry(std::rc::Rc::new(record.clone())))
        .collect();
    bench.commit(&writes).await?;
    bench.reopen().await?;
    for record in records {
        same!(
            bench.storage().entry(record.id).await?.map(|stored| stored.entry),
            Some(record)
        );
    }
    Ok(())
}

async fn kinds_of_tasks(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let mut id = 10;
    for text in samples() {
        for state in [pending(), terminal()] {
            let live = id % 2 == 0;
            let memos = [(text.as_str(), json!(1))].into_iter().collect();
            let record = TaskRecord {
                memos,
                ..task(id, 1, &text, state)
            };
            bench.commit(&[put_task(record.clone())]).await?;
            let status = if live {
                TaskStatus::Pending
            } else {
                TaskStatus::Terminal
            };
            let query = TaskQuery {
                kind: Some(text.as_str().into()),
                status: Some(status),
                ..TaskQuery::default()
            };
            same!(
                bench.storage().scan_tasks(&query, 5, None).await?.items,
                vec![record.clone()]
            );
            same!(bench.storage().task(TaskId(id)).await?, Some(record));
            id += 1;
        }
    }
    Ok(())
}

async fn request_ids(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for (id, text) in (10..).zip(samples()) {
        let record = submission(id, 1, Some(&text), queued());
        bench.commit(&[put_submission(record)]).await?;
    }
    bench.reopen().await?;
    for (id, text) in (10..).zip(samples()) {
        let found = bench
            .storage()
            .submission_by_request(ConversationId(1), &text)
            .await?;
        same!(
            found.map(|record| (record.id, record.request_id)),
            Some((SubmissionId(id), Some(text.as_str().into())))
        );
    }
    Ok(())
}

async fn kinds_and_keys_of_documents(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let mut id = 10;
    let mut records = Vec::new();
    for text in samples() {
        for record in [
            doc::session(id, &text),
            doc::keyed(doc::session(id + 1, &text), &text),
        ] {
            let seq = bench
                .commit(&[doc::create(record.clone(), 1, json!({ "text": &text }))])
                .await?;
            records.push((record, seq));
        }
        id += 2;
    }
    bench.reopen().await?;
    for (record, seq) in records {
        let found = bench
            .storage()
            .find_document(&doc::address(&record), Point::Current)
            .await?;
        same!(found, Some(record.clone().stamped(seq)));
        let query = DocumentQuery {
            scope: Scope::Session,
            at: Point::Current,
            kind: Some(record.kind.clone()),
        };
        same!(
            bench.storage().scan_documents(&query, 5, None).await?.items.len(),
            2
        );
        same!(
            bench.value(record.id.0, Point::Current).await?,
            json!({ "text": record.kind.clone() })
        );
    }
    Ok(())
}

/// No folding, trimming or normalization: each is another name.
const ALIKE: [&str; 10] = [
    "a", "A", "a ", " a", "\u{e4}", "a\u{308}", "a\0", "\0a", "a\u{0}b", "1",
];

async fn names_that_differ_slightly(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for (id, name) in (10..).zip(ALIKE) {
        bench
            .commit(&[put_submission(submission(id, 1, Some(name), queued()))])
            .await?;
        bench
            .commit(&[doc::create(
                doc::keyed(doc::session(id + 100, "k"), name),
                1,
                json!({}),
            )])
            .await?;
    }
    for (id, name) in (10..).zip(ALIKE) {
        let found = bench
            .storage()
            .submission_by_request(ConversationId(1), name)
            .await?;
        same!(found.map(|record| record.id.0), Some(id));
        let address = doc::address(&doc::keyed(doc::session(0, "k"), name));
        let found = bench.storage().find_document(&address, Point::Current).await?;
        same!(found.map(|record| record.id.0), Some(id + 100));
    }
    Ok(())
}

async fn values_and_member_names(bench: &Bench) -> CaseResult {
    let members = samples().into_iter().map(|text| (text.clone(), Json::from(text)));
    let value = Json::object(members);
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value.clone())
        .await?;
    bench.commit(&[entry_with(11, 1, value.clone())]).await?;
    bench.reopen().await?;
    same!(bench.value(10, Point::Current).await?, value);
    same!(
        bench
            .storage()
            .entry(EntryId(11))
            .await?
            .and_then(|stored| stored.entry.data),
        Some(value)
    );
    Ok(())
}

async fn operations(bench: &Bench) -> CaseResult {
    bench
        .with_document(doc::latest(10, 1, "d"), 1, json!({ "t": "" }))
        .await?;
    let mut text = String::new();
    for sample in samples() {
        bench
            .commit(&[doc::delta(10, 1, vec![doc::append("t", &sample)])])
            .await?;
        text.push_str(&sample);
    }
    bench.reopen().await?;
    same!(bench.value(10, Point::Current).await?, json!({ "t": text }));
    Ok(())
}

async fn numbers_stay_exact(bench: &Bench) -> CaseResult {
    let numbers = [
        0.0,
        1.0,
        -1.0,
        0.1,
        1.5,
        1e21,
        1e-7,
        5e-324,
        1.7976931348623157e308,
        123456789.12345679,
        9007199254740991.0,
        -9007199254740991.0,
        9007199254740993.0,
        0.30000000000000004,
        2.2250738585072014e-308,
    ];
    let value = Json::object([("n", Json::array(numbers.map(Json::Number)))]);
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value.clone())
        .await?;
    bench.commit(&[entry_with(11, 1, value.clone())]).await?;
    bench.reopen().await?;
    for found in [
        bench.value(10, Point::Current).await?,
        bench
            .storage()
            .entry(EntryId(11))
            .await?
            .and_then(|stored| stored.entry.data)
            .unwrap_or_default(),
    ] {
        let items = found.get("n").and_then(Json::as_array);
        for (position, number) in numbers.into_iter().enumerate() {
            let bits = items
                .and_then(|items| items.get(position)?.as_f64())
                .map(f64::to_bits);
            same!(bits, Some(number.to_bits()));
        }
    }
    Ok(())
}

async fn deep_values(bench: &Bench) -> CaseResult {
    let mut value = json!(1);
    for level in 0..128 {
        value = if level % 2 == 0 {
            json!([value])
        } else {
            json!({ "a": value })
        };
    }
    let value = json!({ "deep": value });
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value.clone())
        .await?;
    bench
        .commit(&[doc::delta(10, 1, vec![doc::set("again", value.clone())])])
        .await?;
    bench.commit(&[entry_with(11, 1, value.clone())]).await?;
    bench.reopen().await?;
    same!(bench.value(10, Point::Current).await?.get("again"), Some(&value));
    same!(
        bench
            .storage()
            .entry(EntryId(11))
            .await?
            .and_then(|stored| stored.entry.data),
        Some(value)
    );
    Ok(())
}

async fn member_order_is_kept(bench: &Bench) -> CaseResult {
    let value = json!({ "z": 1, "a": 2, "m": { "y": 1, "b": 2 } });
    bench
        .with_document(doc::latest(10, 1, "d"), 1, value.clone())
        .await?;
    bench.commit(&[entry_with(11, 1, value.clone())]).await?;
    bench.reopen().await?;
    same!(
        bench.value(10, Point::Current).await?.to_string(),
        value.to_string()
    );
    let stored = bench
        .storage()
        .entry(EntryId(11))
        .await?
        .and_then(|stored| stored.entry.data);
    same!(stored.map(|data| data.to_string()), Some(value.to_string()));
    Ok(())
}
