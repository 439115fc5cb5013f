//! A bank behind a bad line, and the lives of a session that pays.

#[path = "../../../../crates/tasks/tests/support/storage.rs"]
mod storage;

use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
pub use storage::{Faulty, Medium};
use tidehold_example_checkout::*;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ROOT_CONVERSATION_ID as ROOT, TaskId};
use tidehold_session::records::TaskOutcome;
use tidehold_session::{Session, SessionError, SessionOptions};
use tidehold_tasks::{Scheduler, SchedulerOptions, TaskOptions, TaskRecord, TaskRegistry, create};

pub const CLEARS_IN: u64 = 10_000;

/// A ledger behind a line that loses answers: the call arrives and the caller never learns of it.
pub struct Bank {
    pub ledger: Ledger,
    /// Answers still to be lost.
    pub loses: Cell<u32>,
    /// What was asked, in order.
    pub log: RefCell<Vec<String>>,
}

impl Bank {
    pub fn new() -> Rc<Self> {
        Rc::new(Self {
            ledger: Ledger::new(CLEARS_IN),
            loses: Cell::new(0),
            log: RefCell::default(),
        })
    }

    fn answered<T>(&self, answer: T) -> Result<T, Unreachable> {
        match self.loses.get() {
            0 => Ok(answer),
            left => {
                self.loses.set(left - 1);
                Err(Unreachable)
            }
        }
    }

    pub fn refunds(&self) -> usize {
        let log = self.log.borrow();
        log.iter().filter(|line| line.starts_with("refund")).count()
    }
}

impl Payments for Bank {
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>> {
        Box::pin(async move {
            self.log.borrow_mut().push(format!("charge {key}"));
            let answer = self.ledger.charge(key, payment).await?;
            self.answered(answer)
        })
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            self.log.borrow_mut().push(format!("refund {key}"));
            self.ledger.refund(key).await?;
            self.answered(())
        })
    }
}

/// One open session.
pub struct Life {
    pub runtime: LocalRuntime,
    pub medium: Medium,
    pub storage: Rc<dyn Faulty>,
    pub session: Session,
    pub scheduler: Scheduler,
    /// No two lives draw the same keys.
    seed: u64,
}

impl Life {
    fn open(medium: Medium, bank: &Rc<Bank>, now: u64, seed: u64) -> Self {
        let mut runtime = LocalRuntime::virtual_clock(now, seed);
        let storage = medium.open();
        let session = Session::open(storage.clone(), runtime.host(), SessionOptions::default());
        let registry = TaskRegistry::new();
        install(&registry, bank.clone());
        let opened = session.clone();
        let scheduler = runtime
            .run(async move { Scheduler::open(&opened, registry, SchedulerOptions::default()).await })
            .unwrap()
            .unwrap();
        Self {
            runtime,
            medium,
            storage,
            session,
            scheduler,
            seed,
        }
    }

    /// A first life with a checkout that nothing has run yet.
    pub fn with_checkout(medium: Medium, bank: &Rc<Bank>, cards: &[&str]) -> (Self, TaskId) {
        let mut life = Self::open(medium, bank, 0, 11);
        let payments = cards.iter().map(|card| PaymentInput {
            card: (*card).to_owned(),
            cents: 1_000,
        });
        let input = CheckoutInput {
            payments: payments.collect(),
        };
        let definition = Checkout::new(Rc::new(Payment::new(bank.clone())));
        let session = life.session.clone();
        let id = life.runtime.run(async move {
            session
                .commit(async move |tx| {
                    tx.create_root().await?;
                    let options = TaskOptions::in_conversation(ROOT);
                    Ok::<_, SessionError>(create(&tx, &definition, &input, options).await?.id())
                })
                .await
        });
        (life, id.unwrap().unwrap())
    }

    /// Its memory is gone; whoever has the medium opens it again.
    pub fn crash(self, bank: &Rc<Bank>) -> Self {
        let (now, medium, seed) = (self.runtime.host().now(), self.medium.clone(), self.seed + 2);
        drop(self);
        Self::open(medium, bank, now, seed)
    }

    /// The receipt, or none if this life ends before.
    pub fn wait(&mut self, id: TaskId) -> Option<Rc<TaskRecord>> {
        let scheduler = self.scheduler.clone();
        let settled = self.runtime.run(async move { scheduler.wait_for_task(id).await });
        settled.and_then(Result::ok)
    }

    /// An abort, unless this life ends before it is stored.
    pub fn abort(&mut self, id: TaskId) {
        let scheduler = self.scheduler.clone();
        let reply = self.runtime.run(async move { scheduler.abort_task(id).await });
        assert!(reply.unwrap().is_ok() || self.session.health().is_err());
    }

    pub fn children(&self, id: TaskId) -> Vec<Rc<TaskRecord>> {
        let mut tasks = self.scheduler.live_tasks(ROOT);
        tasks.retain(|task| task.owner == Some(id));
        tasks
    }
}

pub fn result(record: &TaskRecord) -> CheckoutResult {
    match record.outcome().unwrap() {
        TaskOutcome::Completed { result }
        | TaskOutcome::Failed {
            result: Some(result), ..
        }
        | TaskOutcome::Aborted {
            result: Some(result), ..
        } => result.to_typed().unwrap(),
        other => panic!("{other:?}"),
    }
}
