//! Forks and values as of an entry (spec 3.3 and 3.7).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::{NOTES, SCRATCH, change, entry, open, open_counted, root, task};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{
    ConversationDoc, ConversationFamily, DocFamilyToken, DocToken, ForkPolicy, History, LatestFork,
    SessionDoc, TheSession,
};
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID as ROOT};
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::records::{ConversationOwnership, TaskOwnership};
use tidehold_session::storage::{EntryQuery, ScanOrder};
use tidehold_session::{Rejection, Session, SessionError, Tx};

const fn rewindable(fork: ForkPolicy) -> History {
    History::Rewindable { fork }
}

static THEN: ConversationDoc =
    DocToken::of_conversation("test.then", 1, rewindable(ForkPolicy::AsOf), Json::empty_object);
static NOW: ConversationDoc = DocToken::of_conversation(
    "test.now",
    1,
    History::Latest {
        fork: LatestFork::Current,
    },
    Json::empty_object,
);
static NOW_TOO: ConversationDoc = DocToken::of_conversation(
    "test.now.too",
    1,
    rewindable(ForkPolicy::Current),
    Json::empty_object,
);
static NONE_TOO: ConversationDoc = DocToken::of_conversation(
    "test.none.too",
    1,
    rewindable(ForkPolicy::Initial),
    Json::empty_object,
);
static SHARED: SessionDoc = DocToken::of_session("test.shared", 1, Json::empty_object);
static MANY: ConversationFamily =
    DocFamilyToken::of_conversation("test.many", 1, rewindable(ForkPolicy::AsOf), Clone::clone);

/// Everything a conversation can have, set to `n`, with an entry.
async fn step(session: &Session, conversation: ConversationId, n: u64) -> EntryId {
    change(session, async move |tx| {
        for token in [&THEN, &NOW, &NOW_TOO, &NOTES, &NONE_TOO] {
            tx.doc(token, conversation).await?.at("n").set(n)?;
        }
        tx.doc(&SHARED, TheSession).await?.at("n").set(n)?;
        Ok(tx.append_entry(conversation, entry("step")).await?.id)
    })
    .await
}

async fn fork(session: &Session, parent: ConversationId, at: EntryId) -> ConversationId {
    change(session, async move |tx| {
        let child = tx
            .fork_conversation(parent, at, ConversationOwnership::Ownerless)
            .await?;
        Ok(child.id)
    })
    .await
}

async fn n(session: &Session, token: &'static ConversationDoc, conversation: ConversationId) -> Option<u64> {
    let value = session.snapshot(token, conversation).await.unwrap();
    value.map(|value| value.get("n").and_then(Json::as_u64).unwrap())
}

async fn n_as_of(
    session: &Session,
    token: &'static ConversationDoc,
    conversation: ConversationId,
    at: EntryId,
) -> Option<u64> {
    let value = session.snapshot_as_of(token, conversation, at).await.unwrap();
    value.map(|value| value.get("n").and_then(Json::as_u64).unwrap())
}

#[test]
fn each_document_follows_its_policy() {
    open(async |session| {
        root(&session).await;
        let first = step(&session, ROOT, 1).await;
        step(&session, ROOT, 2).await;
        let id = change(&session, async |tx| {
            let id = tx.create_task(task(TaskOwnership::Conversation)).await?;
            tx.doc(&SCRATCH, id).await?.at("n").set(7_u64)?;
            Ok(id)
        })
        .await;
        let child = fork(&session, ROOT, first).await;
        let mut found = Vec::new();
        for token in [&THEN, &NOW, &NOW_TOO, &NOTES, &NONE_TOO] {
            found.push(n(&session, token, child).await);
        }
        assert_eq!(found, [Some(1), Some(2), Some(2), None, None]);
        // Tasks and their documents stay where they are, session documents are everybody's.
        assert_eq!(session.task(id).await.unwrap().unwrap().conversation_id, ROOT);
        assert_eq!(
            session.snapshot(&SHARED, TheSession).await.unwrap(),
            Some(json!({ "n": 2 }))
        );
        // First access to what starts anew runs the initializer.
        change(&session, async move |tx| {
            assert_eq!(tx.doc(&NOTES, child).await?.get()?, Some(Json::empty_object()));
            Ok(())
        })
        .await;
    });
}

