//! Versions and migrations (spec 3.6): driven by access, in memory on reads, a base at the next write.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::Cell;
use std::rc::Rc;
use support::{OWN, change, open_counted, root};
use tidehold_delta::{Json, json};
use tidehold_session::documents::{
    ConversationDoc, DocToken, DocumentAddress, DocumentRecord, ForkPolicy, History, Point,
};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::storage::{Storage, StoredDocument};
use tidehold_session::{Rejection, Session, SessionError, Tx};
use tidehold_storage::fault::Countdown;
use tidehold_storage::memory::MemoryStorage;

const KIND: &str = "test.versioned";

static V1: ConversationDoc = DocToken::of_conversation(KIND, 1, OWN, || json!({ "name": "old" }));
static V2: ConversationDoc = DocToken::of_conversation(KIND, 2, OWN, || json!({ "names": [] })).migrate(to_2);
static V3: ConversationDoc =
    DocToken::of_conversation(KIND, 3, OWN, Json::empty_object).migrate(|value, from| match from {
        1 => Ok(json!({ "three": to_2(value, 1)? })),
        2 => Ok(json!({ "three": value })),
        other => Err(format!("no way from {other}")),
    });
static V2_STRICT: ConversationDoc = DocToken::of_conversation(KIND, 2, OWN, Json::empty_object);

thread_local! {
    static MIGRATIONS: Cell<u32> = const { Cell::new(0) };
}

fn to_2(value: Json, from: u32) -> Result<Json, String> {
    assert_eq!(from, 1);
    MIGRATIONS.set(MIGRATIONS.get() + 1);
    let name = value.get("name").ok_or("no name")?;
    Ok(json!({ "names": [name.clone()] }))
}

type Store = Rc<Countdown<MemoryStorage>>;

