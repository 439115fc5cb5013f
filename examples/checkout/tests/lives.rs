//! Checkouts over several lives of their session: whatever a crash takes, every cent is where it belongs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

#[path = "../../../crates/tasks/tests/support/storage.rs"]
mod storage;

use futures::future::LocalBoxFuture;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use storage::{Faulty, Medium};
use tidehold_example_checkout::*;
use tidehold_session::host_local::LocalRuntime;
use tidehold_session::ids::{ROOT_CONVERSATION_ID as ROOT, TaskId};
use tidehold_session::records::TaskOutcome;
use tidehold_session::{Session, SessionOptions};
use tidehold_storage::fault::CommitFault;
use tidehold_tasks::{Scheduler, SchedulerOptions, TaskOptions, TaskRecord, TaskRegistry, create};

const CLEARS_IN: u64 = 10_000;

/// A ledger behind a line that loses answers: the call arrives and the caller never learns of it.
struct Bank {
    ledger: Ledger,
    /// Answers still to be lost.
    loses: Cell<u32>,
    /// What was asked, in order.
    log: RefCell<Vec<String>>,
}

impl Bank {
    fn new() -> Rc<Self> {
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

    fn refunds(&self) -> usize {
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
struct Life {
    runtime: LocalRuntime,
    medium: Medium,
    storage: Rc<dyn Faulty>,
    session: Session,
    scheduler: Scheduler,
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
        }
    }

    /// A first life with a checkout that nothing has run yet.
    fn with_checkout(medium: Medium, bank: &Rc<Bank>, cards: &[&str]) -> (Self, TaskId) {
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
                    create(&tx, &definition, &input, TaskOptions::in_conversation(ROOT)).await
                })
                .await
        });
        (life, id.unwrap().unwrap())
    }

    /// Its memory is gone; whoever has the medium opens it again.
    fn crash(self, bank: &Rc<Bank>) -> Self {
        let (now, medium) = (self.runtime.host().now(), self.medium.clone());
        drop(self);
        // Another life draws other keys.
        Self::open(medium, bank, now, now + 12)
    }

    /// The receipt, or none if this life ends before.
    fn wait(&mut self, id: TaskId) -> Option<Rc<TaskRecord>> {
        let scheduler = self.scheduler.clone();
        let settled = self.runtime.run(async move { scheduler.wait_for_task(id).await });
        settled.and_then(Result::ok)
    }

    /// An abort, unless this life ends before it is stored.
    fn abort(&mut self, id: TaskId) {
        let scheduler = self.scheduler.clone();
        let reply = self.runtime.run(async move { scheduler.abort_task(id).await });
        assert!(reply.unwrap().is_ok() || self.session.health().is_err());
    }

    fn children(&self, id: TaskId) -> Vec<Rc<TaskRecord>> {
        let mut tasks = self.scheduler.live_tasks(ROOT);
        tasks.retain(|task| task.owner == Some(id));
        tasks
    }
}

