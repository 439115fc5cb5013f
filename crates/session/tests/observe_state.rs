//! Document states (spec 9.1).
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
use support::{Bench, NOTES, OWN, append, bench, root, set};
use tidehold_delta::{Json, apply_batch, json};
use tidehold_session::documents::{ConversationDoc, ConversationFamily, DocFamilyToken, DocToken};
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::observe::{Delivery, DeliveryKind, DocumentState};
use tidehold_session::publication::DocumentChangeKind;
use tidehold_session::{SessionError, Tx};
use tidehold_storage::fault::CommitFault;

const AT: tidehold_session::ids::ConversationId = ROOT_CONVERSATION_ID;

static MEMBERS: ConversationFamily =
    DocFamilyToken::of_conversation("test.members", 1, OWN, |seed| json!({ "seed": seed.clone() }));

/// As `NOTES` was read from its second version on.
static NOTES_2: ConversationDoc = DocToken::of_conversation("test.notes", 2, OWN, Json::empty_object)
    .migrate(|value, _| Ok(json!({ "was": value })));

/// A second version that changes nothing.
static NOTES_SAME: ConversationDoc =
    DocToken::of_conversation("test.notes", 2, OWN, Json::empty_object).migrate(|value, _| Ok(value));

type Log = Rc<RefCell<Vec<Delivery>>>;

fn subscribe(state: &DocumentState) -> (Log, tidehold_session::observe::StateSubscription) {
    let log: Log = Rc::default();
    let seen = Rc::clone(&log);
    let subscription = state.subscribe(move |delivery| seen.borrow_mut().push(delivery.clone()));
    (log, subscription)
}

fn sequences(log: &Log) -> Vec<u64> {
    log.borrow().iter().map(|delivery| delivery.sequence).collect()
}

async fn state_of(bench: &Bench, token: &'static ConversationDoc) -> DocumentState {
    bench.session.document_state(token, AT).await.unwrap().unwrap()
}

#[test]
fn a_state_is_hydrated_at_once_and_delivers_every_commit_in_sequence() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let published: Rc<RefCell<Vec<_>>> = Rc::default();
        let ops = Rc::clone(&published);
        let _commits = session.subscribe_commits(move |publication| {
            for change in &publication.documents {
                if let DocumentChangeKind::Changed { ops: all, .. } = &change.kind {
                    ops.borrow_mut().push(Rc::clone(all));
                }
            }
        });
        let state = state_of(&bench, &NOTES).await;
        let snapshot = session.snapshot(&NOTES, AT).await.unwrap().unwrap();
        assert!(state.value().same(&snapshot));
        let (log, _subscription) = subscribe(&state);
        assert_eq!(
            log.borrow()[0].to_json(),
            json!({ "sequence": 0, "ops": [["r", { "a": 1 }]] })
        );
        set(session, &NOTES, "a", 2).await.unwrap();
        set(session, &NOTES, "b", 3).await.unwrap();
        // The value is there at once, the calls come later.
        assert_eq!((state.value(), state.sequence()), (json!({ "a": 2, "b": 3 }), 2));
        assert_eq!(sequences(&log), [0]);
        bench.turn().await;
        assert_eq!(sequences(&log), [0, 1, 2]);
        let kinds: Vec<_> = log.borrow().iter().map(|delivery| delivery.kind).collect();
        use DeliveryKind::{Hydrate, Update};
        assert_eq!(kinds, [Hydrate, Update, Update]);
        let snapshot = session.snapshot(&NOTES, AT).await.unwrap().unwrap();
        assert!(
            log.borrow()[2].value.same(&snapshot),
            "the same value, not its equal"
        );
        for (delivery, ops) in log.borrow()[1..].iter().zip(published.borrow().iter()) {
            assert!(Rc::ptr_eq(&delivery.ops, ops), "the same operations");
        }
    });
}

