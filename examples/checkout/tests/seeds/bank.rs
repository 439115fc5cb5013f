//! A bank that is slow, loses answers, and looks whether a key was stored before it was used.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::cell::RefCell;
use std::rc::Rc;
use tidehold_example_checkout::*;
use tidehold_session::records::TaskRecord;
use tidehold_session::storage::{Storage, TaskQuery};
use tidehold_simulator::{Random, Rough, Trace, World};
use tidehold_storage::MemoryStorage;

const CLEARS_IN: u64 = 10_000;

/// It outlives every process.
pub struct MoodyBank {
    pub ledger: Ledger,
    world: World,
    random: Random,
    trace: Trace,
    storage: RefCell<Option<Rc<Rough<MemoryStorage>>>>,
    breaches: RefCell<Vec<String>>,
}

impl MoodyBank {
    pub fn new(world: &World, seed: u64, trace: Trace) -> Self {
        Self {
            ledger: Ledger::new(CLEARS_IN),
            world: world.clone(),
            random: Random::at(seed, 2),
            trace,
            storage: RefCell::default(),
            breaches: RefCell::default(),
        }
    }

    /// The storage of the present life, in which it looks for keys.
    pub fn watches(&self, storage: &Rc<Rough<MemoryStorage>>) {
        self.storage.replace(Some(Rc::clone(storage)));
    }

    pub fn breaches(&self) -> Vec<String> {
        self.breaches.borrow().clone()
    }

    /// Every task that is stored, whatever the session knows of it.
    pub fn tasks(&self) -> Vec<TaskRecord> {
        // Another handle: the session may have closed its own.
        let storage = self.storage.borrow().as_ref().unwrap().inner().reopen();
        let query = TaskQuery::default();
        let page = storage.scan_tasks(&query, 100, None).now_or_never();
        page.expect("memory answers at once").unwrap().items
    }

    /// Takes its time, and says whether the answer is lost.
    async fn mood(&self) -> bool {
        let (delay, lost) = (self.random.below(3_000), self.random.percent(25));
        let host = self.world.host();
        host.sleep_until(host.now() + delay).await;
        lost
    }

    /// A key is committed before it is used: in a checkpoint, or, once its payment has ended, in the result.
    fn expect_intent(&self, key: &str) {
        let known = |task: &TaskRecord| {
            let stored = format!("{:?}", task.state);
            stored.contains(key)
        };
        if !self.tasks().iter().any(known) {
            let breach = format!("{key} was used and is not stored");
            self.breaches.borrow_mut().push(breach);
        }
    }
}

impl Payments for MoodyBank {
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>> {
        Box::pin(async move {
            self.expect_intent(key);
            let lost = self.mood().await;
            let answer = self.ledger.charge(key, payment).await?;
            self.trace
                .line(|| format!("charge {key}: {answer:?}, lost: {lost}"));
            if lost { Err(Unreachable) } else { Ok(answer) }
        })
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            self.expect_intent(key);
            let lost = self.mood().await;
            self.ledger.refund(key).await?;
            self.trace.line(|| format!("refund {key}, lost: {lost}"));
            if lost { Err(Unreachable) } else { Ok(()) }
        })
    }
}
