//! Admission, boundaries and withdrawal (spec 6).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use support::{Bench, input, input_when, reason, status, write};
use tidehold_delta::Json;
use tidehold_harness::HarnessError;
use tidehold_harness::agent::AgentChange;
use tidehold_harness::entries::InputEntry;
use tidehold_harness::submissions::{AbortOutcome, InputDraft, SubmissionDraft, WhenBusy};
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID};
use tidehold_session::records::{ContextEdit, ContextEditAction, DraftHead, EntryDraft};
use tidehold_tasks::AbortScope;

const SLOW: &str = "@pace 100\n@repeat 10 busy";

fn user_write(text: &str) -> EntryDraft {
    let message = Json::object([
        ("role", Json::from("user")),
        ("content", Json::from(text)),
        ("timestamp", Json::from(1_u64)),
    ]);
    EntryDraft::of_messages("app.note", vec![message])
}

fn display(text: &str) -> EntryDraft {
    EntryDraft {
        kind: "app.note".into(),
        data: Some(Json::from(text)),
        ..EntryDraft::default()
    }
}

impl Submit for Bench {}

trait Submit {
    fn admit(
        &mut self,
        draft: SubmissionDraft,
    ) -> Result<tidehold_session::records::SubmissionRecord, HarnessError>
    where
        Self: AsMut<Bench>,
    {
        self.as_mut()
            .run(async move |harness| harness.submit(ROOT_CONVERSATION_ID, draft).await)
    }
}

impl AsMut<Bench> for Bench {
    fn as_mut(&mut self) -> &mut Bench {
        self
    }
}

#[test]
fn follow_ups_wait_for_the_answer_and_run_in_order() {
    let mut bench = Bench::new();
    let ids = [
        bench.submit(SLOW).id,
        bench.submit("second").id,
        bench.submit("third").id,
    ];
    bench.drain();
    for id in ids {
        assert_eq!(status(&bench.submission(id)), "done");
    }
    let users: Vec<_> = bench
        .transcript()
        .into_iter()
        .filter(|line| line.starts_with("pi.user"))
        .collect();
    assert_eq!(
        users,
        [
            format!("pi.user: {SLOW}"),
            "pi.user: second".into(),
            "pi.user: third".into()
        ]
    );
}

#[test]
fn a_steer_comes_before_a_follow_up_queued_earlier() {
    let mut bench = Bench::new();
    bench.submit("@pace 100\n@say looking \n@call x {}\n---\n@say steered");
    bench.admit(input("follow")).unwrap();
    bench.admit(input_when("steer", WhenBusy::Steer, None)).unwrap();
    bench.drain();
    let transcript = bench.transcript();
    let at = |text: &str| {
        transcript
            .iter()
            .position(|line| line == text)
            .unwrap_or_else(|| panic!("{transcript:?}"))
    };
    assert!(at("pi.user: steer") < at("pi.user: follow"));
}

#[test]
fn a_busy_conversation_rejects_when_asked_to_and_writes_nothing() {
    let mut bench = Bench::new();
    bench.submit(SLOW);
    let rejected = bench.admit(input_when("no", WhenBusy::Reject, Some("r")));
    assert!(matches!(rejected, Err(HarnessError::ConversationBusy(_))));
    bench.drain();
    assert_eq!(
        status(&tidehold_harness::view::submission(
            &bench
                .admit(input_when("no", WhenBusy::Reject, Some("r")))
                .unwrap()
        )),
        "placed"
    );
}

#[test]
fn a_request_id_finds_its_submission_or_conflicts() {
    let mut bench = Bench::new();
    let first = bench
        .admit(input_when("same", WhenBusy::FollowUp, Some("r1")))
        .unwrap();
    let again = bench
        .admit(input_when("same", WhenBusy::FollowUp, Some("r1")))
        .unwrap();
    assert_eq!(first.id, again.id);
    let other = bench.admit(input_when("other", WhenBusy::FollowUp, Some("r1")));
    assert!(matches!(other, Err(HarnessError::RequestConflict(_))));
    let SubmissionDraft::Write(mut passive) = write(display("x")) else {
        unreachable!()
    };
    passive.request_id = Some("r1".into());
    let other_type = bench.admit(SubmissionDraft::Write(passive));
    assert!(matches!(other_type, Err(HarnessError::RequestConflict(_))));
    bench.drain();
    let settled = bench
        .admit(input_when("same", WhenBusy::FollowUp, Some("r1")))
        .unwrap();
    assert_eq!(settled.id, first.id);
    assert_eq!(bench.transcript().len(), 2);
}

