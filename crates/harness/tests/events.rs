//! The event stream (spec 9.4): order, and that folding it equals a fresh snapshot.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failing test may panic"
)]

mod support;

use std::cell::RefCell;
use std::rc::Rc;
use support::{Bench, input, input_when};
use tidehold_delta::Json;
use tidehold_harness::events::hub::Frame;
use tidehold_harness::submissions::WhenBusy;
use tidehold_session::ids::{ROOT_CONVERSATION_ID, Seq};

/// A client that holds a snapshot and applies every event on top.
#[derive(Default)]
struct Fold {
    state: Vec<(String, Json)>,
}

impl Fold {
    fn get(&self, name: &str) -> Json {
        self.state
            .iter()
            .find(|(known, _)| known == name)
            .map_or(Json::Null, |(_, value)| value.clone())
    }

    fn set(&mut self, name: &str, value: Json) {
        self.state.retain(|(known, _)| known != name);
        if !value.is_null() {
            self.state.push((name.to_owned(), value));
        }
    }

    fn frame(&mut self, frame: &Frame) {
        match frame {
            Frame::Snapshot { value, .. } => {
                self.state = value
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(k, v)| (k.to_string(), v.clone()))
                    .collect();
            }
            Frame::Batch { events, .. } => events
                .as_array()
                .unwrap()
                .iter()
                .for_each(|event| self.event(event)),
            Frame::End { reason } => panic!("ended: {reason}"),
        }
    }

    fn event(&mut self, event: &Json) {
        let member = |name: &str| event.get(name).cloned().unwrap_or(Json::Null);
        match event.get("type").unwrap().as_str().unwrap() {
            "message_start" => self.open_message(member("message")),
            "message_update" => self.update_message(event),
            "message_end" => {
                self.push_entry(member("entry"));
                self.edit_generation(|generation| generation.retain(|(name, _)| name != "message"));
            }
            "entry_appended" => self.push_entry(member("entry")),
            "run_start" => self.set("run", Json::object([("inputs", member("inputs"))])),
            "run_end" => {
                self.set("run", Json::Null);
                self.set("generation", Json::Null);
            }
            "inbox_update" => self.set("inbox", member("items")),
            "agent_changed" => self.set("agent", member("agent")),
            "usage_changed" => self.set("usage", member("usage")),
            _ => {}
        }
    }

    fn edit_generation(&mut self, edit: impl FnOnce(&mut Vec<(String, Json)>)) {
        let Some(generation) = self.get("generation").as_object().cloned() else {
            return;
        };
        let mut members: Vec<_> = generation
            .iter()
            .map(|(k, v)| (k.to_string(), v.clone()))
            .collect();
        edit(&mut members);
        self.set(
            "generation",
            Json::object(
                members
                    .into_iter()
                    .map(|(k, v)| (k.into_boxed_str().into(), v))
                    .collect::<Vec<(tidehold_delta::Text, Json)>>(),
            ),
        );
    }

    fn open_message(&mut self, message: Json) {
        if message.get("stopReason").and_then(Json::as_str) == Some("pending") {
            if self.get("generation").is_null() {
                self.set("generation", Json::empty_object());
            }
            self.edit_generation(|generation| generation.push(("message".to_owned(), message)));
        }
    }

    fn update_message(&mut self, event: &Json) {
        let mut message = self
            .get("generation")
            .get("message")
            .cloned()
            .expect("an update follows a start");
        let set = |message: &Json, name: &str, value: Json| {
            let mut members = message.as_object().unwrap().clone();
            members.insert(name, value);
            Json::Object(members)
        };
        message = set(&message, "usage", event.get("usage").cloned().unwrap());
        for change in event.get("changes").unwrap().as_array().unwrap().iter() {
            let index = change.get("contentIndex").and_then(Json::as_u64).unwrap_or(0) as usize;
            let mut content: Vec<Json> = message
                .get("content")
                .unwrap()
                .as_array()
                .unwrap()
                .iter()
                .cloned()
                .collect();
            let append = |content: &mut Vec<Json>, name: &str| {
                let old = content[index].get(name).unwrap().as_str().unwrap().to_owned();
                let delta = change.get("delta").unwrap().as_str().unwrap();
                content[index] = set(&content[index], name, Json::from(old + delta));
            };
            match change.get("type").unwrap().as_str().unwrap() {
                "text_start" | "thinking_start" | "toolcall_start" => {
                    assert_eq!(content.len(), index);
                    content.push(change.get("block").cloned().unwrap());
                }
                "text_delta" => append(&mut content, "text"),
                "thinking_delta" => append(&mut content, "thinking"),
                "block" => content[index] = change.get("block").cloned().unwrap(),
                "message" => {
                    message = change.get("message").cloned().unwrap();
                    continue;
                }
                other => panic!("{other}"),
            }
            message = set(&message, "content", Json::array(content));
        }
        self.edit_generation(|generation| {
            generation.retain(|(name, _)| name != "message");
            generation.push(("message".to_owned(), message));
        });
    }

    fn push_entry(&mut self, entry: Json) {
        let mut entries: Vec<Json> = self.get("entries").as_array().unwrap().iter().cloned().collect();
        entries.push(entry);
        self.set("entries", Json::array(entries));
    }

    /// What a fold can know: attempt and waits of a generation travel as events of their own.
    fn essence(&self) -> Vec<Json> {
        let message = self
            .get("generation")
            .get("message")
            .cloned()
            .unwrap_or(Json::Null);
        let parts = ["entries", "run", "inbox", "agent", "usage"].map(|name| self.get(name));
        parts.into_iter().chain([message]).collect()
    }
}