#[test]
fn parent_and_child_go_apart() {
    open(async |session| {
        root(&session).await;
        let first = step(&session, ROOT, 1).await;
        let child = fork(&session, ROOT, first).await;
        step(&session, ROOT, 2).await;
        step(&session, child, 3).await;
        for (token, wanted) in [(&THEN, (2, 3)), (&NOW, (2, 3))] {
            let found = (n(&session, token, ROOT).await, n(&session, token, child).await);
            assert_eq!(found, (Some(wanted.0), Some(wanted.1)));
        }
        change(&session, async |tx| tx.retire_doc(&NOW, ROOT).await).await;
        assert_eq!(n(&session, &NOW, child).await, Some(3));
    });
}

#[test]
fn the_transcript_goes_through_the_entry_and_no_further() {
    open(async |session| {
        root(&session).await;
        // One commit with two entries: the fork is at the first.
        let (first, second) = change(&session, async |tx| {
            tx.doc(&THEN, ROOT).await?.at("n").set(5_u64)?;
            let first = tx.append_entry(ROOT, entry("one")).await?.id;
            Ok((first, tx.append_entry(ROOT, entry("two")).await?.id))
        })
        .await;
        let child = fork(&session, ROOT, first).await;
        let own = change(&session, async move |tx| {
            Ok(tx.append_entry(child, entry("own")).await?.id)
        })
        .await;
        let grandchild = fork(&session, child, own).await;
        let list = async |conversation| {
            let query = EntryQuery {
                conversation_id: conversation,
                min_entry_id: None,
                max_entry_id: None,
                order: Some(ScanOrder::Ascending),
            };
            let page = session.scan_entries(&query, 10, None).await.unwrap();
            page.items.iter().map(|entry| entry.id).collect::<Vec<_>>()
        };
        assert_eq!(list(child).await, [first, own]);
        assert_eq!(list(grandchild).await, [first, own]);
        // The value is that of the end of the commit that holds the entry.
        assert_eq!(n(&session, &THEN, child).await, Some(5));
        assert!(session.visible_entry(grandchild, second).await.unwrap().is_none());
        let record = session.conversation(grandchild).await.unwrap().unwrap();
        let parent = record.parent.unwrap();
        assert_eq!((parent.conversation_id, parent.at), (child, own));
    });
}

#[test]
fn an_inherited_entry_is_read_from_the_ancestor_that_owns_it() {
    open(async |session| {
        root(&session).await;
        let first = step(&session, ROOT, 1).await;
        let second = step(&session, ROOT, 2).await;
        let child = fork(&session, ROOT, second).await;
        step(&session, child, 3).await;
        // Of the copy, which is younger, nothing was alive then; the ancestor's document was.
        assert_eq!(n_as_of(&session, &THEN, child, first).await, Some(1));
        assert_eq!(n_as_of(&session, &THEN, child, second).await, Some(2));
        let grandchild = fork(&session, child, first).await;
        assert_eq!(
            n(&session, &THEN, grandchild).await,
            Some(1),
            "as of: from the root"
        );
        assert_eq!(
            n(&session, &NOW, grandchild).await,
            Some(3),
            "current: from the parent"
        );
        assert_eq!(n(&session, &NOW_TOO, grandchild).await, Some(3));
    });
}

#[test]
fn a_value_as_of_an_entry_is_that_of_the_incarnation_alive_then() {
    open(async |session| {
        root(&session).await;
        let before = change(&session, async |tx| {
            Ok(tx.append_entry(ROOT, entry("0")).await?.id)
        })
        .await;
        let first = step(&session, ROOT, 1).await;
        let gone = change(&session, async |tx| {
            tx.retire_doc(&THEN, ROOT).await?;
            Ok(tx.append_entry(ROOT, entry("gone")).await?.id)
        })
        .await;
        let again = step(&session, ROOT, 2).await;
        let replaced = change(&session, async |tx| {
            tx.retire_doc(&THEN, ROOT).await?;
            tx.doc(&THEN, ROOT).await?.at("n").set(9_u64)?;
            Ok(tx.append_entry(ROOT, entry("replaced")).await?.id)
        })
        .await;
        let mut found = Vec::new();
        for at in [before, first, gone, again, replaced] {
            found.push(n_as_of(&session, &THEN, ROOT, at).await);
        }
        assert_eq!(found, [None, Some(1), None, Some(2), Some(9)]);
        let child = fork(&session, ROOT, gone).await;
        assert_eq!(n(&session, &THEN, child).await, None);
        let refused = session.snapshot_as_of(&NOW, ROOT, first).await;
        assert!(matches!(
            refused,
            Err(SessionError::Rejected(Rejection::NotRewindable { .. }))
        ));
    });
}

