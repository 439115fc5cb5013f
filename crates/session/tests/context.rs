//! Reading contexts (spec 2.1): as of an entry, through forks, and continued after an append.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use support::{change, open, open_counted, root};
use tidehold_delta::{Json, json};
use tidehold_session::context::ContextView;
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID as ROOT};
use tidehold_session::limits::CONTEXT_BYTES;
use tidehold_session::records::{
    ContextEdit, ContextEditAction, ConversationOwnership, DraftHead, EntryDraft,
};
use tidehold_session::{Rejection, Session, SessionError};

fn said(text: &str) -> EntryDraft {
    let message = json!({ "role": "user", "content": text, "timestamp": 1 });
    EntryDraft::of_messages("message", vec![message])
}

async fn append(session: &Session, conversation: ConversationId, draft: EntryDraft) -> EntryId {
    change(session, async move |tx| {
        Ok(tx.append_entry(conversation, draft).await?.id)
    })
    .await
}

fn texts(view: &ContextView) -> Vec<&str> {
    let text = |message: &'_ Json| message.get("content").and_then(Json::as_str).map(str::len);
    assert!(view.messages.iter().all(|message| text(message).is_some()));
    view.messages
        .iter()
        .map(|message| message.get("content").and_then(Json::as_str).unwrap())
        .collect()
}

#[test]
fn a_read_after_an_append_reads_only_what_was_appended() {
    open_counted(async |session, storage| {
        root(&session).await;
        for n in 0..600_u64 {
            append(&session, ROOT, said(&format!("{n}"))).await;
        }
        assert_eq!(session.context(ROOT, None).await.unwrap().messages.len(), 600);
        let last = append(&session, ROOT, said("new")).await;
        // One page of the scan: anew it would be the marker and three.
        storage.allow_reads(Some(1));
        let view = session.context(ROOT, None).await.unwrap();
        assert_eq!((view.messages.len(), texts(&view)[600]), (601, "new"));
        storage.allow_reads(Some(0));
        let again = session.context(ROOT, Some(last)).await.unwrap();
        assert!(
            view.entries
                .iter()
                .zip(&again.entries)
                .all(|(a, b)| std::rc::Rc::ptr_eq(a, b))
        );
    });
}

#[test]
fn a_continued_context_is_the_one_derived_anew() {
    open_counted(async |session, storage| {
        root(&session).await;
        let anew = async || {
            let other = Session::open(storage.clone(), session.host().clone(), Default::default());
            other.context(ROOT, None).await.unwrap()
        };
        let mut ids = Vec::new();
        for n in 0..40_u64 {
            let mut draft = said(&format!("{n}"));
            match n % 13 {
                5 => draft.head = Some(DraftHead::Entry(ids[ids.len() / 2])),
                7 => draft.head = Some(DraftHead::Itself),
                9 => {
                    draft.edits = Some(vec![ContextEdit {
                        target: ids[ids.len() - 2],
                        action: ContextEditAction::Omit,
                    }]);
                }
                _ => {}
            }
            ids.push(append(&session, ROOT, draft).await);
            if n % 3 != 0 {
                assert_eq!(
                    session.context(ROOT, None).await.unwrap(),
                    anew().await,
                    "entry {n}"
                );
            }
        }
    });
}

#[test]
fn an_older_cutoff_leaves_the_kept_context_to_the_next_reader() {
    open_counted(async |session, storage| {
        root(&session).await;
        let first = append(&session, ROOT, said("a")).await;
        append(&session, ROOT, said("b")).await;
        let last = append(&session, ROOT, said("c")).await;
        assert_eq!(
            texts(&session.context(ROOT, None).await.unwrap()),
            ["a", "b", "c"]
        );
        assert_eq!(texts(&session.context(ROOT, Some(first)).await.unwrap()), ["a"]);
        storage.allow_reads(Some(0));
        let kept = session.context(ROOT, Some(last)).await.unwrap();
        assert_eq!(texts(&kept), ["a", "b", "c"]);
    });
}

#[test]
fn a_cutoff_that_is_not_visible_is_refused() {
    open(async |session| {
        root(&session).await;
        let first = append(&session, ROOT, said("a")).await;
        let child = change(&session, async move |tx| {
            Ok(tx
                .fork_conversation(ROOT, first, ConversationOwnership::Ownerless)
                .await?
                .id)
        })
        .await;
        let later = append(&session, ROOT, said("b")).await;
        for _ in 0..2 {
            let refused = session.context(child, Some(later)).await;
            assert!(
                matches!(
                    refused,
                    Err(SessionError::Rejected(Rejection::EntryNotVisible { entry, conversation }))
                        if (entry, conversation) == (later, child)
                ),
                "{refused:?}"
            );
            // Also with a context at hand that could be continued.
            assert_eq!(texts(&session.context(child, None).await.unwrap()), ["a"]);
        }
    });
}

#[test]
fn a_cutoff_and_a_fork_there_read_the_same() {
    open(async |session| {
        root(&session).await;
        append(&session, ROOT, said("a")).await;
        let mut marker = said("summary");
        marker.head = Some(DraftHead::Itself);
        append(&session, ROOT, marker).await;
        let at = append(&session, ROOT, said("b")).await;
        append(&session, ROOT, said("c")).await;
        let child = change(&session, async move |tx| {
            Ok(tx
                .fork_conversation(ROOT, at, ConversationOwnership::Ownerless)
                .await?
                .id)
        })
        .await;
        let cut = session.context(ROOT, Some(at)).await.unwrap();
        assert_eq!(texts(&cut), ["summary", "b"]);
        assert_eq!(session.context(child, None).await.unwrap(), cut);
        append(&session, child, said("d")).await;
        assert_eq!(
            texts(&session.context(child, None).await.unwrap()),
            ["summary", "b", "d"]
        );
    });
}

#[test]
fn what_is_kept_is_bounded_and_a_large_transcript_reads_all_the_same() {
    open_counted(async |session, storage| {
        root(&session).await;
        let large = "x".repeat(CONTEXT_BYTES / 4);
        for _ in 0..5 {
            append(&session, ROOT, said(&large)).await;
        }
        assert_eq!(session.context(ROOT, None).await.unwrap().messages.len(), 5);
        assert_eq!(session.context(ROOT, None).await.unwrap().messages.len(), 5);
        storage.allow_reads(Some(0));
        assert!(session.context(ROOT, None).await.is_err(), "nothing was kept");
    });
}

#[test]
fn a_closed_session_derives_nothing_and_a_read_under_way_is_answered() {
    open_counted(async |session, storage| {
        root(&session).await;
        for n in 0..300_u64 {
            append(&session, ROOT, said(&format!("{n}"))).await;
        }
        let last = append(&session, ROOT, said("last")).await;
        let held = storage.hold_reads();
        let reader = session.clone();
        let read = async { reader.context(ROOT, None).await.map(|view| view.messages.len()) };
        let closing = async {
            session.host().sleep_until(session.host().now() + 1).await;
            let close = session.close();
            // Kept or not: nothing is answered after the seal.
            let refused = session.context(ROOT, Some(last));
            drop(held);
            let (closed, refused) = futures::join!(close, refused);
            closed.unwrap();
            refused
        };
        let (read, refused) = futures::join!(read, closing);
        assert_eq!(read.unwrap(), 301);
        assert!(matches!(refused, Err(SessionError::Closed)), "{refused:?}");
    });
}
