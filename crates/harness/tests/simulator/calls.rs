//! What callers do. A call runs with everything else, and nobody waits for it.

use crate::life::Life;
use crate::model::Model;
use crate::story::Story;
use crate::support::{input_when, write};
use std::future::Future;
use std::rc::Rc;
use tidehold_delta::{Json, json};
use tidehold_harness::agent::AgentChange;
use tidehold_harness::docs::{INBOX, LIVE};
use tidehold_harness::submissions::{AbortOutcome, WhenBusy};
use tidehold_harness::{Harness, HarnessError};
use tidehold_session::ids::{ConversationId, ROOT_CONVERSATION_ID};
use tidehold_session::records::EntryDraft;
use tidehold_tasks::AbortScope;

/// What the scripted model is asked for. `#` becomes a number.
const SCRIPTS: [&str; 12] = [
    "hello #",
    "@say answer #",
    "@wait 400\n@say slow #",
    "@pace 60\n@repeat 12 tide",
    "@pace 20\n@repeat 30 tide",
    "@fail 500 boom\n@say ok #",
    "@fail 529 overloaded\n@fail 503 unavailable\n@say ok #",
    "@fail 400 bad request\n@say never",
    "@overflow\n@say never",
    "@defer 5000\n@say late #",
    "@think hm\n@say thought #",
    "@fail 500 a\n@fail 500 b\n@fail 500 c\n@fail 500 d\n@fail 500 e\n@say never",
];

impl Story {
    /// A harness that takes calls.
    fn open(&self) -> Option<Harness> {
        self.life().and_then(Life::harness).cloned()
    }