#[test]
fn absent_documents_have_no_state_and_none_is_made() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        let published = Rc::new(RefCell::new(0));
        let count = Rc::clone(&published);
        let _commits = session.subscribe_commits(move |_| *count.borrow_mut() += 1);
        bench.storage.allow_mints(Some(0));
        bench.storage.allow_commits(Some(0), CommitFault::Before);
        let entry = tidehold_session::ids::EntryId(99);
        assert!(session.document_state(&NOTES, AT).await.unwrap().is_none());
        assert!(
            session
                .document_state(&MEMBERS, (AT, "k"))
                .await
                .unwrap()
                .is_none()
        );
        assert!(session.watch_doc(&NOTES, AT).await.unwrap().is_none());
        assert!(session.watch_doc(&MEMBERS, (AT, "k")).await.unwrap().is_none());
        assert!(session.snapshot(&NOTES, AT).await.unwrap().is_none());
        assert!(session.snapshot_as_of(&NOTES, AT, entry).await.is_err());
        assert_eq!(*published.borrow(), 0);
        assert!(session.health().is_ok(), "nothing was minted or committed");
    });
}

#[test]
fn late_subscribers_get_what_they_missed_once_also_from_inside_a_call() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = Rc::new(state_of(&bench, &NOTES).await);
        let inner: Rc<RefCell<Vec<_>>> = Rc::default();
        let nested = Rc::clone(&inner);
        let again = Rc::clone(&state);
        let _outer = state.subscribe(move |delivery| {
            if delivery.sequence == 1 {
                nested.borrow_mut().push(subscribe(&again));
            }
        });
        set(session, &NOTES, "a", 2).await.unwrap();
        set(session, &NOTES, "a", 3).await.unwrap();
        let (between, _between) = subscribe(&state);
        bench.turn().await;
        set(session, &NOTES, "a", 4).await.unwrap();
        bench.turn().await;
        assert_eq!(sequences(&between), [2, 3]);
        assert_eq!(between.borrow()[0].value, json!({ "a": 3 }));
        // Subscribed in the call for frame 1, when frame 2 was there already.
        assert_eq!(sequences(&inner.borrow()[0].0), [2, 3]);
        inner.borrow_mut().clear();
    });
}

#[test]
fn retirement_is_null_and_a_later_incarnation_is_not_followed() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = state_of(&bench, &NOTES).await;
        let (log, _subscription) = subscribe(&state);
        // Its final content is published before it goes.
        session
            .commit(async |tx: Tx| {
                tx.doc(&NOTES, AT).await?.at("a").set(2_u64)?;
                tx.retire_doc(&NOTES, AT).await?;
                tx.doc(&NOTES, AT).await?.at("new").set(1_u64)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        set(session, &NOTES, "new", 2).await.unwrap();
        bench.turn().await;
        assert_eq!(state.value(), Json::Null);
        let frames: Vec<Json> = log.borrow().iter().map(Delivery::to_json).collect();
        assert_eq!(
            frames[1..],
            [
                json!({ "sequence": 1, "ops": [["s", ["a"], 2]] }),
                json!({ "sequence": 2, "ops": [["r", null]] }),
            ]
        );
        let (late, _late) = subscribe(&state);
        assert_eq!(late.borrow()[0].value, Json::Null);
        let recreated = state_of(&bench, &NOTES).await;
        assert_eq!(
            (recreated.value(), recreated.sequence()),
            (json!({ "new": 2 }), 0)
        );
    });
}

#[test]
fn states_and_subscribers_are_disposed_of_one_by_one() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let (first, second) = (state_of(&bench, &NOTES).await, state_of(&bench, &NOTES).await);
        let (one, _one) = subscribe(&first);
        let (two, two_gone) = subscribe(&second);
        let (three, _three) = subscribe(&second);
        first.dispose();
        first.dispose();
        drop(two_gone);
        set(session, &NOTES, "a", 2).await.unwrap();
        bench.turn().await;
        assert_eq!(first.value(), json!({ "a": 1 }), "it keeps what it had");
        assert_eq!(sequences(&one), [0]);
        assert_eq!(sequences(&two), [0]);
        assert_eq!(sequences(&three), [0, 1]);
        // Disposed of with a frame on its way.
        set(session, &NOTES, "a", 3).await.unwrap();
        drop(second);
        bench.turn().await;
        assert_eq!(sequences(&three), [0, 1]);
    });
}

