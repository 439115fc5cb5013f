//! Definitions and access (spec 3.1 to 3.3): singletons and families, semantics, initial values, memoized acquisition.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::Cell;
use support::{NOTES, OWN, change, open, open_counted, root, task};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{
    ConversationDoc, ConversationFamily, DocFamilyToken, DocToken, ForkPolicy, History, LatestFork,
    SessionDoc, SessionFamily, TaskFamily, TheSession,
};
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::TaskOwnership;
use tidehold_session::{Rejection, SessionError, Tx};

static SETTINGS: SessionDoc = DocToken::of_session("test.settings", 1, Json::empty_object);
static ROOMS: SessionFamily = DocFamilyToken::of_session("test.room", 1, seeded);
static FILES: ConversationFamily = DocFamilyToken::of_conversation("test.file", 1, OWN, seeded);
static OUTPUTS: TaskFamily = DocFamilyToken::of_task("test.output", 1, seeded);

fn seeded(seed: &Json) -> Json {
    Json::object([("seed", seed.clone())])
}

fn rejection<T: std::fmt::Debug>(result: Result<T, SessionError>) -> Rejection {
    match result {
        Err(SessionError::Rejected(rejection)) => rejection,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_scope_has_singletons_and_families() {
    open(async |session| {
        root(&session).await;
        let id = session
            .commit(async |tx: Tx| {
                let id = tx.create_task(task(TaskOwnership::Conversation)).await?;
                tx.doc(&SETTINGS, TheSession).await?.at("n").set(1_u64)?;
                tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("n").set(2_u64)?;
                for key in ["a", "b", ""] {
                    let seed = Json::from(key);
                    tx.member(&ROOMS, (TheSession, key), seed.clone()).await?;
                    tx.member(&FILES, (ROOT_CONVERSATION_ID, key), seed.clone())
                        .await?;
                    tx.member(&OUTPUTS, (id, key), seed).await?;
                }
                Ok::<_, SessionError>(id)
            })
            .await
            .unwrap();
        assert_eq!(
            session.snapshot(&SETTINGS, TheSession).await.unwrap(),
            Some(json!({ "n": 1 }))
        );
        for key in ["a", "b", ""] {
            let wanted = Some(json!({ "seed": key }));
            assert_eq!(session.snapshot(&ROOMS, (TheSession, key)).await.unwrap(), wanted);
            assert_eq!(
                session
                    .snapshot(&FILES, (ROOT_CONVERSATION_ID, key))
                    .await
                    .unwrap(),
                wanted
            );
            assert_eq!(session.snapshot(&OUTPUTS, (id, key)).await.unwrap(), wanted);
        }
        assert_eq!(session.snapshot(&ROOMS, (TheSession, "c")).await.unwrap(), None);
    });
}

#[test]
fn a_missing_key_is_the_singleton_and_not_a_member() {
    static ONE: ConversationDoc = DocToken::of_conversation("test.file", 1, OWN, Json::empty_object);
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| {
            tx.member(&FILES, (ROOT_CONVERSATION_ID, "a"), Json::Null).await?;
            tx.doc(&ONE, ROOT_CONVERSATION_ID).await?.at("one").set(true)?;
            Ok(())
        })
        .await;
        assert_eq!(
            session.snapshot(&ONE, ROOT_CONVERSATION_ID).await.unwrap(),
            Some(json!({ "one": true }))
        );
        change(&session, async |tx| {
            tx.retire_doc(&ONE, ROOT_CONVERSATION_ID).await
        })
        .await;
        assert!(
            session
                .snapshot(&FILES, (ROOT_CONVERSATION_ID, "a"))
                .await
                .unwrap()
                .is_some()
        );
    });
}

#[test]
fn the_first_seed_of_a_member_wins() {
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| {
            let at = (ROOT_CONVERSATION_ID, "a");
            let (first, second) = futures::join!(
                tx.member(&FILES, at, 1_u64.into()),
                tx.member(&FILES, at, 2_u64.into())
            );
            first?.at("edited").set(true)?;
            assert_eq!(second?.get()?, Some(json!({ "seed": 1, "edited": true })));
            Ok(())
        })
        .await;
        change(&session, async |tx| {
            let draft = tx
                .member(&FILES, (ROOT_CONVERSATION_ID, "a"), 3_u64.into())
                .await?;
            assert_eq!(draft.at("seed").get()?, Some(Json::from(1_u64)));
            Ok(())
        })
        .await;
    });
}

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn concurrent_acquisitions_share_one_draft_and_run_initial_once() {
    static COUNTED: ConversationDoc = DocToken::of_conversation("test.counted", 1, OWN, || {
        CALLS.set(CALLS.get() + 1);
        Json::empty_object()
    });
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| {
            let at = ROOT_CONVERSATION_ID;
            let (a, b) = futures::join!(tx.doc(&COUNTED, at), tx.doc(&COUNTED, at));
            a?.at("a").set(1_u64)?;
            assert_eq!(b?.get()?, Some(json!({ "a": 1 })));
            Ok(())
        })
        .await;
        assert_eq!(CALLS.get(), 1);
    });
}