    /// A call and what follows from its answer. One that fails in an open session does so for one of the `known` reasons.
    fn call<T: 'static>(
        &self,
        name: String,
        call: impl Future<Output = Result<T, HarnessError>> + 'static,
        then: impl FnOnce(&Rc<Model>, T) + 'static,
    ) {
        let Some(harness) = self.open() else { return };
        let model = Rc::clone(&self.ground.model);
        let calling = model.call_begins(name.clone());
        self.ground.world.spawn(async move {
            let outcome = call.await;
            let told = outcome.as_ref().map(drop).map_err(ToString::to_string);
            model.call_ends(&calling, told);
            drop(calling);
            match outcome {
                Ok(value) => then(&model, value),
                Err(HarnessError::ConversationBusy(_) | HarnessError::RequestConflict(_)) => {}
                Err(error) if harness.session().health().is_ok() => {
                    model.breach(format!("{name} failed in an open session: {error}"));
                }
                Err(_) => {}
            }
        });
    }

    fn room(&self) -> ConversationId {
        let rooms = self.ground.model.rooms();
        let other = self
            .random
            .pick(&rooms)
            .copied()
            .filter(|_| self.random.percent(40));
        other.unwrap_or(ROOT_CONVERSATION_ID)
    }

    /// An input or a write; sometimes one that was submitted before, by its request id.
    pub fn submit(&mut self) {
        let Some(harness) = self.open() else { return };
        let room = self.room();
        if self.random.percent(15) {
            let entry = EntryDraft {
                kind: "note".into(),
                data: Some(json!({ "n": (self.random.below(100)) })),
                ..EntryDraft::default()
            };
            let submit = async move { harness.submit(room, write(entry)).await };
            return self.call(format!("write to {room}"), submit, |model, record| {
                model.admitted(&record, None);
            });
        }
        let script = self.random.pick(&SCRIPTS).copied().unwrap_or("hello #");
        let text = script.replace('#', &self.random.below(1_000_000).to_string());
        let again = self
            .random
            .pick(&self.requests)
            .cloned()
            .filter(|_| self.random.percent(40));
        let (request, text) = match again {
            Some((request, text)) => (Some(request), text),
            None if self.random.percent(50) => {
                let request = format!("request-{}", self.requests.len());
                self.requests.push((request.clone(), text.clone()));
                (Some(request), text)
            }
            None => (None, text),
        };
        // A retry is for the conversation of the first try; elsewhere the same id is another request.
        let when = match self.random.below(10) {
            0..4 => WhenBusy::Steer,
            4..8 => WhenBusy::FollowUp,
            _ => WhenBusy::Reject,
        };
        let draft = input_when(&text, when, request.as_deref());
        let submit = async move { harness.submit(room, draft).await };
        let name = format!("submit {text:?} to {room} as {request:?}");
        self.call(name, submit, move |model, record| {
            model.admitted(&record, request.as_deref())
        });
    }

    /// One more input, to stir a conversation.
    pub fn submit_to(&mut self, room: ConversationId, text: &str) {
        let Some(harness) = self.open() else { return };
        let draft = input_when(text, WhenBusy::FollowUp, None);
        let submit = async move { harness.submit(room, draft).await };
        self.call(format!("submit {text:?} to {room}"), submit, |model, record| {
            model.admitted(&record, None)
        });
    }

    pub fn wait(&mut self) {
        let Some(harness) = self.open() else { return };
        let known = self.ground.model.submissions();
        let Some(id) = self.random.pick(&known).copied() else {
            return;
        };
        let wait = async move { harness.wait_for_submission(id, None).await };
        self.call(
            format!("wait for {id}"),
            wait,
            move |model, record| match record {
                Some(record) => model.settled(&record),
                None => model.breach(format!("submission {id} is unknown")),
            },
        );
    }

    pub fn withdraw(&mut self) {
        let Some(harness) = self.open() else { return };
        let unsettled = self.ground.model.unsettled();
        let Some(id) = self.random.pick(&unsettled).copied() else {
            return;
        };
        let withdraw = async move { harness.abort_submission(id).await };
        self.call(
            format!("withdraw {id}"),
            withdraw,
            move |model, outcome| match outcome {
                Some(AbortOutcome::Aborted) => model.must_be_unanswered(id),
                Some(AbortOutcome::AlreadyPlaced | AbortOutcome::Settled) => {}
                None => model.breach(format!("submission {id} is unknown")),
            },
        );
    }

    pub fn abort_all(&mut self) {
        let Some(harness) = self.open() else { return };
        let (room, scope) = (
            self.room(),
            if self.random.percent(50) {
                AbortScope::Foreground
            } else {
                AbortScope::Everything
            },
        );
        let abort = async move { harness.abort_conversation(room, scope).await };
        self.call(format!("abort all in {room}"), abort, |_, ()| {});
    }

    pub fn reset(&mut self) {
        let Some(harness) = self.open() else { return };
        let room = self.room();
        let handoff = self.random.percent(50).then_some("so far");
        let reset = async move { harness.reset(room, handoff).await };
        self.call(format!("reset {room}"), reset, |_, ()| {});
    }

    pub fn create_room(&mut self) {
        let Some(harness) = self.open() else { return };
        let create = async move { harness.create_conversation(AgentChange::default()).await };
        self.call("create a conversation".to_owned(), create, |_, _| {});
    }

    pub fn close(&mut self) {
        let Some(harness) = self.open() else { return };
        let close = async move { Ok(harness.session().close().await?) };
        self.call("close".to_owned(), close, |_, ()| {});
    }
}

/// Nothing is left of what ran, and every context can be derived.
pub async fn look_back(model: Rc<Model>, harness: Harness) {
    for room in model.rooms() {
        let context = harness.context(room, None).await;
        let live = harness.session().snapshot(&LIVE, room).await;
        let inbox = harness.session().snapshot(&INBOX, room).await;
        if let Err(error) = context {
            model.breach(format!("the context of {room}: {error}"));
        }
        let idle = matches!(&live, Ok(Some(live)) if *live == Json::empty_object());
        let items = |inbox: &Json| {
            inbox
                .get("items")
                .and_then(Json::as_array)
                .map(|items| items.iter().count())
        };
        let empty = matches!(&inbox, Ok(Some(inbox)) if items(inbox) == Some(0));
        if !idle || !empty {
            model.breach(format!("left in {room}: {live:?}, {inbox:?}"));
        }
    }
}