#[test]
fn a_subscriber_that_panics_is_reported_and_hinders_nobody() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = state_of(&bench, &NOTES).await;
        let _broken = state.subscribe(|delivery| assert_eq!(delivery.sequence, 0, "no more"));
        let (log, _subscription) = subscribe(&state);
        set(session, &NOTES, "a", 2).await.unwrap();
        set(session, &NOTES, "a", 3).await.unwrap();
        bench.turn().await;
        assert_eq!(sequences(&log), [0, 1, 2]);
        let reports = bench.reports();
        assert_eq!(reports.len(), 2);
        assert!(reports[0].starts_with("a subscriber of document test.notes panicked:"));
        // In the first call it is the caller's own, and nobody stays subscribed.
        let first = std::panic::AssertUnwindSafe(|| state.subscribe(|_| panic!("at once")));
        assert!(std::panic::catch_unwind(first).is_err());
        set(session, &NOTES, "a", 4).await.unwrap();
        bench.turn().await;
        assert_eq!(bench.reports().len(), 3, "the first one only");
        append(session, "goes on").await.unwrap();
    });
}

#[test]
fn a_commit_made_in_the_first_call_comes_as_an_update() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = state_of(&bench, &NOTES).await;
        let log: Log = Rc::default();
        let (seen, committing) = (Rc::clone(&log), session.clone());
        let _subscription = state.subscribe(move |delivery| {
            if delivery.sequence == 0 {
                let committed = set(&committing, &NOTES, "a", 2).now_or_never();
                committed.expect("the line is idle").unwrap();
            }
            seen.borrow_mut().push(delivery.clone());
        });
        bench.turn().await;
        assert_eq!(sequences(&log), [0, 1]);
    });
}

#[test]
fn a_close_and_a_failure_leave_the_last_value_and_no_frame_of_what_settles_later() {
    for fails in [false, true] {
        bench(async move |bench: Bench| {
            let session = &bench.session;
            root(session).await;
            set(session, &NOTES, "a", 1).await.unwrap();
            let state = state_of(&bench, &NOTES).await;
            let (log, _subscription) = subscribe(&state);
            let held = bench.storage.hold_commits();
            let mut late = Box::pin(set(session, &NOTES, "a", 2));
            assert!((&mut late).now_or_never().is_none());
            let mut closing = session.close();
            if fails {
                session.fail("the test says so".to_owned());
            } else {
                assert!((&mut closing).now_or_never().is_none());
            }
            drop(held);
            assert_eq!(late.await.is_err(), fails);
            assert_eq!(closing.await.is_err(), fails);
            bench.turn().await;
            assert_eq!((state.value(), state.sequence()), (json!({ "a": 1 }), 0));
            assert_eq!(sequences(&log), [0]);
            // What settled before the seal is committed.
            let stored = bench.storage.inner().reopen();
            assert!(
                tidehold_session::storage::Storage::head(&stored)
                    .await
                    .unwrap()
                    .is_some()
            );
        });
    }
}

#[test]
fn a_frame_published_before_the_seal_is_still_delivered() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = state_of(&bench, &NOTES).await;
        let (log, _subscription) = subscribe(&state);
        set(session, &NOTES, "a", 2).await.unwrap();
        session.close().await.unwrap();
        bench.turn().await;
        assert_eq!(sequences(&log), [0, 1]);
    });
}

#[test]
fn acquisitions_queued_at_the_seal_find_absence_and_refuse_what_exists() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let held = bench.storage.hold_commits();
        let mut slow = Box::pin(append(session, "slow"));
        assert!((&mut slow).now_or_never().is_none());
        let mut state = session.document_state(&NOTES, AT);
        let mut watch = session.watch_doc(&NOTES, AT);
        let mut no_state = session.document_state(&MEMBERS, (AT, "k"));
        let mut no_watch = session.watch_doc(&MEMBERS, (AT, "k"));
        assert!((&mut state).now_or_never().is_none());
        assert!((&mut watch).now_or_never().is_none());
        assert!((&mut no_state).now_or_never().is_none());
        assert!((&mut no_watch).now_or_never().is_none());
        let mut closing = session.close();
        assert!((&mut closing).now_or_never().is_none());
        drop(held);
        closing.await.unwrap();
        slow.await.unwrap();
        assert!(matches!(state.await, Err(SessionError::Closed)));
        assert!(matches!(watch.await, Err(SessionError::Closed)));
        assert!(matches!(no_state.await, Ok(None)));
        assert!(matches!(no_watch.await, Ok(None)));
        // And after it nothing is asked at all.
        let absent = session.document_state(&MEMBERS, (AT, "k")).await;
        assert!(matches!(absent, Err(SessionError::Closed)));
    });
}