#[test]
fn reading_what_is_absent_creates_nothing_and_mints_nothing() {
    open_counted(async |session, storage| {
        root(&session).await;
        storage.allow_mints(Some(0));
        storage.allow_commits(Some(0), tidehold_storage::fault::CommitFault::Before);
        assert_eq!(
            session.snapshot(&NOTES, ROOT_CONVERSATION_ID).await.unwrap(),
            None
        );
        assert_eq!(
            session
                .snapshot(&FILES, (ROOT_CONVERSATION_ID, "a"))
                .await
                .unwrap(),
            None
        );
        change(&session, async |tx| {
            assert_eq!(tx.peek(&NOTES, ROOT_CONVERSATION_ID).await?, None);
            tx.retire_doc(&NOTES, ROOT_CONVERSATION_ID).await
        })
        .await;
    });
}

#[test]
fn other_semantics_than_the_stored_ones_are_rejected() {
    static CURRENT: ConversationDoc = DocToken::of_conversation(
        "test.notes",
        1,
        History::Latest {
            fork: LatestFork::Current,
        },
        Json::empty_object,
    );
    static REWINDABLE: ConversationDoc = DocToken::of_conversation(
        "test.notes",
        1,
        History::Rewindable {
            fork: ForkPolicy::Initial,
        },
        Json::empty_object,
    );
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| {
            tx.doc(&NOTES, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        for other in [&CURRENT, &REWINDABLE] {
            let wanted = |found| matches!(found, Rejection::DocumentSemantics { .. });
            let read = session.snapshot(other, ROOT_CONVERSATION_ID).await;
            assert!(wanted(rejection(read)));
            let written = session
                .commit(async |tx: Tx| tx.doc(other, ROOT_CONVERSATION_ID).await.map(drop))
                .await;
            assert!(wanted(rejection(written)));
        }
        let before = session.snapshot_as_of(
            &REWINDABLE,
            ROOT_CONVERSATION_ID,
            tidehold_session::ids::EntryId(9),
        );
        assert!(matches!(
            rejection(before.await),
            Rejection::EntryNotVisible { .. }
        ));
    });
}

#[test]
fn what_initial_answers_must_be_a_strict_json_object() {
    static LIST: ConversationDoc = DocToken::of_conversation("test.list", 1, OWN, || json!([1]));
    static ENDLESS: ConversationDoc = DocToken::of_conversation("test.endless", 1, OWN, || {
        Json::object([("n", f64::INFINITY.into())])
    });
    static DEEP: ConversationDoc = DocToken::of_conversation("test.deep", 1, OWN, || {
        (0..600).fold(Json::empty_object(), |inner, _| Json::object([("in", inner)]))
    });
    open(async |session| {
        root(&session).await;
        for bad in [&LIST, &ENDLESS, &DEEP] {
            let made = session
                .commit(async move |tx: Tx| tx.doc(bad, ROOT_CONVERSATION_ID).await.map(drop))
                .await;
            assert!(matches!(rejection(made), Rejection::DocumentRoot { .. }));
            assert_eq!(session.snapshot(bad, ROOT_CONVERSATION_ID).await.unwrap(), None);
        }
    });
}

#[test]
fn a_definition_that_panics_rolls_its_commit_back() {
    static INITIAL: ConversationDoc =
        DocToken::of_conversation("test.initial", 1, OWN, || panic!("no initial value"));
    static CHECKPOINT: ConversationDoc =
        DocToken::of_conversation("test.checkpoint", 1, OWN, Json::empty_object)
            .checkpoint_when(|_, _, _| panic!("no checkpoint"));
    open(async |session| {
        root(&session).await;
        change(&session, async |tx| {
            tx.doc(&CHECKPOINT, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        for bad in [&INITIAL, &CHECKPOINT] {
            let made = session
                .commit(async move |tx: Tx| {
                    tx.doc(&NOTES, ROOT_CONVERSATION_ID).await?.at("lost").set(true)?;
                    tx.doc(bad, ROOT_CONVERSATION_ID).await?.at("n").set(1_u64)?;
                    Ok::<_, SessionError>(())
                })
                .await;
            let Err(SessionError::DefinitionPanicked { text, .. }) = &made else {
                panic!("{made:?}")
            };
            assert!(text.starts_with("no "), "{text}");
            assert_eq!(
                session.snapshot(&NOTES, ROOT_CONVERSATION_ID).await.unwrap(),
                None
            );
        }
    });
}

#[test]
fn a_document_needs_an_owner_that_exists() {
    open(async |session| {
        root(&session).await;
        let nobody = ConversationId(99);
        let made = session
            .commit(async move |tx: Tx| tx.doc(&NOTES, nobody).await.map(drop))
            .await;
        assert_eq!(rejection(made), Rejection::MissingConversation(nobody));
        let made = session
            .commit(async |tx: Tx| tx.member(&OUTPUTS, (TaskId(98), "a"), Json::Null).await.map(drop))
            .await;
        assert_eq!(rejection(made), Rejection::MissingTask(TaskId(98)));
    });
}
