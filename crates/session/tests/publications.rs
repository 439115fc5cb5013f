//! What a commit stores and publishes, and what it leaves alone (spec 3.4 and 4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::{NOTES, OWN, change, entry, open, open_counted, root, task};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{ConversationDoc, DocToken};
use tidehold_session::ids::ROOT_CONVERSATION_ID as ROOT;
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::records::TaskOwnership;
use tidehold_session::{Session, SessionError, Tx};
use tidehold_storage::fault::CommitFault;

static LIST: ConversationDoc = DocToken::of_conversation(
    "test.list",
    1,
    OWN,
    || json!({ "items": [1, 2], "rest": { "deep": [3] } }),
);

#[test]
fn snapshots_share_what_did_not_change() {
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| tx.doc(&LIST, ROOT).await.map(drop)).await;
        let first = session.snapshot(&LIST, ROOT).await.unwrap().unwrap();
        assert!(first.same(&session.snapshot(&LIST, ROOT).await.unwrap().unwrap()));
        change(&session, async |tx| {
            tx.doc(&LIST, ROOT).await?.at("items").push(4_u64)?;
            Ok(())
        })
        .await;
        let second = session.snapshot(&LIST, ROOT).await.unwrap().unwrap();
        assert!(!first.same(&second));
        assert!(first.get("rest").unwrap().same(second.get("rest").unwrap()));
        assert_eq!(
            first.get("items"),
            Some(&json!([1, 2])),
            "a snapshot stays what it was"
        );
    });
}

#[test]
fn a_commit_without_a_change_reaches_no_storage_and_publishes_nothing() {
    open_counted(async |session, storage| {
        root(&session).await;
        change(&session, async |tx| tx.doc(&LIST, ROOT).await.map(drop)).await;
        let published = Rc::new(Cell::new(0));
        let count = Rc::clone(&published);
        let _listening = session.subscribe_commits(move |_| count.set(count.get() + 1));
        storage.allow_commits(Some(0), CommitFault::Before);
        let value = change(&session, async |tx| {
            let draft = tx.doc(&LIST, ROOT).await?;
            draft.at("items").at(0_usize).set(1_u64)?;
            draft.at("more").set(true)?;
            draft.at("more").remove()?;
            draft.at("absent").remove()?;
            tx.retire_doc(&NOTES, ROOT).await?;
            Ok("the callback's own")
        })
        .await;
        assert_eq!((value, published.get()), ("the callback's own", 0));
    });
}

#[test]
fn operations_that_cancel_out_in_value_are_stored_and_published_all_the_same() {
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| tx.doc(&LIST, ROOT).await.map(drop)).await;
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let _listening = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                let DocumentChangeKind::Changed {
                    before, value, ops, ..
                } = &change.kind
                else {
                    panic!("{change:?}")
                };
                log.borrow_mut().push((before == value, ops.is_empty()));
            }
        });
        change(&session, async |tx| {
            let items = tx.doc(&LIST, ROOT).await?.at("items");
            items.splice(0, 1, vec![])?;
            items.splice(0, 0, vec![1_u64.into()])?;
            Ok(())
        })
        .await;
        assert_eq!(*seen.borrow(), [(true, false)]);
    });
}

#[test]
fn a_publication_is_synchronous_after_adoption_and_in_staging_order() {
    open(async |session| {
        root(&session).await;
        let seen = Rc::new(RefCell::new(Vec::new()));
        let (log, reader) = (Rc::clone(&seen), session.clone());
        let _listening = session.subscribe_commits(move |publication| {
            // What was committed is what is read, in the very call.
            let adopted = reader.snapshot(&NOTES, ROOT).now_or_never().unwrap().unwrap();
            let mut order: Vec<String> = publication
                .entries
                .iter()
                .map(|entry| entry.data.as_ref().unwrap().to_string())
                .collect();
            order.extend(publication.tasks.iter().map(|_| "task".to_owned()));
            order.extend(
                publication
                    .documents
                    .iter()
                    .map(|change| change.record.kind.to_string()),
            );
            log.borrow_mut().push((adopted, order));
        });
        let commit = session.commit(async |tx: Tx| {
            tx.doc(&NOTES, ROOT).await?.at("n").set(1_u64)?;
            tx.append_entry(ROOT, entry("b")).await?;
            tx.create_task(task(TaskOwnership::Conversation)).await?;
            tx.append_entry(ROOT, entry("a")).await?;
            tx.doc(&LIST, ROOT).await?;
            Ok::<_, SessionError>(())
        });
        commit.await.unwrap();
        assert_eq!(
            *seen.borrow(),
            [(
                Some(json!({ "n": 1 })),
                ["\"b\"", "\"a\"", "task", "test.notes", "test.list"]
                    .map(str::to_owned)
                    .to_vec()
            )]
        );
    });
}

#[test]
fn all_listeners_share_one_publication() {
    open(async |session: Session| {
        root(&session).await;
        let seen: Rc<RefCell<Vec<Rc<_>>>> = Rc::default();
        let (one, two) = (Rc::clone(&seen), Rc::clone(&seen));
        let _one =
            session.subscribe_commits(move |publication| one.borrow_mut().push(Rc::clone(publication)));
        let _two =
            session.subscribe_commits(move |publication| two.borrow_mut().push(Rc::clone(publication)));
        change(&session, async |tx| {
            tx.append_entry(ROOT, entry("a")).await.map(drop)
        })
        .await;
        let seen = seen.borrow();
        assert_eq!(seen.len(), 2);
        assert!(Rc::ptr_eq(&seen[0], &seen[1]));
        assert_eq!(seen[0].entries[0].data, Some(Json::from("a")));
    });
}