#[test]
fn two_hundred_submissions_with_ten_request_ids_are_ten() {
    let mut bench = Bench::new();
    let ids = bench.run(async |harness| {
        let all = (0..200).map(|n| {
            let harness = harness.clone();
            async move {
                let request = format!("request-{}", n % 10);
                let draft = input_when(&request, WhenBusy::FollowUp, Some(&request));
                harness
                    .submit(ROOT_CONVERSATION_ID, draft)
                    .await
                    .map(|record| record.id)
            }
        });
        futures::future::join_all(all).await
    });
    let mut ids: Vec<_> = ids.into_iter().map(Result::unwrap).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 10);
    bench.drain();
    assert_eq!(bench.transcript().len(), 20);
}

#[test]
fn display_only_writes_are_placed_at_once_even_while_busy() {
    let mut bench = Bench::new();
    bench.submit(SLOW);
    let done = bench.admit(write(display("shown"))).unwrap();
    assert_eq!(status(&tidehold_harness::view::submission(&done)), "done");
    let queued = bench.admit(write(user_write("context"))).unwrap();
    assert_eq!(status(&bench.submission(queued.id)), "queued");
    bench.drain();
    assert_eq!(status(&bench.submission(queued.id)), "done");
    assert_eq!(bench.transcript()[1], "app.note: \"shown\"");
    assert_eq!(
        bench.transcript()[3],
        "app.note: context",
        "other writes wait for the boundary"
    );
}

#[test]
fn a_write_never_starts_a_run() {
    let mut bench = Bench::new();
    bench.admit(write(user_write("quiet"))).unwrap();
    bench.drain();
    assert_eq!(bench.transcript(), ["app.note: quiet"]);
}

#[test]
fn failed_runs_leave_the_inbox_until_the_next_input() {
    let mut bench = Bench::new();
    let failing = bench.submit("@pace 50\n@say a \n@say b \n@fail 400 no").id;
    let waiting = bench.submit("waiting").id;
    bench.drain();
    assert_eq!(reason(&bench.submission(failing)), "model_error");
    assert_eq!(status(&bench.submission(waiting)), "queued");
    let next = bench.submit("next").id;
    bench.drain();
    assert_eq!(status(&bench.submission(waiting)), "done");
    assert_eq!(status(&bench.submission(next)), "done");
    let users: Vec<_> = bench
        .transcript()
        .into_iter()
        .filter(|line| line.starts_with("pi.user"))
        .collect();
    assert_eq!(users[1..], ["pi.user: waiting", "pi.user: next"]);
}

#[test]
fn only_queued_submissions_can_be_withdrawn() {
    let mut bench = Bench::new();
    let placed = bench.submit(SLOW).id;
    let queued = bench.submit("queued").id;
    let abort = |bench: &mut Bench, id| {
        bench
            .run(async move |harness| harness.abort_submission(id).await)
            .unwrap()
    };
    assert_eq!(abort(&mut bench, placed), Some(AbortOutcome::AlreadyPlaced));
    assert_eq!(abort(&mut bench, queued), Some(AbortOutcome::Aborted));
    assert_eq!(abort(&mut bench, queued), Some(AbortOutcome::Settled));
    assert_eq!(abort(&mut bench, tidehold_session::ids::SubmissionId(9999)), None);
    bench.drain();
    assert_eq!(reason(&bench.submission(queued)), "aborted");
    assert_eq!(bench.transcript().len(), 2);
}

