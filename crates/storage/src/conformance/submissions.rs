//! Submissions: queries, and request ids as names within a conversation.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::ids::{ConversationId, EntryId, SubmissionId};
use tidehold_session::records::*;
use tidehold_session::storage::{ScanOrder, SubmissionQuery, SubmissionStatus};

cases!["submissions": all_in_both_orders, by_conversation, by_each_status, live_only, conjunctions,
    found_by_request, request_is_per_conversation, request_is_unique, request_is_unique_in_a_batch,
    no_request_never_collides, settled_is_found_by_request, settling_leaves_the_live_scan,
    every_state_round_trips, survives_reopen];

/// Six submissions of two conversations in all states.
async fn six(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), conv(2)]).await?;
    let write_done = SubmissionState::Write(WriteStatus::Done { entry: EntryId(30) });
    let records = [
        submission(10, 1, Some("a"), queued()),
        submission(11, 2, Some("a"), placed(30)),
        submission(12, 1, None, done(30, 31)),
        submission(13, 1, Some("b"), unanswered("aborted")),
        submission(14, 2, None, SubmissionState::Write(WriteStatus::Queued)),
        submission(15, 1, Some("c"), write_done),
    ];
    bench.commit(&records.map(put_submission)).await?;
    Ok(())
}

async fn found(bench: &Bench, query: SubmissionQuery) -> CaseResult<Vec<u64>> {
    let ascending = pages(bench, query.clone()).await?;
    let mut descending = pages(
        bench,
        SubmissionQuery {
            order: Some(ScanOrder::Descending),
            ..query
        },
    )
    .await?;
    descending.reverse();
    same!(ascending, descending);
    Ok(ascending)
}

async fn pages(bench: &Bench, query: SubmissionQuery) -> CaseResult<Vec<u64>> {
    let storage = bench.storage();
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = storage.scan_submissions(&query, 2, cursor.as_ref()).await?;
        ids.extend(page.items.iter().map(|record| record.id.0));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(ids),
        }
    }
}

fn all() -> SubmissionQuery {
    SubmissionQuery::default()
}

async fn by_request(bench: &Bench, conversation: u64, request: &str) -> CaseResult<Option<u64>> {
    let storage = bench.storage();
    let record = storage
        .submission_by_request(ConversationId(conversation), request)
        .await?;
    Ok(record.map(|record| record.id.0))
}

async fn all_in_both_orders(bench: &Bench) -> CaseResult {
    six(bench).await?;
    same!(found(bench, all()).await?, (10..16).collect::<Vec<_>>());
    Ok(())
}

async fn by_conversation(bench: &Bench) -> CaseResult {
    six(bench).await?;
    let of = |id| SubmissionQuery {
        conversation_id: Some(ConversationId(id)),
        ..all()
    };
    same!(found(bench, of(1)).await?, vec![10, 12, 13, 15]);
    same!(found(bench, of(2)).await?, vec![11, 14]);
    same!(found(bench, of(9)).await?, Vec::new());
    Ok(())
}

async fn by_each_status(bench: &Bench) -> CaseResult {
    six(bench).await?;
    let wanted = [
        (SubmissionStatus::Queued, vec![10, 14]),
        (SubmissionStatus::Placed, vec![11]),
        (SubmissionStatus::Done, vec![12, 15]),
        (SubmissionStatus::Unanswered, vec![13]),
    ];
    for (status, ids) in wanted {
        same!(
            found(
                bench,
                SubmissionQuery {
                    status: Some(status),
                    ..all()
                }
            )
            .await?,
            ids
        );
    }
    Ok(())
}

async fn live_only(bench: &Bench) -> CaseResult {
    six(bench).await?;
    same!(
        found(bench, SubmissionQuery { live: true, ..all() }).await?,
        vec![10, 11, 14]
    );
    Ok(())
}

