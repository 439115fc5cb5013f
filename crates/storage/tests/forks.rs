//! What a fork costs: the rows of its own records, however long the history is that it inherits (spec 3.7).

#![allow(clippy::unwrap_used, clippy::panic)]

use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_session::documents::{ConversationDoc, DocToken, ForkPolicy, History, LatestFork};
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{EntryId, ROOT_CONVERSATION_ID as ROOT};
use tidehold_session::records::{ConversationOwnership, EntryDraft};
use tidehold_session::storage::{EntryQuery, ScanOrder};
use tidehold_session::{Session, SessionError, SessionOptions, Tx};
use tidehold_storage::SqlStorage;
use tidehold_storage::sql::SqlDriver;
use tidehold_storage::sql::native::NativeDriver;

static THEN: ConversationDoc = DocToken::of_conversation(
    "test.then",
    1,
    History::Rewindable {
        fork: ForkPolicy::AsOf,
    },
    Json::empty_object,
);
static NOW: ConversationDoc = DocToken::of_conversation(
    "test.now",
    1,
    History::Latest {
        fork: LatestFork::Current,
    },
    Json::empty_object,
);

/// A transcript of `entries`, with two documents that changed with each hundredth. The entry in its middle.
async fn write(session: &Session, entries: u64) -> EntryId {
    let middle = session.commit(async move |tx: Tx| {
        tx.create_root().await?;
        let mut middle = None;
        for n in 0..entries / 2 {
            let draft = EntryDraft {
                kind: "test".into(),
                data: Some(json!({ "n": n })),
                ..EntryDraft::default()
            };
            middle = Some(tx.append_entry(ROOT, draft).await?.id);
        }
        tx.doc(&THEN, ROOT).await?.at("n").set(entries)?;
        tx.doc(&NOW, ROOT).await?.at("n").set(entries)?;
        Ok::<_, SessionError>(middle.unwrap())
    });
    let middle = middle.await.unwrap();
    for n in 0..entries / 2 {
        let append = session.commit(async move |tx: Tx| {
            if n % 100 == 0 {
                tx.doc(&THEN, ROOT).await?.at("n").set(n)?;
                tx.doc(&NOW, ROOT).await?.at("n").set(n)?;
            }
            let draft = EntryDraft {
                kind: "test".into(),
                ..EntryDraft::default()
            };
            tx.append_entry(ROOT, draft).await.map(drop)
        });
        append.await.unwrap();
    }
    middle
}

/// Rows billed for three forks at the entry in the middle, and for a fork of the third.
fn bill(entries: u64) -> [u64; 4] {
    let storage = Rc::new(SqlStorage::open(NativeDriver::in_memory().unwrap(), "test").unwrap());
    let mut runtime = LocalRuntime::virtual_clock(1_000, 7);
    let session = Session::open(storage.clone(), runtime.host(), SessionOptions::default());
    let counted = runtime.run(async move {
        let at = write(&session, entries).await;
        let mut parent = ROOT;
        let mut rows = [0; 4];
        for (n, bill) in rows.iter_mut().enumerate() {
            let before = storage.driver().rows_written();
            let child = session.commit(async move |tx: Tx| {
                let child = tx
                    .fork_conversation(parent, at, ConversationOwnership::Ownerless)
                    .await?;
                Ok::<_, SessionError>(child.id)
            });
            let child = child.await.unwrap();
            *bill = storage.driver().rows_written() - before;
            if n == 2 {
                parent = child;
            }
            let query = EntryQuery {
                conversation_id: child,
                min_entry_id: None,
                max_entry_id: None,
                order: Some(ScanOrder::Descending),
            };
            let newest = session.scan_entries(&query, 1, None).await.unwrap();
            assert_eq!(newest.items.first().map(|entry| entry.id), Some(at));
            let then = session.snapshot(&THEN, child).await.unwrap();
            assert_eq!(then, Some(json!({ "n": entries })), "as of the middle");
        }
        rows
    });
    counted.expect("the test must not wait for ever")
}

#[test]
fn a_fork_of_ten_thousand_entries_is_billed_like_one_of_ten() {
    let [small, large] = [10, 10_000].map(bill);
    println!("rows of a fork: {small:?} in a short conversation, {large:?} in a long one");
    assert!(small.iter().all(|rows| *rows > 0));
    // A mark for a block of ids falls into one fork or another.
    let sum = |rows: [u64; 4]| rows.iter().sum::<u64>();
    assert!(sum(large) <= sum(small) + 2, "{large:?} against {small:?}");
    assert!(large.iter().all(|rows| *rows <= 8), "{large:?}");
}
