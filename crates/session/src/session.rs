//! The open session: the line, the commit and its publication (spec 3.4 and 4).

mod cache;
mod close;
mod commit;
mod contexts;
mod failure;
mod known;
mod listeners;
mod reads;
pub(crate) mod typed;
mod under_way;

use crate::error::SessionError;
use crate::host::{Host, Millis};
use crate::latch::Latch;
use crate::line::{Job, Line};
use crate::observe::Hub;
use crate::records::ConversationRecord;
use crate::session::cache::DocumentCache;
use crate::session::close::Ended;
use crate::session::contexts::Contexts;
use crate::session::failure::Health;
use crate::session::known::Known;
use crate::session::listeners::Listeners;
use crate::session::under_way::UnderWay;
use crate::storage::Storage;
use crate::tx::Tx;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;
use std::cell::{OnceCell, RefCell};
use std::future::Future;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use tidehold_delta::Json;

pub use close::SessionEnd;
pub use listeners::Subscription;
pub use under_way::Hold;

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
    /// Receives the session's failure, once, after it is sealed; and panics of listeners, which fail nothing.
    pub on_report: Option<Rc<dyn Fn(String)>>,
    /// How long an unused document that nobody observes stays in memory, read after each commit (spec 4); ten minutes
    /// without it. 0 forgets it after each commit, the greatest number never.
    pub document_retention_ms: Option<Rc<dyn Fn() -> Millis>>,
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
    /// The value as the last definition that had to migrate it read it, with that definition's version.
    pub migrated: Option<(u32, Json)>,
    pub deltas_since_base: u32,
}

/// Work for the line, and how it settled.
type AdmittedJob = LocalBoxFuture<'static, Result<(), SessionError>>;

pub(crate) struct Inner {
    me: OnceCell<Weak<Self>>,
    /// Called through [`Inner::read`] and [`Inner::write`].
    pub storage: Rc<dyn Storage>,
    pub host: Rc<dyn Host>,
    pub options: SessionOptions,
    line: Rc<Line>,
    health: RefCell<Health>,
    pub documents: RefCell<DocumentCache>,
    pub known: RefCell<Known>,
    contexts: RefCell<Contexts>,
    listeners: RefCell<Listeners>,
    /// Of the one hub that its listeners own, once there was an observer.
    pub observers: OnceCell<Weak<Hub>>,
    under_way: Rc<UnderWay>,
    /// Set when the storage is closed.
    ended: Latch<Ended>,
    /// Upgrades while a scheduler runs the tasks of this session.
    scheduling: RefCell<Weak<()>>,
}

/// The right to run the tasks of a session, while it is held.
#[must_use]
pub struct SchedulingClaim {
    _held: Rc<()>,
}

impl Session {
    /// Takes the right to run this session's tasks: two schedulers would start every task twice.
    ///
    /// # Errors
    /// [`SessionError::Request`] while another one has it.
    pub fn claim_scheduling(&self) -> Result<SchedulingClaim, SessionError> {
        let mut held = self.0.scheduling.borrow_mut();
        if held.strong_count() > 0 {
            return Err(SessionError::Request(
                "the session has a scheduler already".to_owned(),
            ));
        }
        let claim = Rc::new(());
        *held = Rc::downgrade(&claim);
        Ok(SchedulingClaim { _held: claim })
    }

    /// Binds a session to its storage. Reads nothing and writes nothing.
    pub fn open(storage: Rc<dyn Storage>, host: Rc<dyn Host>, options: SessionOptions) -> Self {
        let inner = Rc::new(Inner {
            me: OnceCell::new(),
            storage,
            host,
            options,
            line: Rc::default(),
            health: RefCell::default(),
            documents: RefCell::default(),
            known: RefCell::default(),
            contexts: RefCell::default(),
            listeners: RefCell::default(),
            observers: OnceCell::new(),
            under_way: Rc::default(),
            ended: Latch::default(),
            scheduling: RefCell::default(),
        });
        let _set_once = inner.me.set(Rc::downgrade(&inner));
        Self(inner)
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
        // Only this shell depends on the caller's types: the commit itself is compiled once.
        let slot = Rc::new(RefCell::new(None));
        let filled = Rc::clone(&slot);
        let body: commit::Body = Box::new(move |tx| {
            Box::pin(async move {
                let outcome = change(tx).await;
                let verdict = match outcome {
                    Ok(_) => commit::Verdict::Commit,
                    Err(_) => commit::Verdict::RollBack,
                };
                *filled.borrow_mut() = Some(outcome);
                verdict
            })
        });
        let settled = self.commit_erased(body).await;
        let outcome = slot.borrow_mut().take();
        match (settled, outcome) {
            // The callback's own error says more than that it was rolled back.
            (_, Some(Err(own))) => Err(own),
            (Ok(()), Some(Ok(value))) => Ok(value),
            (Err(error), _) => Err(error.into()),
            (Ok(()), None) => Err(SessionError::Closed.into()),
        }
    }

    // Boxed, like every larger future that other crates await: its code then exists once, in this crate.
    fn commit_erased(&self, body: commit::Body) -> LocalBoxFuture<'_, Result<(), SessionError>> {
        self.admit(Box::pin(commit::run(Rc::clone(&self.0), body)))
    }

    /// Runs a job on the line without a transaction, for reads that must be atomic with a registration.
    pub async fn on_line<T, F>(&self, job: F) -> Result<T, SessionError>
    where
        T: 'static,
        F: AsyncFnOnce() -> T + 'static,
    {
        let slot = Rc::new(RefCell::new(None));
        let filled = Rc::clone(&slot);
        self.admit(Box::pin(async move {
            let value = job().await;
            *filled.borrow_mut() = Some(value);
            Ok(())
        }))
        .await?;
        let value = slot.borrow_mut().take();
        value.ok_or(SessionError::Closed)
    }

    /// Queues a job and waits until it ran.
    fn admit(&self, job: AdmittedJob) -> LocalBoxFuture<'_, Result<(), SessionError>> {
        Box::pin(self.run_on_line(job))
    }

    async fn run_on_line(&self, job: AdmittedJob) -> Result<(), SessionError> {
        self.0.health.borrow().check()?;
        let (reply, result) = oneshot::channel();
        let inner = Rc::clone(&self.0);
        let work = async move {
            if reply.is_canceled() {
                return;
            }
            let healthy = inner.health.borrow().check_admitted();
            let settled = match healthy {
                Ok(()) => job.await,
                Err(error) => Err(error),
            };
            // The caller may be gone: an admitted job settles for everyone else.
            let _gone = reply.send(settled);
        };
        self.0.push(Box::pin(work)).await;
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

    /// Spawns background work of this session.
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        self.0.host.spawn(Box::pin(future));
    }
}

impl Inner {
    /// Puts a job on the line.
    async fn push(&self, job: Job) {
        let mut job = Some(job);
        let begin = |context: &mut Context<'_>| {
            if let Some(job) = job.take() {
                self.line.push(self.host.as_ref(), job, context);
            }
            Poll::Ready(())
        };
        std::future::poll_fn(begin).await;
    }
}