#[test]
fn an_entry_that_is_not_visible_refuses_and_leaves_the_session_usable() {
    open(async |session| {
        root(&session).await;
        let first = step(&session, ROOT, 1).await;
        let child = fork(&session, ROOT, first).await;
        let later = step(&session, ROOT, 2).await;
        let forked = session
            .commit(async move |tx: Tx| {
                tx.fork_conversation(child, later, ConversationOwnership::Ownerless)
                    .await
            })
            .await
            .map(drop);
        let read = session.snapshot_as_of(&THEN, child, later).await.map(drop);
        // Not committed yet is not visible either.
        let staged = session
            .commit(async move |tx: Tx| {
                let at = tx.append_entry(child, entry("new")).await?.id;
                tx.fork_conversation(child, at, ConversationOwnership::Ownerless)
                    .await
            })
            .await
            .map(drop);
        for refused in [forked, read, staged] {
            let Err(SessionError::Rejected(rejection)) = refused else {
                panic!("{refused:?}")
            };
            assert!(
                matches!(rejection, Rejection::EntryNotVisible { .. }),
                "{rejection}"
            );
            assert!(
                rejection
                    .to_string()
                    .ends_with(&format!("is not visible from conversation {child}"))
            );
        }
        let unknown = session
            .commit(async move |tx: Tx| {
                tx.fork_conversation(ConversationId(99), first, ConversationOwnership::Ownerless)
                    .await
            })
            .await;
        assert!(matches!(
            unknown,
            Err(SessionError::Rejected(Rejection::MissingConversation(
                ConversationId(99)
            )))
        ));
        step(&session, child, 3).await;
    });
}

#[test]
fn a_family_of_any_size_is_copied_without_reading_a_value() {
    open_counted(async |session, storage| {
        root(&session).await;
        let at = change(&session, async |tx| {
            for key in 0..260_u64 {
                tx.member(&MANY, (ROOT, &format!("{key}")), json!({ "key": key }))
                    .await?;
            }
            Ok(tx.append_entry(ROOT, entry("many")).await?.id)
        })
        .await;
        storage.allow_contents(Some(0));
        let child = fork(&session, ROOT, at).await;
        storage.allow_contents(None);
        for key in [0, 133, 259_u64] {
            let value = session.snapshot(&MANY, (child, &format!("{key}"))).await.unwrap();
            assert_eq!(value, Some(json!({ "key": key })));
        }
    });
}

#[test]
fn a_copy_edited_where_it_was_made_becomes_one_creation() {
    thread_local! {
        static ASKED: Cell<u32> = const { Cell::new(0) };
    }
    static ASKING: ConversationDoc =
        DocToken::of_conversation("test.then", 1, rewindable(ForkPolicy::AsOf), Json::empty_object)
            .checkpoint_when(|_, _, _| {
                ASKED.set(ASKED.get() + 1);
                false
            });
    open(async |session| {
        root(&session).await;
        let at = step(&session, ROOT, 1).await;
        let log = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&log);
        let _listening = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                let what = match &change.kind {
                    DocumentChangeKind::Created { value } => format!("created {value}"),
                    DocumentChangeKind::Copied { .. } => "copied".to_owned(),
                    other => format!("{other:?}"),
                };
                seen.borrow_mut().push(format!("{} {what}", change.record.kind));
            }
        });
        let child = change(&session, async move |tx| {
            let child = tx
                .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await?
                .id;
            assert_eq!(tx.peek(&NOW, child).await?, Some(json!({ "n": 1 })));
            let draft = tx.doc(&ASKING, child).await?;
            assert_eq!(draft.at("n").get()?, Some(1_u64.into()));
            draft.at("edited").set(true)?;
            Ok(child)
        })
        .await;
        assert_eq!(
            *log.borrow(),
            [
                "test.now copied",
                "test.now.too copied",
                "test.then created {\"n\":1,\"edited\":true}"
            ]
        );
        assert_eq!(ASKED.get(), 0);
        assert_eq!(
            session.snapshot(&THEN, child).await.unwrap(),
            Some(json!({ "n": 1, "edited": true }))
        );
        assert_eq!(n(&session, &THEN, ROOT).await, Some(1));
    });
}

