//! Observers of a story, and what they say.

use super::{Doc, HISTORY, MEMBERS, OUTPUTS, SCRATCH, SHARED, SHELVES, Version};
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::Shared;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::{Json, Op, WireEncoder, encode_batch};
use tidehold_session::documents::TheSession;
use tidehold_session::ids::ROOT_CONVERSATION_ID;
use tidehold_session::observe::{DocumentState, Revision, StateSubscription, Watch};
use tidehold_session::{Session, SessionError};

/// What was said so far.
#[derive(Clone, Default)]
pub struct Lines(Rc<RefCell<Vec<Json>>>);

/// The mouth of one stream.
#[derive(Clone)]
struct Voice {
    name: Rc<str>,
    lines: Lines,
    wire: Rc<RefCell<WireEncoder>>,
}

enum Observer {
    State(DocumentState, Vec<StateSubscription>),
    Watch(Watch),
    Closed,
}

pub struct Stream {
    pub name: String,
    pub doc: Doc,
    /// The observed incarnation is gone.
    pub retired: bool,
    observer: Observer,
}

impl Lines {
    pub fn committed(&self, stream: &str, value: Json) {
        let name = Json::from(stream);
        let line = Json::object([("document", name), ("committed", value)]);
        self.0.borrow_mut().push(line);
    }

    pub fn take(&self) -> Vec<Json> {
        self.0.take()
    }

    fn voice(&self, name: &str) -> Voice {
        Voice {
            name: name.into(),
            lines: self.clone(),
            wire: Rc::new(RefCell::new(WireEncoder::new())),
        }
    }
}

impl Voice {
    fn say(&self, sequence: u64, ops: &[Op], value: &Json) {
        let wire = self.wire.borrow_mut().encode(ops);
        self.lines.0.borrow_mut().push(Json::object([
            ("document", Json::from(&*self.name)),
            ("sequence", Json::from(sequence)),
            ("ops", encode_batch(ops)),
            ("wire", wire),
            ("value", value.clone()),
        ]));
    }
}

/// Calls one of the two acquisitions for whatever the document is.
macro_rules! acquire {
    ($session:ident.$call:ident($doc:ident, $version:ident)) => {
        match $doc {
            Doc::Shared => $session.$call(&SHARED, TheSession).await?,
            Doc::Shelf(key) => $session.$call(&SHELVES, (TheSession, key)).await?,
            Doc::Notes => $session.$call($version.notes(), ROOT_CONVERSATION_ID).await?,
            Doc::History => $session.$call(&HISTORY, ROOT_CONVERSATION_ID).await?,
            Doc::Member(key) => $session.$call(&MEMBERS, (ROOT_CONVERSATION_ID, key)).await?,
            Doc::Scratch(task) => $session.$call(&SCRATCH, task).await?,
            Doc::Output(task, key) => $session.$call(&OUTPUTS, (task, key)).await?,
        }
    };
}

impl Stream {
    /// A state with a subscriber; `None` of an absent document.
    pub async fn state(
        session: &Session,
        doc: Doc,
        version: Version,
        number: usize,
        lines: &Lines,
    ) -> Result<Option<Self>, SessionError> {
        let Some(state) = acquire!(session.document_state(doc, version)) else {
            return Ok(None);
        };
        let mut stream = Self {
            name: format!("state {number}"),
            doc,
            retired: false,
            observer: Observer::State(state, Vec::new()),
        };
        stream.subscribe(lines);
        Ok(Some(stream))
    }

    /// A watch that nobody listens to yet.
    pub async fn watch(
        session: &Session,
        doc: Doc,
        version: Version,
        number: usize,
    ) -> Result<Option<Self>, SessionError> {
        let Some(watch) = acquire!(session.watch_doc(doc, version)) else {
            return Ok(None);
        };
        Ok(Some(Self {
            name: format!("watch {number}"),
            doc,
            retired: false,
            observer: Observer::Watch(watch),
        }))
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.observer, Observer::Closed)
    }

    pub fn close(&mut self) {
        self.observer = Observer::Closed;
    }

    /// Another subscriber of a state; the listener of a watch.
    pub fn go_on(&mut self, lines: &Lines) {
        match self.observer {
            Observer::State(..) => self.subscribe(lines),
            Observer::Watch(_) => self.listen(lines, None),
            Observer::Closed => {}
        }
    }

    /// A listener whose first call waits until what is returned is dropped.
    pub fn block(&mut self, lines: &Lines) -> oneshot::Sender<()> {
        let (sender, gate) = oneshot::channel();
        self.listen(lines, Some(gate.shared()));
        sender
    }

    fn subscribe(&mut self, lines: &Lines) {
        if let Observer::State(state, subscriptions) = &mut self.observer {
            let voice = lines.voice(&format!("{}.{}", self.name, subscriptions.len()));
            let subscription = state.subscribe(move |delivery| {
                voice.say(delivery.sequence, &delivery.ops, &delivery.value);
            });
            subscriptions.push(subscription);
        }
    }

    fn listen(&mut self, lines: &Lines, gate: Option<Shared<oneshot::Receiver<()>>>) {
        if let Observer::Watch(watch) = &self.observer {
            let (voice, sequence, acquired) = (lines.voice(&self.name), Cell::new(0), watch.value());
            let first = voice.clone();
            let started = watch.start(async move |revision: Revision| {
                if let Some(gate) = gate.clone() {
                    let _opened = gate.await;
                }
                sequence.set(sequence.get() + 1);
                voice.say(sequence.get(), &revision.ops, &revision.value);
                Ok::<_, SessionError>(())
            });
            if started.is_ok() {
                first.say(0, &[Op::Replace(acquired.clone())], &acquired);
            }
        }
    }
}
