use super::channels::{MAX_IDLE_CHANNELS, MAX_RECENT_BYTES};
use super::*;
use futures::FutureExt;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::records::{ConversationOwnership, EntryDraft};
use tidehold_session::{SessionOptions, Tx};
use tidehold_storage::memory::MemoryStorage;

/// A session with `count` conversations, and its hub.
async fn conversations(session: Session, count: usize) -> (Rc<EventHub>, Vec<ConversationId>) {
    let hub = EventHub::new(&session);
    let created = session.commit::<_, SessionError, _>(async move |tx: Tx| {
        let mut ids = vec![tx.create_root().await?.id];
        while ids.len() < count {
            ids.push(tx.create_conversation(ConversationOwnership::Ownerless).await?.id);
        }
        Ok(ids)
    });
    let ids = created.await.expect("created");
    (hub, ids)
}

/// A commit with one entry of `bytes` bytes.
async fn append(session: &Session, conversation: ConversationId, bytes: usize) {
    let appended = session.commit::<_, SessionError, _>(async move |tx: Tx| {
        let entry = EntryDraft {
            kind: "test".into(),
            data: Some(Json::from("x".repeat(bytes))),
            ..EntryDraft::default()
        };
        tx.append_entry(conversation, entry).await
    });
    appended.await.expect("appended");
}

/// Runs a test on a session of its own.
fn check<F: Future<Output = ()> + 'static>(test: impl FnOnce(Session) -> F) {
    let mut runtime = LocalRuntime::virtual_clock(1_000, 1);
    let storage = Rc::new(MemoryStorage::new("incarnation"));
    let session = Session::open(storage, runtime.host(), SessionOptions::default());
    runtime.run(test(session)).expect("the test ends");
}

async fn attach(hub: &Rc<EventHub>, conversation: ConversationId, after: Option<Seq>) -> EventReader {
    hub.attach(conversation, after).await.expect("attached")
}

#[test]
fn a_poll_leaves_nothing_behind() {
    check(async |session| {
        let (hub, ids) = conversations(session.clone(), 3).await;
        for conversation in ids.iter().cycle().take(100) {
            let (seq, value) = hub.snapshot(*conversation).await.expect("read");
            assert_eq!(Some(seq), hub.head().await.expect("known"));
            assert!(value.get("entries").is_some());
        }
        assert_eq!(hub.channels.borrow().held(), (0, 0, 0));
    });
}

#[test]
fn a_reader_that_leaves_a_quiet_conversation_is_forgotten() {
    check(async |session| {
        let (hub, ids) = conversations(session.clone(), 1).await;
        let root = ids[0];
        for _ in 0..100 {
            let mut reader = attach(&hub, root, None).await;
            assert!(matches!(reader.next().await, Frame::Snapshot { .. }));
        }
        assert_eq!(hub.channels.borrow().held(), (1, 0, 0));
        // One that leaves while it waits, beside one that stays.
        let mut stays = attach(&hub, root, None).await;
        stays.next().await;
        let mut leaves = attach(&hub, root, None).await;
        leaves.next().await;
        assert!(leaves.next().now_or_never().is_none());
        assert_eq!(hub.channels.borrow().held().1, 2);
        drop(leaves);
        assert_eq!(hub.channels.borrow().held().1, 1);
        append(&session, root, 10).await;
        assert!(matches!(stays.next().await, Frame::Batch { .. }));
    });
}

#[test]
fn conversations_that_nobody_reads_are_kept_in_small_numbers() {
    check(async |session| {
        let (hub, ids) = conversations(session.clone(), 3 * MAX_IDLE_CHANNELS).await;
        let head = hub.head().await.expect("known");
        for conversation in &ids {
            drop(attach(&hub, *conversation, None).await);
        }
        assert_eq!(hub.channels.borrow().held(), (MAX_IDLE_CHANNELS, 0, 0));
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        append(&session, first, 10).await;
        append(&session, last, 10).await;
        // The one left last comes back to what it missed, the one left first to a snapshot.
        assert!(matches!(
            attach(&hub, last, head).await.next().await,
            Frame::Batch { .. }
        ));
        assert!(matches!(
            attach(&hub, first, head).await.next().await,
            Frame::Snapshot { .. }
        ));
        // Those that are read are kept beside them, however many.
        let mut readers = Vec::new();
        for conversation in &ids {
            readers.push(attach(&hub, *conversation, None).await);
        }
        assert_eq!(
            hub.channels.borrow().held(),
            (ids.len(), ids.len(), hub.channels.borrow().held().2)
        );
        drop(readers);
        assert_eq!(hub.channels.borrow().held().0, MAX_IDLE_CHANNELS);
    });
}

#[test]
fn recent_batches_of_all_conversations_have_one_bound() {
    check(async |session| {
        let (hub, ids) = conversations(session.clone(), 12).await;
        let head = hub.head().await.expect("known");
        let (idle, read) = ids.split_at(6);
        for conversation in idle {
            drop(attach(&hub, *conversation, None).await);
        }
        let mut readers = Vec::new();
        for conversation in read {
            readers.push(attach(&hub, *conversation, head).await);
        }
        for conversation in ids.iter().cycle().take(24) {
            append(&session, *conversation, MAX_RECENT_BYTES / 9).await;
            assert!(hub.channels.borrow().held().2 <= MAX_RECENT_BYTES);
        }
        // What nobody reads went first; readers lost nothing that was in their own bounds.
        assert_eq!(hub.channels.borrow().held().0, read.len());
        for reader in &mut readers {
            assert!(matches!(reader.next().await, Frame::Batch { .. }));
            assert!(matches!(reader.next().await, Frame::Batch { .. }));
        }
        // Whoever attaches behind what was dropped gets a snapshot.
        assert!(matches!(
            attach(&hub, read[0], head).await.next().await,
            Frame::Snapshot { .. }
        ));
    });
}