/// Attaches a reader that writes every frame down.
fn record(bench: &mut Bench, after: Option<Seq>) -> Rc<RefCell<Vec<Frame>>> {
    let frames = Rc::new(RefCell::new(Vec::new()));
    let log = Rc::clone(&frames);
    bench.run(async move |harness| {
        let mut reader = harness
            .events()
            .attach(ROOT_CONVERSATION_ID, after)
            .await
            .unwrap();
        let session = harness.session().clone();
        session.spawn(async move {
            loop {
                let frame = reader.next().await;
                let ended = matches!(frame, Frame::End { .. });
                log.borrow_mut().push(frame);
                if ended {
                    return;
                }
            }
        });
    });
    bench.runtime.settle();
    frames
}

fn fresh(bench: &mut Bench) -> Fold {
    let frame = bench.run(async |harness| {
        harness
            .events()
            .attach(ROOT_CONVERSATION_ID, None)
            .await
            .unwrap()
            .next()
            .await
    });
    let mut fold = Fold::default();
    fold.frame(&frame);
    fold
}

#[test]
fn a_plain_turn_has_its_events_in_order() {
    let mut bench = Bench::new();
    bench.settle("first");
    let frames = record(&mut bench, None);
    bench.settle("hello tide");
    let types: Vec<Vec<String>> = frames.borrow()[1..]
        .iter()
        .map(|frame| match frame {
            Frame::Batch { events, .. } => events
                .as_array()
                .unwrap()
                .iter()
                .map(|event| event.get("type").unwrap().as_str().unwrap().to_owned())
                .collect(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        types,
        [
            vec![
                "message_start",
                "message_end",
                "submission",
                "run_start",
                "turn_start"
            ],
            vec![
                "message_start",
                "message_end",
                "turn_end",
                "run_end",
                "submission",
                "usage_changed"
            ],
        ]
    );
}

#[test]
fn the_folded_stream_equals_a_fresh_snapshot_at_every_cut() {
    let mut bench = Bench::new();
    bench.settle("first");
    let frames = record(&mut bench, None);
    let mut fold = Fold::default();
    let mut taken = 0;
    bench.submit("@pace 70\n@think pondering \n@say Hello \n@repeat 19 wave\n@usage 5 6");
    bench
        .run(async |harness| {
            harness
                .submit(
                    ROOT_CONVERSATION_ID,
                    input_when(
                        "@fail 500 x\n@pace 40\n@repeat 12 again",
                        WhenBusy::FollowUp,
                        None,
                    ),
                )
                .await
        })
        .unwrap();
    bench
        .run(async |harness| {
            harness
                .submit(
                    ROOT_CONVERSATION_ID,
                    input("@call t {\"a\": \"b\"}\n---\n@say end"),
                )
                .await
        })
        .unwrap();
    for step in 0..80 {
        bench.runtime.advance(97 + step % 13);
        for frame in &frames.borrow()[taken..] {
            fold.frame(frame);
        }
        taken = frames.borrow().len();
        assert_eq!(fold.essence(), fresh(&mut bench).essence(), "cut {step}");
    }
    assert!(taken > 20, "the stream was exercised: {taken} frames");
}

#[test]
fn a_reader_that_comes_back_misses_nothing_and_repeats_nothing() {
    let mut bench = Bench::new();
    bench.settle("first");
    let frames = record(&mut bench, None);
    bench.settle("second");
    let seqs: Vec<Seq> = frames.borrow().iter().map(seq).collect();
    assert!(seqs.is_sorted());
    let resumed = record(&mut bench, Some(seqs[1]));
    let again: Vec<Seq> = resumed.borrow().iter().map(seq).collect();
    assert_eq!(again, seqs[2..]);
    let head = record(&mut bench, seqs.last().copied());
    assert!(head.borrow().is_empty());
    bench.settle("third");
    assert!(matches!(head.borrow().first(), Some(Frame::Batch { .. })));
    let unknown = record(&mut bench, Some(Seq(1)));
    assert!(
        matches!(unknown.borrow().first(), Some(Frame::Snapshot { .. })),
        "older than what is held"
    );
}

fn seq(frame: &Frame) -> Seq {
    match frame {
        Frame::Snapshot { seq, .. } | Frame::Batch { seq, .. } => *seq,
        Frame::End { reason } => panic!("{reason}"),
    }
}

#[test]
fn a_reader_that_does_not_read_gets_one_snapshot_instead() {
    let mut bench = Bench::new();
    bench.settle("first");
    let reader =
        bench.run(async |harness| harness.events().attach(ROOT_CONVERSATION_ID, None).await.unwrap());
    let reader = Rc::new(RefCell::new(Some(reader)));
    for n in 0..120 {
        bench.settle(&format!("input {n}"));
    }
    let mut held = reader.borrow_mut().take().unwrap();
    let (first, second) = bench.run(async move |harness| {
        let first = held.next().await;
        harness.submit(ROOT_CONVERSATION_ID, input("more")).await.unwrap();
        (first, held.next().await)
    });
    let Frame::Snapshot { value, .. } = &first else {
        panic!("{first:?}")
    };
    assert_eq!(value.get("entries").unwrap().as_array().unwrap().len(), 2 + 240);
    assert!(matches!(second, Frame::Batch { .. }));
}

#[test]
fn a_closed_session_ends_its_streams() {
    let mut bench = Bench::new();
    bench.settle("first");
    let frames = record(&mut bench, None);
    bench
        .run(async |harness| harness.session().close().await)
        .unwrap();
    bench.runtime.settle();
    assert!(matches!(
        frames.borrow().last(),
        Some(Frame::End {
            reason: "session_closed"
        })
    ));
}
