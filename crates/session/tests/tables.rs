//! Records a transaction creates and replaces (spec 3.3 and 4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::{NOTES, OWN, change, entry, open, open_counted, root, task};
use tidehold_delta::{Json, Op};
use tidehold_session::documents::{ConversationDoc, DocToken, Point};
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID as ROOT, TaskId};
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::records::{
    ConversationOwnership, TaskCreate, TaskOutcome, TaskOwnership, TaskRecord, TaskState,
};
use tidehold_session::storage::{Storage, TaskQuery};
use tidehold_session::{Rejection, Session, SessionError, Tx};

static ABSENT: ConversationDoc = DocToken::of_conversation("test.absent", 1, OWN, Json::empty_object);

#[test]
fn each_record_takes_one_id_and_ids_ascend_in_creation_order() {
    open_counted(async |session, storage| {
        root(&session).await;
        storage.allow_mints(Some(5));
        let ids = change(&session, async |tx| {
            let mut ids = vec![tx.append_entry(ROOT, entry("a")).await?.id.0];
            let made = tx.create_conversation(ConversationOwnership::Ownerless).await?;
            ids.push(made.id.0);
            ids.push(tx.create_task(task(TaskOwnership::Conversation)).await?.0);
            tx.doc(&NOTES, ROOT).await?;
            tx.doc(&NOTES, ROOT).await?;
            ids.push(tx.append_entry(made.id, entry("b")).await?.id.0);
            Ok(ids)
        })
        .await;
        assert!(ids.is_sorted(), "{ids:?}");
        let spent = session
            .commit(async |tx: Tx| tx.append_entry(ROOT, entry("c")).await)
            .await;
        assert!(
            matches!(spent, Err(SessionError::Storage(_))),
            "the sixth mint is one too many"
        );
    });
}

#[test]
fn a_child_task_lives_where_its_owner_does_and_never_in_the_background() {
    open(async |session| {
        root(&session).await;
        let (owner, other) = change(&session, async |tx| {
            let owner = tx.create_task(task(TaskOwnership::Conversation)).await?;
            let other = tx.create_conversation(ConversationOwnership::Ownerless).await?;
            Ok((owner, other.id))
        })
        .await;
        let elsewhere = TaskCreate {
            conversation_id: Some(other),
            ..task(TaskOwnership::Task(owner))
        };
        let background = TaskCreate {
            background: true,
            ..task(TaskOwnership::Task(owner))
        };
        for (create, wanted) in [
            (elsewhere, Rejection::ForeignConversation),
            (background, Rejection::BackgroundChild),
        ] {
            let made = session
                .commit(async move |tx: Tx| tx.create_task(create).await)
                .await;
            let Err(SessionError::Rejected(rejection)) = made else {
                panic!("{made:?}")
            };
            assert_eq!(rejection, wanted);
        }
        let inherited = TaskCreate {
            conversation_id: None,
            ..task(TaskOwnership::Task(owner))
        };
        let id = change(&session, async move |tx| tx.create_task(inherited).await).await;
        assert_eq!(session.task(id).await.unwrap().unwrap().conversation_id, ROOT);
    });
}

#[test]
fn a_task_never_moves_to_another_conversation() {
    open(async |session| {
        root(&session).await;
        let id = change(&session, async |tx| {
            tx.create_task(task(TaskOwnership::Conversation)).await
        })
        .await;
        let moved = session
            .commit(async move |tx: Tx| {
                let mut record = tx.candidate_task(id).await?.unwrap();
                record.conversation_id = ConversationId(77);
                tx.stage_task(record).await
            })
            .await;
        assert!(
            matches!(moved, Err(SessionError::Rejected(Rejection::ForeignConversation))),
            "{moved:?}"
        );
        assert_eq!(session.task(id).await.unwrap().unwrap().conversation_id, ROOT);
    });
}

#[test]
fn a_change_of_everything_is_one_replacement_and_still_a_delta() {
    open_counted(async |session, storage| {
        root(&session).await;
        let log = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&log);
        let _listening = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                if let DocumentChangeKind::Changed { ops, .. } = &change.kind {
                    let replaces = matches!(&ops[..], [Op::Replace(_)]);
                    seen.borrow_mut().push((change.record.id, replaces));
                }
            }
        });
        change(&session, async |tx| tx.doc(&NOTES, ROOT).await.map(drop)).await;
        change(&session, async |tx| {
            let draft = tx.doc(&NOTES, ROOT).await?;
            for n in 0..4_100_u64 {
                draft.at(format!("{n}").as_str()).set(n)?;
            }
            Ok(())
        })
        .await;
        let [(id, true)] = log.borrow()[..] else {
            panic!("{:?}", log.borrow())
        };
        let stored = storage
            .inner()
            .document(id, Point::Current)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(stored.deltas_since_base, 1);
        assert_eq!(stored.value.as_object().map(|members| members.len()), Some(4_100));
        assert_eq!(stored.value.get("4099"), Some(&Json::from(4_099_u64)));
    });
}

