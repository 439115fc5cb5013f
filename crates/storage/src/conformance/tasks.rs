//! Task queries: each filter, both orders, conjunctions.

use super::build::*;
use super::{Bench, CaseResult};
use tidehold_delta::json;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::*;
use tidehold_session::storage::{ScanOrder, TaskQuery, TaskStatus};

cases!["tasks": all_in_both_orders, by_conversation, by_kind, by_each_status, live_only, live_and_terminal_is_empty,
    by_abort_mark, by_background, conjunctions, pages_across_live_and_ended, revived_task_is_live_again,
    every_member_round_trips, every_outcome_round_trips, survives_reopen];

/// Eight tasks of two conversations, three kinds and all statuses.
async fn eight(bench: &Bench) -> CaseResult {
    bench.commit(&[conv(1), conv(2)]).await?;
    let with = |abort_requested, background, record| TaskRecord {
        abort_requested,
        background,
        ..record
    };
    let records = [
        with(false, false, task(10, 1, "a", pending())),
        with(false, true, task(11, 1, "b", running())),
        with(true, false, task(12, 2, "a", waiting(&[10]))),
        with(true, true, task(13, 2, "c", completing())),
        with(false, false, task(14, 1, "a", terminal())),
        with(true, false, task(15, 2, "b", terminal())),
        with(false, true, task(16, 2, "a", terminal())),
        with(false, false, task(17, 1, "a", running())),
    ];
    bench.commit(&records.map(put_task)).await?;
    Ok(())
}

async fn found(bench: &Bench, query: TaskQuery) -> CaseResult<Vec<u64>> {
    let ascending = pages(bench, query.clone()).await?;
    let mut descending = pages(
        bench,
        TaskQuery {
            order: Some(ScanOrder::Descending),
            ..query
        },
    )
    .await?;
    descending.reverse();
    same!(ascending, descending);
    Ok(ascending)
}

async fn pages(bench: &Bench, query: TaskQuery) -> CaseResult<Vec<u64>> {
    let storage = bench.storage();
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = storage.scan_tasks(&query, 2, cursor.as_ref()).await?;
        holds!(page.items.len() <= 2, "{} items on a page of 2", page.items.len());
        ids.extend(page.items.iter().map(|task| task.id.0));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(ids),
        }
    }
}

fn all() -> TaskQuery {
    TaskQuery::default()
}

async fn all_in_both_orders(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    same!(found(bench, all()).await?, (10..18).collect::<Vec<_>>());
    Ok(())
}

async fn by_conversation(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    let of = |id| TaskQuery {
        conversation_id: Some(ConversationId(id)),
        ..all()
    };
    same!(found(bench, of(1)).await?, vec![10, 11, 14, 17]);
    same!(found(bench, of(2)).await?, vec![12, 13, 15, 16]);
    same!(found(bench, of(3)).await?, Vec::new());
    Ok(())
}

async fn by_kind(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    let of = |kind: &str| TaskQuery {
        kind: Some(kind.into()),
        ..all()
    };
    same!(found(bench, of("a")).await?, vec![10, 12, 14, 16, 17]);
    same!(found(bench, of("b")).await?, vec![11, 15]);
    same!(found(bench, of("A")).await?, Vec::new());
    Ok(())
}

