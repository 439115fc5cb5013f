//! What a commit writes and publishes, when and in which order (spec 3.4 and 4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use futures::FutureExt;
use std::cell::RefCell;
use std::rc::Rc;
use support::{Bench, NOTES, OWN, append, bench, entry, root, set, task};
use tidehold_delta::{Json, encode_batch, json};
use tidehold_session::documents::{ConversationDoc, DocToken};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::publication::{DocumentChangeKind, Publication};
use tidehold_session::records::{ConversationOwnership, InputStatus, SubmissionState, TaskOwnership};
use tidehold_session::{SessionError, Tx};
use tidehold_storage::fault::CommitFault;

static OTHER: ConversationDoc = DocToken::of_conversation("test.other", 1, OWN, Json::empty_object);

type Seen = Rc<RefCell<Vec<Rc<Publication>>>>;

fn published(bench: &Bench) -> (Seen, tidehold_session::Subscription) {
    let seen = Seen::default();
    let log = Rc::clone(&seen);
    let subscription = bench
        .session
        .subscribe_commits(move |publication| log.borrow_mut().push(Rc::clone(publication)));
    (seen, subscription)
}

#[test]
fn a_publication_comes_on_the_line_after_adoption_and_is_one_for_all() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let order: Rc<RefCell<Vec<String>>> = Rc::default();
        let (log, reading) = (Rc::clone(&order), session.clone());
        let _listener = session.subscribe_commits(move |_| {
            // Adopted: what it reads is the new value, with no storage in between.
            let notes = reading.snapshot(&NOTES, ROOT_CONVERSATION_ID).now_or_never();
            let notes = notes.expect("in memory").unwrap().unwrap();
            log.borrow_mut().push(format!("published {notes}"));
        });
        let (one, _one) = published(&bench);
        let (two, _two) = published(&bench);
        let step = |n: u64| {
            let order = Rc::clone(&order);
            session.commit(async move |tx: Tx| {
                order.borrow_mut().push(format!("callback {n}"));
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("n").set(n)?;
                Ok::<_, SessionError>(())
            })
        };
        let (first, second) = futures::join!(step(1), step(2));
        first.unwrap();
        second.unwrap();
        assert_eq!(
            *order.borrow(),
            [
                "callback 1",
                r#"published {"n":1}"#,
                "callback 2",
                r#"published {"n":2}"#
            ]
        );
        assert_eq!(one.borrow().len(), 2);
        assert!(Rc::ptr_eq(&one.borrow()[0], &two.borrow()[0]));
    });
}

#[test]
fn a_publication_has_records_and_documents_in_the_order_of_the_batch() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "n", 1).await.unwrap();
        let (seen, _subscription) = published(&bench);
        let made = session
            .commit(async |tx: Tx| {
                let first = tx.create_conversation(ConversationOwnership::Ownerless).await?.id;
                let second = tx.create_conversation(ConversationOwnership::Ownerless).await?.id;
                let later = tx.append_entry(second, entry("one")).await?.id;
                let last = tx.append_entry(first, entry("two")).await?.id;
                let queued = SubmissionState::Input(InputStatus::Queued);
                let submission = tx.create_submission(first, None, None, queued).await?.id;
                let one = tx.create_task(task(TaskOwnership::Conversation)).await?;
                let two = tx.create_task(task(TaskOwnership::Conversation)).await?;
                tx.doc(&OTHER, ROOT_CONVERSATION_ID).await?.at("n").set(1_u64)?;
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("n").set(2_u64)?;
                tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                Ok::<_, SessionError>(([first, second], [later, last], submission, [one, two]))
            })
            .await
            .unwrap();
        let publication = Rc::clone(&seen.borrow()[0]);
        let (conversations, entries, submission, tasks) = made;
        assert!(
            publication
                .conversations
                .iter()
                .map(|record| record.id)
                .eq(conversations)
        );
        assert!(publication.entries.iter().map(|record| record.id).eq(entries));
        assert!(
            publication
                .submissions
                .iter()
                .map(|record| record.id)
                .eq([submission])
        );
        assert!(publication.tasks.iter().map(|change| change.after.id).eq(tasks));
        let documents: Vec<(&str, &str)> = publication
            .documents
            .iter()
            .map(|change| {
                let what = match change.kind {
                    DocumentChangeKind::Created { .. } => "created",
                    DocumentChangeKind::Changed { .. } => "changed",
                    DocumentChangeKind::Copied { .. } => "copied",
                    DocumentChangeKind::Retired => "retired",
                };
                (&*change.record.kind, what)
            })
            .collect();
        assert_eq!(
            documents,
            [
                ("test.notes", "changed"),
                ("test.notes", "retired"),
                ("test.other", "created"),
            ]
        );
    });
}

#[test]
fn what_changes_nothing_does_not_reach_storage_and_answers_all_the_same() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "n", 1).await.unwrap();
        let (seen, _subscription) = published(&bench);
        bench.storage.allow_commits(Some(0), CommitFault::Before);
        let answer = session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                // Set to what it is.
                draft.at("n").set(1_u64)?;
                Ok::<_, SessionError>(draft.at("n").get()?)
            })
            .await;
        assert_eq!(answer.unwrap(), Some(Json::from(1_u64)));
        assert!(seen.borrow().is_empty());
        assert!(session.health().is_ok());
    });
}

#[test]
fn edits_that_cancel_out_are_written_and_published() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                Ok::<_, SessionError>(draft.at("list").set(json!(["a", "b"]))?)
            })
            .await
            .unwrap();
        let before = session.head().await.unwrap();
        let (seen, _subscription) = published(&bench);
        session
            .commit(async |tx: Tx| {
                let list = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("list");
                list.splice(0, 1, Vec::new())?;
                Ok::<_, SessionError>(list.splice(0, 0, vec![Json::from("a")])?)
            })
            .await
            .unwrap();
        assert!(session.head().await.unwrap() > before, "it is stored");
        let publication = Rc::clone(&seen.borrow()[0]);
        let DocumentChangeKind::Changed {
            before, value, ops, ..
        } = &publication.documents[0].kind
        else {
            panic!("{publication:?}");
        };
        assert_eq!(before, value);
        assert!(!ops.is_empty(), "{}", encode_batch(ops));
    });
}

#[test]
fn snapshots_share_what_did_not_change() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                draft.at("kept").set(json!({ "a": [1] }))?;
                Ok::<_, SessionError>(draft.at("edited").set(json!([1]))?)
            })
            .await
            .unwrap();
        let read = async || {
            session
                .snapshot(&NOTES, ROOT_CONVERSATION_ID)
                .await
                .unwrap()
                .unwrap()
        };
        let first = read().await;
        assert!(first.same(&read().await), "the same value each time");
        session
            .commit(async |tx: Tx| {
                let draft = tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?;
                Ok::<_, SessionError>(draft.at("edited").push(2_u64)?)
            })
            .await
            .unwrap();
        let second = read().await;
        assert!(first.get("kept").unwrap().same(second.get("kept").unwrap()));
        assert!(!first.get("edited").unwrap().same(second.get("edited").unwrap()));
        // What was handed out stays as it was.
        assert_eq!(first.get("edited"), Some(&json!([1])));
        append(session, "goes on").await.unwrap();
    });
}
