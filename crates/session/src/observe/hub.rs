//! Who observes what, by incarnation. It comes into being with the first observer: a session without any pays nothing.

use super::Revision;
use crate::documents::DocumentAddress;
use crate::ids::DocumentId;
use crate::publication::{DocumentChangeKind, Publication};
use crate::session::{Inner, Session, SessionEnd, Subscription};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use tidehold_delta::Json;

/// What is observed, as the observer's definition reads it.
pub(super) struct Subject {
    pub address: DocumentAddress,
    pub id: DocumentId,
    pub version: u32,
    pub value: Json,
}

/// Where frames go. Called on the line: it queues and returns.
pub(super) trait Sink {
    fn changed(self: Rc<Self>, revision: Revision);
    /// The last revision.
    fn retired(self: Rc<Self>, revision: Revision);
    /// Nothing follows: the session closes or failed.
    fn sealed(self: Rc<Self>, end: &SessionEnd);
}

struct Observer {
    key: u64,
    /// What it holds, in which version of the definition.
    version: u32,
    value: Json,
    sink: Rc<dyn Sink>,
}

/// The observers of a session. Owned by its listeners.
pub(crate) struct Hub {
    session: Weak<Inner>,
    next: Cell<u64>,
    observers: RefCell<HashMap<DocumentId, Vec<Observer>>>,
    subscriptions: OnceCell<[Subscription; 2]>,
}

/// An observer's place. Dropping it gives it up.
pub(super) struct Registration {
    hub: Weak<Hub>,
    address: DocumentAddress,
    id: DocumentId,
    key: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(hub) = self.hub.upgrade() {
            hub.unregister(self);
        }
    }
}

impl Hub {
    fn of(inner: &Rc<Inner>) -> Rc<Self> {
        if let Some(hub) = inner.observers.get().and_then(Weak::upgrade) {
            return hub;
        }
        let hub = Rc::new(Self {
            session: Rc::downgrade(inner),
            next: Cell::new(0),
            observers: RefCell::default(),
            subscriptions: OnceCell::new(),
        });
        let (published, sealed) = (Rc::clone(&hub), Rc::clone(&hub));
        let session = Session(Rc::clone(inner));
        let commits = session.attach(move |publication| published.publish(publication));
        let close = session.subscribe_close(move |end| sealed.seal(end));
        // Both are set once, here: the listeners own the hub as long as the session lives.
        let _first = hub.subscriptions.set([commits, close]);
        let _first = inner.observers.set(Rc::downgrade(&hub));
        hub
    }

    /// From here on `sink` gets every frame of the incarnation. In the turn, on the line, in which the subject was read.
    pub(super) fn register(inner: &Rc<Inner>, subject: Subject, sink: Rc<dyn Sink>) -> Registration {
        let hub = Self::of(inner);
        let Subject {
            address,
            id,
            version,
            value,
        } = subject;
        let key = hub.next.replace(hub.next.get() + 1);
        let observer = Observer {
            key,
            version,
            value,
            sink,
        };
        hub.observers.borrow_mut().entry(id).or_default().push(observer);
        inner.documents.borrow_mut().pin(&address, id);
        Registration {
            hub: Rc::downgrade(&hub),
            address,
            id,
            key,
        }
    }

    fn unregister(&self, registration: &Registration) {
        let mut observers = self.observers.borrow_mut();
        let Some(of_document) = observers.get_mut(&registration.id) else {
            return;
        };
        let place = of_document
            .iter()
            .position(|observer| observer.key == registration.key);
        let _dropped_last = place.map(|place| of_document.remove(place));
        if of_document.is_empty() {
            observers.remove(&registration.id);
        }
        drop(observers);
        if let (Some(_), Some(inner)) = (place, self.session.upgrade()) {
            inner
                .documents
                .borrow_mut()
                .unpin(&registration.address, registration.id);
        }
    }

    fn publish(&self, publication: &Publication) {
        for change in &publication.documents {
            let id = change.record.id;
            match &change.kind {
                DocumentChangeKind::Changed {
                    before,
                    value,
                    ops,
                    version,
                } => {
                    let mut observers = self.observers.borrow_mut();
                    for observer in observers.get_mut(&id).into_iter().flatten() {
                        // Of the same value, however it was read: normally it is the same one.
                        let follows = observer.version == *version && observer.value == *before;
                        observer.version = *version;
                        observer.value = value.clone();
                        let revision = match (follows, ops.is_empty()) {
                            // A new base of the value that it has.
                            (true, true) => continue,
                            (true, false) => Revision {
                                value: value.clone(),
                                ops: Rc::clone(ops),
                            },
                            (false, _) => Revision::replacement(value.clone()),
                        };
                        Rc::clone(&observer.sink).changed(revision);
                    }
                }
                DocumentChangeKind::Retired => {
                    let retired = self.observers.borrow_mut().remove(&id);
                    for observer in retired.unwrap_or_default() {
                        observer.sink.retired(Revision::replacement(Json::Null));
                    }
                }
                // Another incarnation than any that was observed.
                DocumentChangeKind::Created { .. } | DocumentChangeKind::Copied { .. } => {}
            }
        }
    }

    fn seal(&self, end: &SessionEnd) {
        for observer in self.observers.take().into_values().flatten() {
            observer.sink.sealed(end);
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // The session's last handle is gone without a close: nobody may wait for what cannot come.
        self.seal(&SessionEnd::Closed);
    }
}