fn result(record: &TaskRecord) -> CheckoutResult {
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

const CARDS: [&str; 4] = ["visa", "expired amex", "diners", "master"];

/// Lets the session crash at its first commit, at its second, and so on, each lost or stored, until `story` tells an end without a
/// crash. `story` says whether it came to its end.
fn at_every_commit(story: impl Fn(Medium, u64, CommitFault) -> bool) {
    for fault in [CommitFault::Before, CommitFault::After] {
        let sqlite_too =
            |commits| [Medium::memory(), Medium::sqlite()].map(|medium| story(medium, commits, fault));
        let crashes = (0..).take_while(|commits| sqlite_too(*commits) != [true, true]);
        assert!(crashes.count() >= 6, "a story has more commits than that");
    }
}

#[test]
fn an_expired_card_calls_the_other_payments_off_whatever_crashes() {
    at_every_commit(|medium, commits, fault| {
        let bank = Bank::new();
        let (mut life, id) = Life::with_checkout(medium, &bank, &CARDS);
        life.storage.allow_commits(Some(commits), fault);
        let first = life.wait(id);
        let undisturbed = life.session.health().is_ok();
        let record = match first {
            Some(record) => record,
            None => life.crash(&bank).wait(id).unwrap(),
        };
        use PaymentEnd::{Aborted, Failed};
        assert_eq!(
            result(&record).payments,
            [Aborted, Failed, Aborted, Aborted],
            "{commits} {fault:?}"
        );
        let TaskOutcome::Failed { error, .. } = record.outcome().unwrap() else {
            panic!("{record:?}")
        };
        assert_eq!(&*error.message, "card expired amex has expired");
        assert!(!record.abort_requested, "the checkout itself was not aborted");
        assert_eq!(bank.ledger.balance(), 0);
        assert!(bank.ledger.keys() <= 4, "a key is stored before it is used");
        undisturbed
    });
}

#[test]
fn an_abort_of_the_checkout_refunds_bottom_up_whatever_crashes() {
    at_every_commit(|medium, commits, fault| {
        let bank = Bank::new();
        let (mut life, id) = Life::with_checkout(medium, &bank, &["visa", "amex", "diners", "master"]);
        life.scheduler.resume();
        life.runtime.advance(CLEARS_IN / 2);
        assert_eq!(bank.ledger.balance(), 4_000, "all are charged, none has cleared");
        assert_eq!(life.children(id).len(), 4);
        life.storage.allow_commits(Some(commits), fault);
        life.abort(id);
        let first = life.wait(id);
        let undisturbed = life.session.health().is_ok();
        if first.is_none() {
            life = life.crash(&bank);
            // A mark that was lost with the crash has to be asked for again.
            life.abort(id);
        }
        let record = life.wait(id).unwrap();
        assert!(matches!(record.outcome(), Some(TaskOutcome::Aborted { .. })));
        assert_eq!(result(&record).payments, [PaymentEnd::Aborted; 4]);
        assert_eq!(bank.ledger.balance(), 0);
        assert_eq!(bank.ledger.keys(), 4);
        if undisturbed {
            assert_eq!(bank.refunds(), 4);
        }
        let ended = [id.0, id.0 + 1, id.0 + 2, id.0 + 3, id.0 + 4].map(|id| {
            let session = life.session.clone();
            let record = life.runtime.run(async move { session.task(TaskId(id)).await });
            record.unwrap().unwrap().unwrap().ended_at.unwrap()
        });
        assert!(ended[1..].iter().all(|payment| *payment <= ended[0]));
        undisturbed
    });
}

#[test]
fn cards_that_are_good_pay_once_and_the_wait_for_the_money_holds_nothing() {
    let bank = Bank::new();
    let (mut life, id) = Life::with_checkout(Medium::memory(), &bank, &["visa", "amex"]);
    life.scheduler.resume();
    life.runtime.advance(CLEARS_IN / 2);
    assert_eq!(life.scheduler.next_wake(), Some(CLEARS_IN));
    let states = life.scheduler.inspect().into_iter().map(|task| task.state);
    let held = states.filter(|state| *state == tidehold_tasks::TaskInspectionState::Running);
    assert_eq!(held.count(), 0, "no invocation waits");
    let mut life = life.crash(&bank);
    let record = life.wait(id).unwrap();
    assert_eq!(result(&record).payments, [PaymentEnd::Completed; 2]);
    assert_eq!(record.ended_at, Some(CLEARS_IN));
    assert_eq!(bank.ledger.balance(), 2_000);
    assert_eq!(bank.log.borrow().len(), 2, "each card was charged once");
}

#[test]
fn a_lost_answer_is_asked_for_again_with_the_same_key() {
    let bank = Bank::new();
    bank.loses.set(3);
    let (mut life, id) = Life::with_checkout(Medium::memory(), &bank, &["visa"]);
    let record = life.wait(id).unwrap();
    assert_eq!(result(&record).payments, [PaymentEnd::Completed]);
    assert_eq!((bank.log.borrow().len(), bank.ledger.keys()), (4, 1));
    assert_eq!(bank.ledger.balance(), 1_000);
    // 1, 2 and 4 seconds between the attempts, then the money is on its way.
    assert_eq!(record.ended_at, Some(7_000 + CLEARS_IN));
}

#[test]
fn a_payment_that_went_through_is_given_back_when_a_later_one_fails() {
    let bank = Bank::new();
    let (mut life, id) = Life::with_checkout(Medium::memory(), &bank, &["visa", "expired amex"]);
    // The second card's charge is not answered until the first one's money has arrived.
    let slow = Rc::clone(&bank);
    let definition = Payment::new(Rc::new(SlowFor("expired", slow, life.runtime.host())));
    life.scheduler.registry().install(Rc::new(definition));
    let record = life.wait(id).unwrap();
    assert_eq!(
        result(&record).payments,
        [PaymentEnd::Completed, PaymentEnd::Failed]
    );
    assert_eq!((bank.ledger.balance(), bank.refunds()), (0, 1));
}

/// A bank that takes its time for some cards.
struct SlowFor(&'static str, Rc<Bank>, Rc<dyn tidehold_session::host::Host>);

impl Payments for SlowFor {
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>> {
        Box::pin(async move {
            if payment.card.starts_with(self.0) {
                self.2.sleep_until(self.2.now() + 2 * CLEARS_IN).await;
            }
            self.1.charge(key, payment).await
        })
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        self.1.refund(key)
    }
}