#[test]
fn families_are_observed_by_member() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        session
            .commit(async |tx: Tx| {
                tx.member(&MEMBERS, (AT, "a"), json!(1)).await?;
                tx.member(&MEMBERS, (AT, "b"), json!(2)).await.map(drop)
            })
            .await
            .unwrap();
        let state = session
            .document_state(&MEMBERS, (AT, "b"))
            .await
            .unwrap()
            .unwrap();
        session
            .commit(async |tx: Tx| {
                tx.member(&MEMBERS, (AT, "a"), json!(0))
                    .await?
                    .at("n")
                    .set(7_u64)?;
                Ok::<_, SessionError>(())
            })
            .await
            .unwrap();
        assert_eq!((state.value(), state.sequence()), (json!({ "seed": 2 }), 0));
    });
}

#[test]
fn a_new_version_replaces_the_value_of_who_read_the_old_one() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let (old, new) = (state_of(&bench, &NOTES).await, state_of(&bench, &NOTES_2).await);
        assert_eq!(new.value(), json!({ "was": { "a": 1 } }), "migrated in memory");
        let (old_log, _old) = subscribe(&old);
        let (new_log, _new) = subscribe(&new);
        // The version's base alone: equal to what the new one shows.
        session
            .commit(async |tx: Tx| tx.doc(&NOTES_2, AT).await.map(drop))
            .await
            .unwrap();
        set(session, &NOTES_2, "b", 2).await.unwrap();
        bench.turn().await;
        let frames = |log: &Log| -> Vec<Json> { log.borrow().iter().map(Delivery::to_json).collect() };
        assert_eq!(
            frames(&old_log)[1..],
            [
                json!({ "sequence": 1, "ops": [["r", { "was": { "a": 1 } }]] }),
                json!({ "sequence": 2, "ops": [["s", ["b"], 2]] }),
            ]
        );
        assert_eq!(
            frames(&new_log)[1..],
            [json!({ "sequence": 1, "ops": [["s", ["b"], 2]] })]
        );
    });
}

#[test]
fn a_new_version_with_the_equal_value_is_no_news_to_who_read_it_in_that_version() {
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let (state, watch) = (
            state_of(&bench, &NOTES_SAME).await,
            session.watch_doc(&NOTES_SAME, AT).await.unwrap().unwrap(),
        );
        let published = Rc::new(RefCell::new(0));
        let count = Rc::clone(&published);
        let _commits = session.subscribe_commits(move |publication| {
            *count.borrow_mut() += publication.documents.len();
        });
        let heard = Rc::new(RefCell::new(0));
        let calls = Rc::clone(&heard);
        watch
            .start(async move |_| {
                *calls.borrow_mut() += 1;
                Ok::<_, SessionError>(())
            })
            .unwrap();
        session
            .commit(async |tx: Tx| tx.doc(&NOTES_SAME, AT).await.map(drop))
            .await
            .unwrap();
        bench.turn().await;
        assert_eq!(*published.borrow(), 1, "the base was written");
        assert_eq!((state.sequence(), *heard.borrow()), (0, 0));
    });
}

/// A document that another version of its definition read meanwhile, whose migration is tried anew.
#[test]
fn frames_fit_the_value_of_their_observer_however_often_it_was_migrated() {
    static NOTES_3: ConversationDoc = DocToken::of_conversation("test.notes", 3, OWN, Json::empty_object)
        .migrate(|value, from| Ok(json!({ "third": value, "from": from })));
    bench(async |bench: Bench| {
        let session = &bench.session;
        root(session).await;
        set(session, &NOTES, "a", 1).await.unwrap();
        let state = state_of(&bench, &NOTES_2).await;
        let (log, _subscription) = subscribe(&state);
        session.snapshot(&NOTES_3, AT).await.unwrap();
        set(session, &NOTES_2, "b", 1).await.unwrap();
        set(session, &NOTES_3, "c", 1).await.unwrap();
        bench.turn().await;
        let mut replica = None;
        for delivery in log.borrow().iter() {
            let frame = delivery.to_json();
            replica = Some(apply_batch(replica.as_ref(), frame.get("ops").unwrap()).unwrap());
            assert_eq!(replica.as_ref(), Some(&delivery.value));
        }
        assert_eq!(sequences(&log), [0, 1, 2]);
        assert_eq!(replica.unwrap(), state.value());
    });
}