#[test]
fn a_copy_can_be_retired_where_it_was_made() {
    open(async |session| {
        root(&session).await;
        let at = step(&session, ROOT, 1).await;
        let child = change(&session, async move |tx| {
            let child = tx
                .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await?
                .id;
            tx.retire_doc(&THEN, child).await?;
            tx.retire_doc(&NOW, child).await?;
            assert_eq!(tx.peek(&NOW, child).await?, None);
            tx.doc(&NOW, child).await?.at("n").set(8_u64)?;
            Ok(child)
        })
        .await;
        assert_eq!(n(&session, &THEN, child).await, None);
        assert_eq!(n(&session, &NOW, child).await, Some(8));
        assert_eq!(n(&session, &NOW, ROOT).await, Some(1));
    });
}

#[test]
fn a_fork_copies_the_stored_version_and_the_child_migrates_by_itself() {
    static NEWER: ConversationDoc =
        DocToken::of_conversation("test.then", 2, rewindable(ForkPolicy::AsOf), Json::empty_object)
            .migrate(|value, from| Ok(json!({ "from": from, "was": value })));
    open(async |session| {
        root(&session).await;
        let at = step(&session, ROOT, 1).await;
        let migrated = Some(json!({ "from": 1, "was": { "n": 1 } }));
        // A migrated value in memory does not reach the copy.
        assert_eq!(session.snapshot(&NEWER, ROOT).await.unwrap(), migrated);
        let child = fork(&session, ROOT, at).await;
        assert_eq!(n(&session, &THEN, child).await, Some(1));
        assert_eq!(session.snapshot(&NEWER, child).await.unwrap(), migrated);
        assert_eq!(session.snapshot_as_of(&NEWER, child, at).await.unwrap(), migrated);
        let grandchild = change(&session, async move |tx| {
            let id = tx
                .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await?
                .id;
            tx.doc(&NEWER, id).await?.at("own").set(true)?;
            Ok(id)
        })
        .await;
        assert!(
            session.snapshot(&THEN, grandchild).await.is_err(),
            "stored in version 2"
        );
        assert_eq!(n(&session, &THEN, ROOT).await, Some(1));
    });
}

#[test]
fn a_source_written_in_the_forking_transaction_is_refused() {
    async fn refused(
        session: &Session,
        at: EntryId,
        write: impl AsyncFn(&Tx) -> Result<(), SessionError> + Clone + 'static,
    ) {
        let before = write.clone();
        let earlier = session
            .commit(async move |tx: Tx| {
                before(&tx).await?;
                tx.fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                    .await
            })
            .await;
        let later = session
            .commit(async move |tx: Tx| {
                let child = tx
                    .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                    .await;
                write(&tx).await?;
                child
            })
            .await;
        for outcome in [earlier, later] {
            assert!(
                matches!(
                    outcome,
                    Err(SessionError::Rejected(Rejection::ForkSourceWritten { .. }))
                ),
                "{outcome:?}"
            );
        }
    }
    open(async |session| {
        root(&session).await;
        let at = step(&session, ROOT, 1).await;
        refused(&session, at, async |tx| {
            tx.doc(&NOW, ROOT).await?.at("n").set(2_u64).map_err(Into::into)
        })
        .await;
        refused(&session, at, async |tx| {
            tx.doc(&THEN, ROOT).await?.at("n").set(2_u64).map_err(Into::into)
        })
        .await;
        refused(&session, at, async |tx| tx.retire_doc(&NOW_TOO, ROOT).await).await;
        change(&session, async |tx| tx.retire_doc(&NOW, ROOT).await).await;
        refused(&session, at, async |tx| tx.doc(&NOW, ROOT).await.map(drop)).await;
        assert_eq!(n(&session, &THEN, ROOT).await, Some(1));
        // What a fork does not read may change with it; so may what was acquired and left as it was.
        change(&session, async move |tx| {
            tx.fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await?;
            tx.doc(&THEN, ROOT).await?;
            tx.doc(&NOTES, ROOT).await?.at("n").set(2_u64)?;
            Ok(())
        })
        .await;
    });
}

#[test]
fn a_fork_takes_its_owner_as_a_creation_does() {
    open(async |session| {
        root(&session).await;
        let at = step(&session, ROOT, 1).await;
        let (record, owner) = change(&session, async move |tx| {
            let owner = tx.create_task(task(TaskOwnership::Conversation)).await?;
            let record = tx
                .fork_conversation(ROOT, at, ConversationOwnership::Task(owner))
                .await?;
            Ok((record, owner))
        })
        .await;
        let stored = record.owner.unwrap();
        assert_eq!((stored.conversation_id, stored.task_id), (ROOT, owner));
        assert_eq!(session.conversation(record.id).await.unwrap(), Some(record));
    });
}
