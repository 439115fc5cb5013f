//! Document states: a read-only replicated state in Chord's sense, bound to one incarnation (spec 9.1).

use super::Revision;
use super::hub::{Hub, Registration, Sink, Subject};
use crate::panics::{caught_call, panic_text};
use crate::session::{Inner, SessionEnd};
use litemap::LiteMap;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use tidehold_delta::{Json, Op, Text, encode_batch};

/// The committed state of one incarnation. Its value is always the newest published one, and stays after the end: `null`
/// after a retirement, the last one after a close or a failure of the session. Dropping it disposes of it.
pub struct DocumentState(Rc<Shared>);

/// What a delivery is to its subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryKind {
    /// The first one: a replacement that makes a value of nothing.
    Hydrate,
    /// One commit on top of the delivery before.
    Update,
}

/// A frame of a state's stream.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub kind: DeliveryKind,
    /// Counts the frames of this state, without gaps: an update's is one above that of the delivery before.
    pub sequence: u64,
    /// The value after the frame.
    pub value: Json,
    pub ops: Rc<[Op]>,
}

impl Delivery {
    /// The frame as data: `{"sequence": …, "ops": […]}`, the operations as Chord's tuples.
    pub fn to_json(&self) -> Json {
        let sequence = Json::from(self.sequence);
        Json::object([("sequence", sequence), ("ops", encode_batch(&self.ops))])
    }
}

/// Removes its subscriber when dropped.
#[must_use = "dropping a subscription removes its subscriber"]
pub struct StateSubscription {
    state: Weak<Shared>,
    key: u64,
}

impl Drop for StateSubscription {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            let _dropped_last = state.subscribers.borrow_mut().remove(&self.key);
        }
    }
}

#[derive(Clone)]
struct Subscriber {
    /// It has everything up to this one.
    hydrated: u64,
    listener: Rc<dyn Fn(&Delivery)>,
}

struct Shared {
    session: Weak<Inner>,
    kind: Text,
    value: RefCell<Json>,
    sequence: Cell<u64>,
    undelivered: RefCell<VecDeque<Delivery>>,
    delivering: Cell<bool>,
    subscribers: RefCell<LiteMap<u64, Subscriber>>,
    next: Cell<u64>,
    registration: RefCell<Option<Registration>>,
}

impl DocumentState {
    pub(super) fn attach(inner: &Rc<Inner>, subject: Subject) -> Self {
        let shared = Rc::new(Shared {
            session: Rc::downgrade(inner),
            kind: subject.address.kind.clone(),
            value: RefCell::new(subject.value.clone()),
            sequence: Cell::new(0),
            undelivered: RefCell::default(),
            delivering: Cell::new(false),
            subscribers: RefCell::default(),
            next: Cell::new(0),
            registration: RefCell::default(),
        });
        let registration = Hub::register(inner, subject, Rc::clone(&shared) as _);
        shared.registration.replace(Some(registration));
        Self(shared)
    }

    /// The newest value.
    pub fn value(&self) -> Json {
        self.0.value.borrow().clone()
    }

    /// The number of the newest frame; 0 is that of the attachment.
    pub fn sequence(&self) -> u64 {
        self.0.sequence.get()
    }

    /// Calls `listener` at once with the present value, and with every later frame in a later turn, off the line. What the
    /// first call covers is not delivered again. Panics of later calls are reported, and hinder no other subscriber; one in
    /// the first call is the caller's, and nobody is subscribed.
    pub fn subscribe(&self, listener: impl Fn(&Delivery) + 'static) -> StateSubscription {
        let listener: Rc<dyn Fn(&Delivery)> = Rc::new(listener);
        let Revision { value, ops } = Revision::replacement(self.value());
        let hydrate = Delivery {
            kind: DeliveryKind::Hydrate,
            sequence: self.sequence(),
            value,
            ops,
        };
        let key = self.0.next.replace(self.0.next.get() + 1);
        let subscriber = Subscriber {
            hydrated: hydrate.sequence,
            listener: Rc::clone(&listener),
        };
        self.0.subscribers.borrow_mut().insert(key, subscriber);
        let subscription = StateSubscription {
            state: Rc::downgrade(&self.0),
            key,
        };
        listener(&hydrate);
        subscription
    }

    /// Ends the observation: no later frame, no later call. Idempotent.
    pub fn dispose(&self) {
        self.0.release();
        self.0.undelivered.take();
        let _dropped_last = self.0.subscribers.take();
    }
}

impl Drop for DocumentState {
    fn drop(&mut self) {
        self.dispose();
    }
}

impl Sink for Shared {
    fn changed(self: Rc<Self>, revision: Revision) {
        let Revision { value, ops } = revision;
        let sequence = self.sequence.get() + 1;
        self.sequence.set(sequence);
        self.value.replace(value.clone());
        if self.subscribers.borrow().is_empty() {
            return;
        }
        self.undelivered.borrow_mut().push_back(Delivery {
            kind: DeliveryKind::Update,
            sequence,
            value,
            ops,
        });
        if let (Some(inner), false) = (self.session.upgrade(), self.delivering.replace(true)) {
            inner.host.spawn(Box::pin(async move { self.deliver() }));
        }
    }

    fn retired(self: Rc<Self>, revision: Revision) {
        self.changed(revision);
    }

    /// The state keeps its value, and subscribers still get the frames that led to it.
    fn sealed(self: Rc<Self>, _: &SessionEnd) {}
}

impl Shared {
    fn deliver(&self) {
        while let Some(delivery) = self.next_delivery() {
            let keys: Vec<u64> = self.subscribers.borrow().keys().copied().collect();
            for key in keys {
                // Looked up anew: the ones before may have removed it.
                let subscriber = self.subscribers.borrow().get(&key).cloned();
                let Some(subscriber) = subscriber.filter(|one| one.hydrated < delivery.sequence) else {
                    continue;
                };
                if let Err(panic) = caught_call(|| (subscriber.listener)(&delivery)) {
                    self.report(&panic_text(panic.as_ref()));
                }
            }
        }
        self.delivering.set(false);
    }

    fn next_delivery(&self) -> Option<Delivery> {
        self.undelivered.borrow_mut().pop_front()
    }

    fn report(&self, text: &str) {
        if let Some(inner) = self.session.upgrade() {
            let kind = &self.kind;
            inner.report(format!("a subscriber of document {kind} panicked: {text}"));
        }
    }

    fn release(&self) {
        let _dropped_last = self.registration.take();
    }
}