type Change = fn(&mut TaskRecord);

/// How an owner can be unfit.
fn unfit() -> [(&'static str, Change); 3] {
    [
        ("completing", |record| {
            record.state = TaskState::Completing {
                outcome: TaskOutcome::Completed { result: Json::Null },
            };
        }),
        ("terminal", |record| {
            record.state = TaskState::Terminal {
                outcome: TaskOutcome::Completed { result: Json::Null },
            };
        }),
        ("abort-marked", |record| record.abort_requested = true),
    ]
}

#[test]
fn no_work_begins_below_an_owner_that_is_missing_finished_or_abort_marked() {
    async fn refused(session: &Session, owner: TaskId, make_unfit: Option<Change>, what: &str) {
        for conversation in [false, true] {
            let made = session
                .commit(async move |tx: Tx| {
                    if conversation {
                        tx.create_conversation(ConversationOwnership::Task(owner)).await?;
                    } else {
                        tx.create_task(task(TaskOwnership::Task(owner))).await?;
                    }
                    // After the claim: owners are judged on their last candidate.
                    if let Some(make_unfit) = make_unfit {
                        let mut record = tx.candidate_task(owner).await?.unwrap();
                        make_unfit(&mut record);
                        tx.stage_task(record).await?;
                    }
                    Ok::<_, SessionError>(())
                })
                .await;
            assert!(matches!(made, Err(SessionError::Rejected(_))), "{what}: {made:?}");
        }
    }
    open(async |session| {
        root(&session).await;
        refused(&session, TaskId(99), None, "missing").await;
        for (what, make_unfit) in unfit() {
            let owner = change(&session, async |tx| {
                tx.create_task(task(TaskOwnership::Conversation)).await
            })
            .await;
            refused(&session, owner, Some(make_unfit), &format!("staged {what}")).await;
            change(&session, async move |tx| {
                let mut record = tx.candidate_task(owner).await?.unwrap();
                make_unfit(&mut record);
                tx.stage_task(record).await
            })
            .await;
            refused(&session, owner, None, &format!("committed {what}")).await;
        }
        let query = TaskQuery::default();
        let tasks = session.scan_tasks(&query, 10, None).await.unwrap().items;
        assert_eq!(tasks.len(), 3, "nothing of the refused was written");
    });
}

#[test]
fn a_task_needs_a_conversation_given_or_bound() {
    open(async |session| {
        root(&session).await;
        let nowhere = || TaskCreate {
            conversation_id: None,
            ..task(TaskOwnership::Conversation)
        };
        let made = session
            .commit(async move |tx: Tx| tx.create_task(nowhere()).await)
            .await;
        assert!(
            matches!(made, Err(SessionError::Rejected(Rejection::NoConversation))),
            "{made:?}"
        );
        let id = change(&session, async move |tx| {
            tx.bind(ROOT);
            tx.create_task(nowhere()).await
        })
        .await;
        assert_eq!(session.task(id).await.unwrap().unwrap().conversation_id, ROOT);
    });
}

#[test]
fn a_transaction_that_settles_before_its_operations_is_rejected() {
    open_counted(async |session, storage| {
        root(&session).await;
        change(&session, async |tx| {
            tx.doc(&NOTES, ROOT).await?.at("n").set(1_u64)?;
            tx.append_entry(ROOT, entry("one")).await.map(drop)
        })
        .await;
        // As after a reopening, without what is in memory.
        let session = Session::open(storage.clone(), session.host().clone(), Default::default());
        let held = storage.hold_reads();
        let late = Rc::new(RefCell::new(Vec::new()));
        let (log, spawner) = (Rc::clone(&late), session.clone());
        let settled = session.commit(async move |tx: Tx| {
            for n in 0..2 {
                let (tx, log) = (tx.clone(), Rc::clone(&log));
                spawner.spawn(async move {
                    let acquired = match n {
                        0 => tx.doc(&NOTES, ROOT).await.map(drop),
                        _ => tx.doc(&ABSENT, ROOT).await.map(drop),
                    };
                    log.borrow_mut().push(acquired);
                });
            }
            spawner.host().sleep_until(spawner.host().now() + 1).await;
            Ok::<_, SessionError>(())
        });
        let rejected = settled.await;
        assert!(
            matches!(rejected, Err(SessionError::PendingAcquisition)),
            "{rejected:?}"
        );
        storage.allow_mints(Some(0));
        drop(held);
        let host = session.host();
        host.sleep_until(host.now() + 1).await;
        let late = late.borrow();
        assert_eq!(late.len(), 2);
        assert!(
            late.iter().all(|late| matches!(late, Err(SessionError::Revoked))),
            "{late:?}"
        );
    });
}