async fn conjunctions(bench: &Bench) -> CaseResult {
    six(bench).await?;
    let query = SubmissionQuery {
        conversation_id: Some(ConversationId(1)),
        ..all()
    };
    same!(
        found(
            bench,
            SubmissionQuery {
                live: true,
                ..query.clone()
            }
        )
        .await?,
        vec![10]
    );
    let done = SubmissionQuery {
        status: Some(SubmissionStatus::Done),
        ..query
    };
    same!(found(bench, done.clone()).await?, vec![12, 15]);
    same!(
        found(bench, SubmissionQuery { live: true, ..done }).await?,
        Vec::new()
    );
    Ok(())
}

async fn found_by_request(bench: &Bench) -> CaseResult {
    six(bench).await?;
    same!(by_request(bench, 1, "a").await?, Some(10));
    same!(by_request(bench, 1, "c").await?, Some(15));
    same!(by_request(bench, 1, "A").await?, None);
    same!(by_request(bench, 1, "").await?, None);
    Ok(())
}

async fn request_is_per_conversation(bench: &Bench) -> CaseResult {
    six(bench).await?;
    same!(by_request(bench, 2, "a").await?, Some(11));
    same!(by_request(bench, 2, "b").await?, None);
    Ok(())
}

async fn request_is_unique(bench: &Bench) -> CaseResult {
    six(bench).await?;
    bench
        .refuse(&[put_submission(submission(20, 1, Some("a"), queued()))])
        .await?;
    bench.reopen().await?;
    bench
        .refuse(&[put_submission(submission(20, 1, Some("b"), queued()))])
        .await?;
    same!(by_request(bench, 1, "a").await?, Some(10));
    Ok(())
}

async fn request_is_unique_in_a_batch(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let twice = |id| put_submission(submission(id, 1, Some("x"), queued()));
    bench.refuse(&[twice(10), twice(11)]).await?;
    same!(by_request(bench, 1, "x").await?, None);
    Ok(())
}

async fn no_request_never_collides(bench: &Bench) -> CaseResult {
    bench.root().await?;
    bench
        .commit(&[10, 11, 12].map(|id| put_submission(submission(id, 1, None, queued()))))
        .await?;
    same!(found(bench, all()).await?, vec![10, 11, 12]);
    Ok(())
}

async fn settled_is_found_by_request(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for state in [queued(), placed(30), done(30, 31)] {
        bench
            .commit(&[put_submission(submission(10, 1, Some("x"), state))])
            .await?;
        same!(by_request(bench, 1, "x").await?, Some(10));
    }
    bench.reopen().await?;
    same!(by_request(bench, 1, "x").await?, Some(10));
    Ok(())
}

async fn settling_leaves_the_live_scan(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let live = || SubmissionQuery { live: true, ..all() };
    for (state, wanted) in [
        (queued(), vec![10]),
        (placed(3), vec![10]),
        (done(3, 4), vec![]),
        (queued(), vec![10]),
    ] {
        bench
            .commit(&[put_submission(submission(10, 1, None, state))])
            .await?;
        same!(found(bench, live()).await?, wanted);
    }
    Ok(())
}

async fn every_state_round_trips(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let detail = || Some(json!({ "task": 4, "code": null }));
    let states = [
        queued(),
        placed(30),
        done(30, 31),
        unanswered("r"),
        SubmissionState::Input(InputStatus::Unanswered {
            entry: Some(EntryId(30)),
            reason: "r".into(),
            detail: detail(),
        }),
        SubmissionState::Write(WriteStatus::Queued),
        SubmissionState::Write(WriteStatus::Done { entry: EntryId(30) }),
        SubmissionState::Write(WriteStatus::Unanswered {
            reason: "stale".into(),
            detail: detail(),
        }),
    ];
    for (id, state) in (10..).zip(states) {
        let record = SubmissionRecord {
            content_hash: Some("sha".into()),
            ..submission(id, 1, Some(&format!("r{id}")), state)
        };
        bench.commit(&[put_submission(record.clone())]).await?;
        same!(bench.storage().submission(SubmissionId(id)).await?, Some(record));
    }
    Ok(())
}

async fn survives_reopen(bench: &Bench) -> CaseResult {
    six(bench).await?;
    bench.reopen().await?;
    same!(
        found(bench, SubmissionQuery { live: true, ..all() }).await?,
        vec![10, 11, 14]
    );
    same!(by_request(bench, 1, "b").await?, Some(13));
    Ok(())
}