#[test]
fn what_no_conversation_can_admit_is_refused_and_leaves_no_root() {
    let mut bench = Bench::new();
    let refused = |bench: &mut Bench, draft| match bench.admit(draft) {
        Err(HarnessError::Invalid { path, .. }) => path.to_string(),
        other => panic!("{other:?}"),
    };
    let kind = |kind: &str| EntryDraft {
        kind: kind.into(),
        ..EntryDraft::default()
    };
    assert_eq!(refused(&mut bench, write(kind(""))), "entry.kind");
    assert_eq!(refused(&mut bench, write(kind("pi.user"))), "entry.kind");
    // What the model layer cannot read would fail every later request.
    let unreadable = || vec![Json::object([("role", Json::from("user"))])];
    let model = EntryDraft {
        model: Some(unreadable()),
        ..kind("note")
    };
    assert_eq!(refused(&mut bench, write(model)), "entry.model");
    let replacing = EntryDraft {
        edits: Some(vec![ContextEdit {
            target: EntryId(77),
            action: ContextEditAction::Replace {
                messages: unreadable(),
            },
        }]),
        ..kind("note")
    };
    assert_eq!(refused(&mut bench, write(replacing)), "entry.edits");
    let head = EntryDraft {
        head: Some(DraftHead::Entry(EntryId(77))),
        ..user_write("x")
    };
    assert_eq!(refused(&mut bench, write(head.clone())), "entry.head");
    let content = SubmissionDraft::Input(InputDraft {
        request_id: None,
        content: Json::from(1_u64),
        when_busy: WhenBusy::FollowUp,
        entry: None,
    });
    assert_eq!(refused(&mut bench, content), "content");
    let root = bench
        .run(async |harness| harness.conversation(ROOT_CONVERSATION_ID).await)
        .unwrap();
    assert_eq!(root, None);
    bench.submit("now");
    assert_eq!(refused(&mut bench, write(head)), "entry.head");
    let unknown = bench.run(async |harness| harness.submit(ConversationId(4711), input("x")).await);
    assert!(matches!(unknown, Err(HarnessError::UnknownConversation(_))));
}

#[test]
fn a_queued_reset_ends_the_range_and_stale_heads_are_dropped() {
    let mut bench = Bench::new();
    bench.settle("before");
    let before = EntryId(bench.entries()[0].get("id").unwrap().as_u64().unwrap());
    bench.submit(SLOW);
    let reset = EntryDraft {
        head: Some(DraftHead::Itself),
        ..user_write("handoff")
    };
    let reset = bench.admit(write(reset)).unwrap();
    let stale = bench
        .admit(write(EntryDraft {
            head: Some(DraftHead::Entry(before)),
            ..user_write("old")
        }))
        .unwrap();
    bench.drain();
    assert_eq!(status(&bench.submission(reset.id)), "done");
    assert_eq!(reason(&bench.submission(stale.id)), "stale");
    let context = bench
        .run(async |harness| harness.context(ROOT_CONVERSATION_ID, None).await)
        .unwrap();
    assert_eq!(context.messages.len(), 1);
}

#[test]
fn an_input_entry_keeps_its_kind_and_data_through_the_queue() {
    let mut bench = Bench::new();
    let entry = || {
        Some(InputEntry {
            kind: "app.input".into(),
            data: Some(Json::from(5_u64)),
        })
    };
    let draft = |text: &str| {
        SubmissionDraft::Input(InputDraft {
            request_id: None,
            content: Json::from(text),
            when_busy: WhenBusy::FollowUp,
            entry: entry(),
        })
    };
    bench.admit(draft(SLOW)).unwrap();
    bench.admit(draft("queued")).unwrap();
    bench.drain();
    let kinds: Vec<_> = bench
        .entries()
        .iter()
        .map(|it| it.get("kind").unwrap().as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["app.input", "pi.assistant", "app.input", "pi.assistant"]);
    assert_eq!(bench.entries()[2].get("data"), Some(&Json::from(5_u64)));
}

#[test]
fn every_write_that_names_the_root_creates_it() {
    let mut bench = Bench::new();
    let reset = bench.run(async |harness| harness.reset(ROOT_CONVERSATION_ID, Some("start here")).await);
    assert!(reset.is_ok(), "{reset:?}");
    assert_eq!(bench.transcript(), ["pi.reset: start here"]);

    let mut bench = Bench::new();
    let abort = bench.run(async |harness| {
        harness
            .abort_conversation(ROOT_CONVERSATION_ID, AbortScope::Everything)
            .await
    });
    assert!(abort.is_ok(), "{abort:?}");
    let root = bench.run(async |harness| harness.conversation(ROOT_CONVERSATION_ID).await);
    assert!(root.unwrap().is_some());
    assert_eq!(status(&bench.settle("@say on")), "done");
}

#[test]
fn a_change_of_an_agent_names_the_member_that_does_not_fit() {
    let refused = |text: &str| {
        let body = Json::parse(text, 8).unwrap();
        match AgentChange::from_request(&body) {
            Err(HarnessError::Invalid { path, .. }) => path.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(r#"{"modle": "scripted/echo"}"#), "modle");
    assert_eq!(refused(r#"{"model": "echo"}"#), "model");
    assert_eq!(refused(r#"{"tools": 1}"#), "tools");
    assert_eq!(refused(r#"{"cwd": 1}"#), "cwd");
}