/// A session whose document was written in version 1.
fn stored_in_1(test: impl AsyncFnOnce(Session, Store) + 'static) {
    open_counted(async |session, storage| {
        MIGRATIONS.set(0);
        root(&session).await;
        change(&session, async |tx| {
            tx.doc(&V1, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        test(session, storage).await;
    });
}

async fn record(storage: &Store) -> DocumentRecord {
    let address = DocumentAddress {
        kind: KIND.into(),
        scope: ROOT_CONVERSATION_ID.into(),
        key: None,
    };
    storage
        .inner()
        .find_document(&address, Point::Current)
        .await
        .unwrap()
        .unwrap()
}

async fn stored(storage: &Store) -> StoredDocument {
    let id = record(storage).await.id;
    storage
        .inner()
        .document(id, Point::Current)
        .await
        .unwrap()
        .unwrap()
}

#[test]
fn a_read_migrates_in_memory_once_a_load_and_writes_nothing() {
    stored_in_1(async |session, storage| {
        for _ in 0..3 {
            let value = session.snapshot(&V2, ROOT_CONVERSATION_ID).await.unwrap();
            assert_eq!(value, Some(json!({ "names": ["old"] })));
        }
        assert_eq!(MIGRATIONS.get(), 1);
        let kept = stored(&storage).await;
        assert_eq!((kept.version, kept.value), (1, json!({ "name": "old" })));
        let again = session
            .snapshot(&V2, ROOT_CONVERSATION_ID)
            .await
            .unwrap()
            .unwrap();
        assert!(
            again.same(
                &session
                    .snapshot(&V2, ROOT_CONVERSATION_ID)
                    .await
                    .unwrap()
                    .unwrap()
            )
        );
    });
}

#[test]
fn the_first_write_through_a_newer_definition_is_a_base_even_without_an_edit() {
    stored_in_1(async |session, storage| {
        let kinds = Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = Rc::clone(&kinds);
        let _seen = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                if let DocumentChangeKind::Changed { ops, version, .. } = &change.kind {
                    log.borrow_mut().push((ops.len(), *version));
                }
            }
        });
        let before = record(&storage).await;
        change(&session, async |tx| {
            tx.doc(&V2, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        let kept = stored(&storage).await;
        assert_eq!(
            (kept.version, kept.deltas_since_base, kept.value, kept.record),
            (2, 0, json!({ "names": ["old"] }), before)
        );
        assert_eq!(*kinds.borrow(), [(0, 2)]);
        // From here on it is an ordinary document of version 2.
        change(&session, async |tx| {
            tx.doc(&V2, ROOT_CONVERSATION_ID).await?.at("names").push("new")?;
            Ok(())
        })
        .await;
        assert_eq!(
            (stored(&storage).await.deltas_since_base, MIGRATIONS.get()),
            (1, 1)
        );
        change(&session, async |tx| {
            tx.doc(&V2, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        assert_eq!(kinds.borrow().len(), 2, "nothing was written the third time");
    });
}

#[test]
fn edits_after_a_migration_coalesce_into_its_base() {
    stored_in_1(async |session, storage| {
        change(&session, async |tx| {
            tx.doc(&V2, ROOT_CONVERSATION_ID).await?.at("names").push("new")?;
            tx.doc(&V2, ROOT_CONVERSATION_ID).await?.at("more").set(true)?;
            Ok(())
        })
        .await;
        let kept = stored(&storage).await;
        assert_eq!(kept.value, json!({ "names": ["old", "new"], "more": true }));
        assert_eq!((kept.version, kept.deltas_since_base), (2, 0));
    });
}

#[test]
fn a_rolled_back_migration_leaves_the_stored_version() {
    stored_in_1(async |session, storage| {
        let failed = session
            .commit(async |tx: Tx| {
                tx.doc(&V2, ROOT_CONVERSATION_ID).await?.at("lost").set(true)?;
                Err::<(), _>(SessionError::Rejected(Rejection::Other("no".into())))
            })
            .await;
        assert!(failed.is_err());
        assert_eq!(stored(&storage).await.version, 1);
        let value = session.snapshot(&V2, ROOT_CONVERSATION_ID).await.unwrap();
        assert_eq!(value, Some(json!({ "names": ["old"] })));
    });
}

#[test]
fn a_newer_stored_version_is_rejected_and_an_older_one_needs_a_migration() {
    stored_in_1(async |session, storage| {
        let strict = session.snapshot(&V2_STRICT, ROOT_CONVERSATION_ID).await;
        let Err(SessionError::Rejected(rejection)) = strict else {
            panic!("{strict:?}")
        };
        assert_eq!(
            rejection,
            Rejection::MigrationMissing {
                kind: KIND.into(),
                stored: 1
            }
        );
        assert!(
            rejection
                .to_string()
                .contains("requires migration from version 1")
        );
        change(&session, async |tx| {
            tx.doc(&V2, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        for access in [
            session.snapshot(&V1, ROOT_CONVERSATION_ID).await.map(drop),
            session
                .commit(async |tx: Tx| tx.doc(&V1, ROOT_CONVERSATION_ID).await.map(drop))
                .await,
            session
                .commit(async |tx: Tx| tx.retire_doc(&V1, ROOT_CONVERSATION_ID).await)
                .await,
            session
                .commit(async |tx: Tx| tx.peek(&V1, ROOT_CONVERSATION_ID).await.map(drop))
                .await,
        ] {
            let Err(SessionError::Rejected(rejection)) = access else {
                panic!("{access:?}")
            };
            assert!(rejection.to_string().contains("newer"), "{rejection}");
        }
        assert_eq!(stored(&storage).await.value, json!({ "names": ["old"] }));
    });
}

#[test]
fn each_definition_reads_from_the_stored_version() {
    stored_in_1(async |session, _| {
        let two = Some(json!({ "names": ["old"] }));
        let three = Some(json!({ "three": { "names": ["old"] } }));
        for _ in 0..2 {
            assert_eq!(session.snapshot(&V2, ROOT_CONVERSATION_ID).await.unwrap(), two);
            assert_eq!(session.snapshot(&V3, ROOT_CONVERSATION_ID).await.unwrap(), three);
            let one = session.snapshot(&V1, ROOT_CONVERSATION_ID).await.unwrap();
            assert_eq!(one, Some(json!({ "name": "old" })));
        }
        change(&session, async |tx| {
            tx.doc(&V3, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        assert_eq!(session.snapshot(&V3, ROOT_CONVERSATION_ID).await.unwrap(), three);
        assert!(session.snapshot(&V2, ROOT_CONVERSATION_ID).await.is_err());
    });
}

#[test]
fn a_migration_that_fails_fails_its_call_and_leaves_the_stored_value() {
    static REFUSING: ConversationDoc = DocToken::of_conversation(KIND, 2, OWN, Json::empty_object)
        .migrate(|_, _| Err("not this one".into()));
    static NO_OBJECT: ConversationDoc =
        DocToken::of_conversation(KIND, 2, OWN, Json::empty_object).migrate(|_, _| Ok(json!([])));
    static PANICKING: ConversationDoc =
        DocToken::of_conversation(KIND, 2, OWN, Json::empty_object).migrate(|_, _| panic!("boom"));
    stored_in_1(async |session, storage| {
        let named = |result: Result<(), SessionError>| match result {
            Err(SessionError::Rejected(Rejection::MigrationFailed { reason, .. })) => reason,
            Err(SessionError::Rejected(Rejection::DocumentRoot { .. })) => "root".to_owned(),
            Err(SessionError::DefinitionPanicked { text, .. }) => text,
            other => panic!("{other:?}"),
        };
        for (token, wanted) in [
            (&REFUSING, "not this one"),
            (&NO_OBJECT, "root"),
            (&PANICKING, "boom"),
        ] {
            let read = session.snapshot(token, ROOT_CONVERSATION_ID).await.map(drop);
            assert_eq!(named(read), wanted);
            let written = session
                .commit(async move |tx: Tx| tx.doc(token, ROOT_CONVERSATION_ID).await.map(drop))
                .await;
            assert_eq!(named(written), wanted);
        }
        assert_eq!(stored(&storage).await.version, 1);
        assert!(session.snapshot(&V2, ROOT_CONVERSATION_ID).await.is_ok());
    });
}

#[test]
fn retiring_a_migrated_draft_persists_its_base_first() {
    static OLD: ConversationDoc =
        DocToken::of_conversation("test.history", 1, REWINDABLE, || json!({ "name": "old" }));
    static NEW: ConversationDoc =
        DocToken::of_conversation("test.history", 2, REWINDABLE, Json::empty_object).migrate(to_2);
    const REWINDABLE: History = History::Rewindable {
        fork: ForkPolicy::AsOf,
    };
    open_counted(async |session, storage| {
        root(&session).await;
        let seqs = Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = Rc::clone(&seqs);
        let _seen = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                log.borrow_mut().push((publication.seq, change.record.id));
            }
        });
        change(&session, async |tx| {
            tx.doc(&OLD, ROOT_CONVERSATION_ID).await.map(drop)
        })
        .await;
        change(&session, async |tx| {
            tx.doc(&NEW, ROOT_CONVERSATION_ID).await?.at("last").set(true)?;
            tx.retire_doc(&NEW, ROOT_CONVERSATION_ID).await
        })
        .await;
        let seen = seqs.borrow().clone();
        let (first, id) = seen[0];
        let kept = storage
            .inner()
            .document(id, Point::At(first))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((kept.version, kept.value), (1, json!({ "name": "old" })));
        assert_eq!(seen.iter().map(|(_, id)| *id).collect::<Vec<_>>(), [id, id, id]);
        assert_eq!(storage.inner().document(id, Point::Current).await.unwrap(), None);
    });
}

#[test]
fn checkpoints_count_deltas_and_are_asked_once_an_edit() {
    thread_local! {
        static ASKED: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    static COUNTED: ConversationDoc = DocToken::of_conversation("test.counted", 1, OWN, Json::empty_object)
        .checkpoint_when(|_, _, info| {
            ASKED.with_borrow_mut(|asked| asked.push(info.deltas_since_base));
            info.deltas_since_base >= 2
        });
    open_counted(async |session, storage| {
        root(&session).await;
        for n in 0..6_u64 {
            change(&session, async move |tx| {
                tx.doc(&COUNTED, ROOT_CONVERSATION_ID).await?.at("n").set(n)?;
                Ok(())
            })
            .await;
            change(&session, async |tx| {
                tx.doc(&COUNTED, ROOT_CONVERSATION_ID).await.map(drop)
            })
            .await;
        }
        assert_eq!(ASKED.take(), [0, 1, 2, 0, 1]);
        // A reopened session goes on from what storage counts.
        let session = Session::open(
            Rc::clone(&storage) as _,
            Rc::clone(session.host()),
            Default::default(),
        );
        change(&session, async |tx| {
            tx.doc(&COUNTED, ROOT_CONVERSATION_ID).await?.at("n").set(9_u64)?;
            Ok(())
        })
        .await;
        assert_eq!(ASKED.take(), [2]);
    });
}
