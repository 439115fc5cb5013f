//! The open session: the line, the commit and its publication (spec 3.4 and 4).

mod commit;
mod failure;
mod reads;

use crate::documents::DocumentAddress;
use crate::error::SessionError;
use crate::host::Host;
use crate::line::Line;
use crate::publication::Publication;
use crate::records::ConversationRecord;
use crate::session::failure::Health;
use crate::storage::Storage;
use crate::tx::Tx;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::rc::{Rc, Weak};
use tidehold_delta::Json;

pub use failure::SessionEnd;

/// Runs in every commit that creates or forks a conversation, before the creating call returns.
pub trait ConversationHook {
    /// May use documents; table reads fail, since the creation is a table write.
    fn created<'a>(
        &'a self,
        tx: &'a Tx,
        record: &'a ConversationRecord,
    ) -> LocalBoxFuture<'a, Result<(), SessionError>>;
}

/// Construction options of a session.
#[derive(Default)]
pub struct SessionOptions {
    pub conversation_created: Option<Rc<dyn ConversationHook>>,
    /// Receives the session's failure, once, after it is sealed.
    pub on_report: Option<Rc<dyn Fn(String)>>,
}

/// Handle of an open session. Clones share it.
#[derive(Clone)]
pub struct Session(pub(crate) Rc<Inner>);

/// A committed document in memory.
#[derive(Clone)]
pub(crate) struct CachedDocument {
    pub record: Rc<crate::documents::DocumentRecord>,
    /// Version of the stored value.
    pub version: u32,
    pub value: Json,
    pub deltas_since_base: u32,
}

type CommitListener = Rc<dyn Fn(&Rc<Publication>)>;
type CloseListener = Rc<dyn Fn(&SessionEnd)>;

pub(crate) struct Inner {
    pub storage: Rc<dyn Storage>,
    pub host: Rc<dyn Host>,
    pub options: SessionOptions,
    line: Rc<Line>,
    health: RefCell<Health>,
    pub documents: RefCell<HashMap<DocumentAddress, CachedDocument>>,
    listeners: RefCell<Listeners>,
}

#[derive(Default)]
struct Listeners {
    next: u64,
    commit: BTreeMap<u64, CommitListener>,
    close: BTreeMap<u64, CloseListener>,
}

/// Removes its listener when dropped.
#[must_use = "dropping a subscription removes its listener"]
pub struct Subscription {
    session: Weak<Inner>,
    key: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(inner) = self.session.upgrade() {
            let mut listeners = inner.listeners.borrow_mut();
            listeners.commit.remove(&self.key);
            listeners.close.remove(&self.key);
        }
    }
}

impl Session {
    /// Binds a session to its storage. Reads nothing and writes nothing.
    pub fn open(storage: Rc<dyn Storage>, host: Rc<dyn Host>, options: SessionOptions) -> Self {
        Self(Rc::new(Inner {
            storage,
            host,
            options,
            line: Rc::default(),
            health: RefCell::default(),
            documents: RefCell::default(),
            listeners: RefCell::default(),
        }))
    }

    /// The platform under this session.
    pub fn host(&self) -> &Rc<dyn Host> {
        &self.0.host
    }

    /// Runs `change` on the mutation line and commits what it staged, atomically (spec 3.4).
    ///
    /// The callback must not await another commit of this session: that would wait for itself. Dropping the returned
    /// future before the callback started withdraws the commit; afterwards it settles all the same.
    pub async fn commit<T, E, F>(&self, change: F) -> Result<T, E>
    where
        T: 'static,
        E: From<SessionError> + 'static,
        F: AsyncFnOnce(Tx) -> Result<T, E> + 'static,
    {
        let inner = Rc::clone(&self.0);
        self.on_line(async move || commit::run(inner, change).await)
            .await
            .map_err(E::from)?
    }

    /// Runs a job on the line without a transaction, for reads that must be atomic with a registration.
    pub async fn on_line<T, F>(&self, job: F) -> Result<T, SessionError>
    where
        T: 'static,
        F: AsyncFnOnce() -> T + 'static,
    {
        self.0.health.borrow().check()?;
        let (reply, result) = oneshot::channel();
        let inner = Rc::clone(&self.0);
        let work = async move {
            if reply.is_canceled() {
                return;
            }
            let healthy = inner.health.borrow().check_admitted();
            let answer = match healthy {
                Ok(()) => Ok(job().await),
                Err(error) => Err(error),
            };
            // The caller may be gone: an admitted job settles for everyone else.
            let _gone = reply.send(answer);
        };
        self.0.line.push(self.0.host.as_ref(), Box::pin(work));
        match result.await {
            Ok(answer) => answer,
            Err(oneshot::Canceled) => Err(self
                .0
                .health
                .borrow()
                .check()
                .err()
                .unwrap_or(SessionError::Closed)),
        }
    }

    /// Calls `listener` synchronously with every later publication, on the line, after adoption. It must not block and
    /// must not commit; it may spawn.
    pub fn subscribe_commits(&self, listener: impl Fn(&Rc<Publication>) + 'static) -> Subscription {
        self.register(|listeners, key| {
            listeners.commit.insert(key, Rc::new(listener));
        })
    }

    /// Calls `listener` once, synchronously, when close or failure begins.
    pub fn subscribe_close(&self, listener: impl Fn(&SessionEnd) + 'static) -> Subscription {
        self.register(|listeners, key| {
            listeners.close.insert(key, Rc::new(listener));
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

    /// Spawns background work of this session.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.0.host.spawn(Box::pin(future));
    }
}

impl Inner {
    pub(crate) fn publish(&self, publication: &Rc<Publication>) {
        let listeners: Vec<CommitListener> = self.listeners.borrow().commit.values().cloned().collect();
        for listener in listeners {
            listener(publication);
        }
    }
}
