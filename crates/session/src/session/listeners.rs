//! Who hears of commits and of the end (spec 4 and 10.1): each is called in the turn it happens, whatever the others do.

use super::{Inner, Session, SessionEnd};
use crate::panics::{Panic, caught_call, panic_text};
use crate::publication::Publication;
use litemap::LiteMap;
use std::cell::Cell;
use std::rc::{Rc, Weak};

/// What a panic of a commit listener means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Nothing to the session: it is reported.
    Host,
    /// Its memory fell behind storage: the session fails.
    Component,
}

/// Close listeners are called in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Listener,
    Afterwards,
}

type OnCommit = Rc<dyn Fn(&Rc<Publication>)>;
type CommitListener = (Whose, OnCommit);
type CloseListener = Rc<dyn Fn(&SessionEnd)>;

#[derive(Default)]
pub(super) struct Listeners {
    next: u64,
    commit: LiteMap<u64, CommitListener>,
    close: LiteMap<(Turn, u64), CloseListener>,
}

/// Removes its listener when dropped.
#[must_use = "dropping a subscription removes its listener"]
pub struct Subscription {
    session: Weak<Inner>,
    key: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(inner) = self.session.upgrade() else {
            return;
        };
        // Dropped outside the borrow: what a listener held may have subscriptions of its own.
        let _listeners = {
            let mut listeners = inner.listeners.borrow_mut();
            (
                listeners.commit.remove(&self.key),
                listeners.close.remove(&(Turn::Listener, self.key)),
                listeners.close.remove(&(Turn::Afterwards, self.key)),
            )
        };
    }
}

impl Session {
    /// Calls `listener` synchronously with every later publication, on the line, after adoption. It must not block and
    /// must not call the session; it may spawn. Its panic is reported and changes nothing else.
    pub fn subscribe_commits(&self, listener: impl Fn(&Rc<Publication>) + 'static) -> Subscription {
        self.on_commit(Whose::Host, Rc::new(listener))
    }

    /// Like [`Session::subscribe_commits`], for components that keep in memory what they must not miss: a panic of
    /// `listener` fails the session, once everyone heard of the commit, which stands.
    pub fn attach(&self, listener: impl Fn(&Rc<Publication>) + 'static) -> Subscription {
        self.on_commit(Whose::Component, Rc::new(listener))
    }

    /// Calls `listener` once, synchronously, when close or failure begins: nothing new is admitted any more. It must not
    /// block and must not call the session. Its panic is reported.
    pub fn subscribe_close(&self, listener: impl Fn(&SessionEnd) + 'static) -> Subscription {
        self.on_close(Turn::Listener, Rc::new(listener))
    }

    /// Like [`Session::subscribe_close`], when all of those were called: for components that stop running code, so that
    /// what the code holds has ended with the session's reason before.
    pub fn after_close_listeners(&self, listener: impl Fn(&SessionEnd) + 'static) -> Subscription {
        self.on_close(Turn::Afterwards, Rc::new(listener))
    }

    fn on_commit(&self, whose: Whose, listener: OnCommit) -> Subscription {
        self.register(|listeners, key| {
            listeners.commit.insert(key, (whose, listener));
        })
    }

    fn on_close(&self, turn: Turn, listener: CloseListener) -> Subscription {
        self.register(|listeners, key| {
            listeners.close.insert((turn, key), listener);
        })
    }

    fn register(&self, insert: impl FnOnce(&mut Listeners, u64)) -> Subscription {
        let mut listeners = self.0.listeners.borrow_mut();
        let key = listeners.next;
        listeners.next += 1;
        insert(&mut listeners, key);
        Subscription {
            session: Rc::downgrade(&self.0),
            key,
        }
    }
}

impl Inner {
    pub(super) fn publish(&self, publication: &Rc<Publication>) {
        let listeners: Vec<CommitListener> = self.listeners.borrow().commit.values().cloned().collect();
        let mut broken = None;
        call_each(
            &listeners,
            &|(_, listener)| listener(publication),
            &mut |(whose, _), text| match whose {
                Whose::Host => self.report(format!("a commit listener panicked: {text}")),
                Whose::Component => broken = Some(text),
            },
        );
        if let Some(text) = broken {
            self.bookkeeping_failed(format!("a component's commit listener panicked: {text}"));
        }
    }

    pub(super) fn tell_end(&self, end: &SessionEnd) {
        let listeners: Vec<CloseListener> = self.listeners.borrow().close.values().cloned().collect();
        call_each(&listeners, &|listener| listener(end), &mut |_, text| {
            self.report(format!("a close listener panicked: {text}"));
        });
    }
}

/// Calls every listener in turn. A panic is one catch for all of them: after it, the next catch goes on behind the one that
/// panicked.
fn call_each<L>(listeners: &[L], call: &dyn Fn(&L), panicked: &mut dyn FnMut(&L, String)) {
    let mut rest = listeners;
    while let Err((panic, at)) = call_until_panic(rest, call) {
        let (Some(listener), Some(behind)) = (rest.get(at), rest.get(at + 1..)) else {
            return;
        };
        panicked(listener, panic_text(panic.as_ref()));
        rest = behind;
    }
}

fn call_until_panic<L>(listeners: &[L], call: &dyn Fn(&L)) -> Result<(), (Panic, usize)> {
    let at = Cell::new(0);
    let outcome = caught_call(|| {
        for (index, listener) in listeners.iter().enumerate() {
            at.set(index);
            call(listener);
        }
    });
    outcome.map_err(|panic| (panic, at.get()))
}