async fn by_each_status(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    let wanted = [
        (TaskStatus::Pending, vec![10]),
        (TaskStatus::Running, vec![11, 17]),
        (TaskStatus::Waiting, vec![12]),
        (TaskStatus::Completing, vec![13]),
        (TaskStatus::Terminal, vec![14, 15, 16]),
    ];
    for (status, ids) in wanted {
        same!(
            found(
                bench,
                TaskQuery {
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
    eight(bench).await?;
    same!(
        found(bench, TaskQuery { live: true, ..all() }).await?,
        vec![10, 11, 12, 13, 17]
    );
    Ok(())
}

async fn live_and_terminal_is_empty(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    let query = TaskQuery {
        live: true,
        status: Some(TaskStatus::Terminal),
        ..all()
    };
    same!(found(bench, query).await?, Vec::new());
    Ok(())
}

async fn by_abort_mark(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    same!(
        found(
            bench,
            TaskQuery {
                abort_requested: Some(true),
                ..all()
            }
        )
        .await?,
        vec![12, 13, 15]
    );
    same!(
        found(
            bench,
            TaskQuery {
                abort_requested: Some(false),
                ..all()
            }
        )
        .await?,
        vec![10, 11, 14, 16, 17]
    );
    Ok(())
}

async fn by_background(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    same!(
        found(
            bench,
            TaskQuery {
                background: Some(true),
                ..all()
            }
        )
        .await?,
        vec![11, 13, 16]
    );
    same!(
        found(
            bench,
            TaskQuery {
                background: Some(false),
                ..all()
            }
        )
        .await?,
        vec![10, 12, 14, 15, 17]
    );
    Ok(())
}

async fn conjunctions(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    let query = TaskQuery {
        conversation_id: Some(ConversationId(2)),
        kind: Some("a".into()),
        ..all()
    };
    same!(found(bench, query.clone()).await?, vec![12, 16]);
    let ended = TaskQuery {
        status: Some(TaskStatus::Terminal),
        ..query.clone()
    };
    same!(found(bench, ended.clone()).await?, vec![16]);
    same!(
        found(
            bench,
            TaskQuery {
                abort_requested: Some(true),
                ..ended
            }
        )
        .await?,
        Vec::new()
    );
    same!(
        found(
            bench,
            TaskQuery {
                live: true,
                abort_requested: Some(true),
                ..query
            }
        )
        .await?,
        vec![12]
    );
    let ended_of_one = TaskQuery {
        status: Some(TaskStatus::Terminal),
        conversation_id: Some(ConversationId(2)),
        ..all()
    };
    same!(found(bench, ended_of_one.clone()).await?, vec![15, 16]);
    same!(
        found(
            bench,
            TaskQuery {
                background: Some(false),
                ..ended_of_one
            }
        )
        .await?,
        vec![15]
    );
    Ok(())
}

async fn pages_across_live_and_ended(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for id in 10..40 {
        let state = if id % 3 == 0 { pending() } else { terminal() };
        bench.commit(&[put_task(task(id, 1, "a", state))]).await?;
    }
    same!(found(bench, all()).await?, (10..40).collect::<Vec<_>>());
    let of_kind = TaskQuery {
        kind: Some("a".into()),
        ..all()
    };
    same!(found(bench, of_kind).await?, (10..40).collect::<Vec<_>>());
    Ok(())
}

async fn revived_task_is_live_again(bench: &Bench) -> CaseResult {
    bench.root().await?;
    for state in [terminal(), pending(), terminal(), running()] {
        let live = !matches!(state, TaskState::Terminal { .. });
        bench.commit(&[put_task(task(10, 1, "a", state))]).await?;
        let expected = |yes: bool| if yes { vec![10] } else { Vec::new() };
        same!(
            found(bench, TaskQuery { live: true, ..all() }).await?,
            expected(live)
        );
        let ended = TaskQuery {
            status: Some(TaskStatus::Terminal),
            kind: Some("a".into()),
            ..all()
        };
        same!(found(bench, ended).await?, expected(!live));
    }
    Ok(())
}

async fn every_member_round_trips(bench: &Bench) -> CaseResult {
    let record = TaskRecord {
        version: 7,
        input: json!({ "a": [null, 1.5] }),
        owner: Some(TaskId(3)),
        background: true,
        abort_requested: true,
        abort_reason: Some(AbortMarkReason::Restart),
        abandon_on_restart: true,
        started_at: Some(1_700_000_000_123),
        ended_at: Some(1_700_000_000_456),
        memos: [("b", json!(null)), ("__proto__", json!([1]))]
            .into_iter()
            .collect(),
        state: TaskState::Waiting {
            checkpoint: json!({ "phase": "p" }),
            on: vec![TaskId(4), TaskId(5)],
            policy: JoinPolicy::FailFast,
            until: Some(1_700_000_001_000),
        },
        ..task(10, 1, "k", pending())
    };
    bench.commit(&[conv(1), put_task(record.clone())]).await?;
    bench.reopen().await?;
    same!(bench.storage().task(TaskId(10)).await?, Some(record));
    Ok(())
}

async fn every_outcome_round_trips(bench: &Bench) -> CaseResult {
    bench.root().await?;
    let error = || TaskOutcomeError {
        message: "m".into(),
        detail: Some(json!(null)),
    };
    let outcomes = [
        TaskOutcome::Completed { result: json!(null) },
        TaskOutcome::Failed {
            error: error(),
            result: Some(json!(null)),
        },
        TaskOutcome::Failed {
            error: error(),
            result: None,
        },
        TaskOutcome::Aborted {
            reason: Some("r".into()),
            result: None,
        },
        TaskOutcome::Aborted {
            reason: None,
            result: Some(json!({})),
        },
        TaskOutcome::Orphaned { reason: "o".into() },
        TaskOutcome::Faulted {
            error: TaskOutcomeError {
                message: "m".into(),
                detail: None,
            },
        },
    ];
    for outcome in outcomes {
        for state in [
            TaskState::Completing {
                outcome: outcome.clone(),
            },
            TaskState::Terminal {
                outcome: outcome.clone(),
            },
        ] {
            let record = task(10, 1, "k", state);
            bench.commit(&[put_task(record.clone())]).await?;
            same!(bench.storage().task(TaskId(10)).await?, Some(record));
        }
    }
    Ok(())
}

async fn survives_reopen(bench: &Bench) -> CaseResult {
    eight(bench).await?;
    bench.reopen().await?;
    same!(
        found(bench, TaskQuery { live: true, ..all() }).await?,
        vec![10, 11, 12, 13, 17]
    );
    bench.commit(&[put_task(task(10, 1, "a", terminal()))]).await?;
    bench.reopen().await?;
    same!(
        found(bench, TaskQuery { live: true, ..all() }).await?,
        vec![11, 12, 13, 17]
    );
    Ok(())
}
