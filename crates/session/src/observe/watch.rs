//! Watches: one asynchronous listener, called for one committed revision after the other (spec 9.2).

use super::Revision;
use super::hub::{Hub, Registration, Sink, Subject};
use crate::error::SessionFailed;
use crate::latch::Latch;
use crate::limits::WATCH_PENDING;
use crate::panics::{caught, panic_text};
use crate::session::{Inner, SessionEnd};
use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::error::Error;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};
use tidehold_delta::{Json, Text};

/// A watch of one incarnation. It buffers from its acquisition on; more than [`WATCH_PENDING`] pending revisions become one
/// replacement by the newest, so it converges and is no audit trail.
///
/// Dropping it ends it as [`WatchEnd::Cancelled`].
pub struct Watch(Rc<Shared>);

/// Why a watch ended. The first reason wins.
#[derive(Clone, Debug)]
pub enum WatchEnd {
    /// By [`Watch::stop`].
    Stopped,
    /// The watch was dropped.
    Cancelled,
    SessionClosed,
    /// The incarnation was retired, and the listener has settled that frame.
    Retired,
    ListenerError(ListenerError),
    SessionFailed(SessionFailed),
}

/// How a listener failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ListenerError {
    #[error("{0}")]
    Returned(Rc<dyn Error>),
    #[error("panicked: {0}")]
    Panicked(String),
}

/// A watch has one listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the watch was started before")]
pub struct AlreadyStarted;

type Listener = Box<dyn Fn(Revision) -> LocalBoxFuture<'static, Result<(), Box<dyn Error>>>>;

struct Shared {
    session: Weak<Inner>,
    kind: Text,
    value: RefCell<Json>,
    pending: RefCell<Pending>,
    started: Cell<bool>,
    deliverer: RefCell<Option<Waker>>,
    registration: RefCell<Option<Registration>>,
    end: Latch<WatchEnd>,
}

#[derive(Default)]
struct Pending {
    revisions: VecDeque<Revision>,
    /// The last one of them is the retirement.
    retired: bool,
}

impl Pending {
    fn push(&mut self, revision: Revision) {
        if self.revisions.len() < WATCH_PENDING {
            self.revisions.push_back(revision);
        } else {
            self.revisions.clear();
            self.revisions.push_back(Revision::replacement(revision.value));
        }
    }
}

impl Watch {
    pub(super) fn attach(inner: &Rc<Inner>, subject: Subject) -> Self {
        let shared = Rc::new(Shared {
            session: Rc::downgrade(inner),
            kind: subject.address.kind.clone(),
            value: RefCell::new(subject.value.clone()),
            pending: RefCell::default(),
            started: Cell::new(false),
            deliverer: RefCell::default(),
            registration: RefCell::default(),
            end: Latch::default(),
        });
        let registration = Hub::register(inner, subject, Rc::clone(&shared) as _);
        shared.registration.replace(Some(registration));
        Self(shared)
    }

    /// The value at the acquisition, then that of the revision delivered last.
    pub fn value(&self) -> Json {
        self.0.value.borrow().clone()
    }

    /// Delivers to `listener` from now on, beginning with what is buffered: in later turns, off the line, one call after the
    /// other. Commits never wait for it. A listener that fails or panics ends this watch, and is reported.
    ///
    /// # Errors
    /// [`AlreadyStarted`]; the first listener stays.
    pub fn start<F, E>(&self, listener: F) -> Result<(), AlreadyStarted>
    where
        F: AsyncFn(Revision) -> Result<(), E> + 'static,
        E: Into<Box<dyn Error>>,
    {
        let listener = Rc::new(listener);
        self.0.start(Box::new(move |revision| {
            let listener = Rc::clone(&listener);
            Box::pin(async move { listener(revision).await.map_err(Into::into) })
        }))
    }

    /// Ends the watch, unless it had ended: what is pending is gone, and no further call begins. One that runs goes on.
    pub fn stop(&self) -> WatchEnd {
        self.0.end(WatchEnd::Stopped)
    }

    /// Resolves once the watch has ended.
    pub fn closed(&self) -> LocalBoxFuture<'static, WatchEnd> {
        Box::pin(self.0.end.wait())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.end(WatchEnd::Cancelled);
    }
}

impl Shared {
    fn start(self: &Rc<Self>, listener: Listener) -> Result<(), AlreadyStarted> {
        if self.started.replace(true) {
            return Err(AlreadyStarted);
        }
        if let Some(inner) = self.session.upgrade() {
            inner.host.spawn(Box::pin(deliver(Rc::clone(self), listener)));
        }
        Ok(())
    }

    /// The end: this one, or the one before it.
    fn end(&self, end: WatchEnd) -> WatchEnd {
        if let Some(before) = self.end.get() {
            return before;
        }
        self.end.set(end.clone());
        let _dropped_last = (self.pending.take(), self.registration.take());
        self.wake();
        end
    }

    fn wake(&self) {
        if let Some(deliverer) = self.deliverer.take() {
            deliverer.wake();
        }
    }

    /// The next revision to deliver; `None` once the watch has ended.
    async fn next(&self) -> Option<Revision> {
        std::future::poll_fn(|context| {
            if self.end.get().is_some() {
                return Poll::Ready(None);
            }
            match self.pending.borrow_mut().revisions.pop_front() {
                Some(revision) => Poll::Ready(Some(revision)),
                None => {
                    self.deliverer.replace(Some(context.waker().clone()));
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn settled(&self) {
        let over = {
            let pending = self.pending.borrow();
            pending.retired && pending.revisions.is_empty()
        };
        if over {
            self.end(WatchEnd::Retired);
        }
    }

    /// Also of a call that outlived its watch: its failure is told to someone.
    fn listener_failed(&self, error: ListenerError) {
        if let Some(inner) = self.session.upgrade() {
            inner.report(format!(
                "a watch listener of document {} failed: {error}",
                self.kind
            ));
        }
        self.end(WatchEnd::ListenerError(error));
    }
}

impl Sink for Shared {
    fn changed(self: Rc<Self>, revision: Revision) {
        self.pending.borrow_mut().push(revision);
        self.wake();
    }

    fn retired(self: Rc<Self>, revision: Revision) {
        self.pending.borrow_mut().retired = true;
        self.changed(revision);
    }

    fn sealed(self: Rc<Self>, end: &SessionEnd) {
        self.end(match end {
            SessionEnd::Closed => WatchEnd::SessionClosed,
            SessionEnd::Failed(failed) => WatchEnd::SessionFailed(failed.clone()),
        });
    }
}

async fn deliver(watch: Rc<Shared>, listener: Listener) {
    while let Some(revision) = watch.next().await {
        watch.value.replace(revision.value.clone());
        match caught(listener(revision)).await {
            Ok(Ok(())) => watch.settled(),
            Ok(Err(error)) => watch.listener_failed(ListenerError::Returned(error.into())),
            Err(panic) => watch.listener_failed(ListenerError::Panicked(panic_text(panic.as_ref()))),
        }
    }
}
