//! Checkouts in seeded lives: one number decides the cards, the bank's moods, the crashes and when somebody calls the whole off.
//! `TIDEHOLD_CHECKOUT_SEEDS=N` runs more of them; a failing one names its seed, and `TIDEHOLD_CHECKOUT_SEED=S` runs it alone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod common;

use common::*;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use tidehold_example_checkout::*;
use tidehold_session::host::Host;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskRecord};
use tidehold_session::storage::TaskQuery;
use tidehold_storage::fault::CommitFault;

const CENTS: u64 = 1_000;

/// Steps of a linear generator; the upper bits are good enough for dice.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A bank that is slow, loses answers, and looks whether a key was stored before it was used.
struct MoodyBank {
    ledger: Ledger,
    dice: RefCell<Dice>,
    medium: Medium,
    host: RefCell<Option<Rc<dyn Host>>>,
    breaches: RefCell<Vec<String>>,
}

impl MoodyBank {
    /// Takes its time, and says whether the answer is lost.
    async fn mood(&self) -> bool {
        let (delay, lost) = {
            let mut dice = self.dice.borrow_mut();
            (dice.below(3_000), dice.below(4) == 0)
        };
        let host = self.host.borrow().clone();
        if let Some(host) = host {
            host.sleep_until(host.now() + delay).await;
        }
        lost
    }

    fn expect_intent(&self, key: &str) {
        let tasks = tasks(&self.medium);
        let known = |task: &TaskRecord| {
            task.checkpoint()
                .is_some_and(|point| point.to_string().contains(key))
        };
        if !tasks.iter().any(known) {
            self.breaches
                .borrow_mut()
                .push(format!("{key} was used and is not stored"));
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
            if lost { Err(Unreachable) } else { Ok(answer) }
        })
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            let lost = self.mood().await;
            self.ledger.refund(key).await?;
            if lost { Err(Unreachable) } else { Ok(()) }
        })
    }
}

/// Every task that is stored, whoever has the session open.
fn tasks(medium: &Medium) -> Vec<TaskRecord> {
    let storage = medium.open();
    let page = storage
        .scan_tasks(&TaskQuery::default(), 100, None)
        .now_or_never();
    page.expect("ready at first poll").unwrap().items
}

/// Plays one story to its end; returns how the checkout ended.
fn play(seed: u64) -> &'static str {
    let mut dice = Dice(seed);
    let medium = if dice.below(16) == 0 {
        Medium::sqlite()
    } else {
        Medium::memory()
    };
    let bank = Rc::new(MoodyBank {
        ledger: Ledger::new(CLEARS_IN),
        dice: RefCell::new(Dice(seed ^ 0x9e37_79b9)),
        medium: medium.clone(),
        host: RefCell::default(),
        breaches: RefCell::default(),
    });
    let cards: Vec<_> = (0..1 + dice.below(5))
        .map(|_| if dice.below(6) == 0 { "expired" } else { "good" })
        .collect();
    let (mut life, id) = Life::with_checkout(medium.clone(), &bank, &cards);
    for _ in 0..dice.below(5) {
        bank.host.replace(Some(life.runtime.host()));
        let fault = if dice.below(2) == 0 {
            CommitFault::Before
        } else {
            CommitFault::After
        };
        if dice.below(4) > 0 {
            life.storage.allow_commits(Some(dice.below(25)), fault);
        }
        life.scheduler.resume();
        life.runtime.advance(dice.below(20_000));
        if dice.below(6) == 0 {
            let scheduler = life.scheduler.clone();
            // Lost with this life, it is lost: nobody asks again.
            life.session
                .spawn(async move { drop(scheduler.abort_task(id).await) });
            life.runtime.advance(dice.below(2_000));
        }
        life = life.crash(&bank);
    }
    bank.host.replace(Some(life.runtime.host()));
    let record = life.wait(id).unwrap_or_else(|| panic!("it does not end"));
    check(&record, &cards, &bank);
    life.runtime.advance(100_000);
    check(&record, &cards, &bank);
    assert_eq!(life.scheduler.next_wake(), None, "nothing is left to wake for");
    assert_payments_ended(&tasks(&medium), id, record.ended_at.unwrap());
    match record.outcome() {
        Some(TaskOutcome::Completed { .. }) => "completed",
        Some(TaskOutcome::Failed { .. }) => "failed",
        _ => "aborted",
    }
}

fn check(record: &TaskRecord, cards: &[&str], bank: &MoodyBank) {
    assert_eq!(*bank.breaches.borrow(), Vec::<String>::new());
    assert!(bank.ledger.keys() <= cards.len(), "a key a card");
    let paid = match record.outcome().unwrap() {
        TaskOutcome::Completed { .. } => {
            assert!(cards.iter().all(|card| *card == "good"));
            CENTS * cards.len() as u64
        }
        TaskOutcome::Failed { .. } => {
            assert!(cards.contains(&"expired"));
            0
        }
        TaskOutcome::Aborted { .. } => {
            assert!(record.abort_requested);
            0
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(bank.ledger.balance(), paid, "{record:?}");
}

fn assert_payments_ended(tasks: &[TaskRecord], id: TaskId, ended: u64) {
    for payment in tasks.iter().filter(|task| task.owner == Some(id)) {
        assert!(
            payment.ended_at.is_some_and(|at| at <= ended),
            "bottom-up: {payment:?}"
        );
    }
}

#[test]
fn every_cent_is_where_the_outcome_says() {
    let number = |name| {
        std::env::var(name)
            .ok()
            .and_then(|text: String| text.parse::<u64>().ok())
    };
    if let Some(seed) = number("TIDEHOLD_CHECKOUT_SEED") {
        play(seed);
        return;
    }
    let mut ends = BTreeSet::new();
    for seed in 0..number("TIDEHOLD_CHECKOUT_SEEDS").unwrap_or(500) {
        match std::panic::catch_unwind(|| play(seed)) {
            Ok(end) => drop(ends.insert(end)),
            Err(panic) => {
                eprintln!(
                    "TIDEHOLD_CHECKOUT_SEED={seed} cargo test -p tidehold-example-checkout --test seeds"
                );
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert!(
        ends.into_iter().eq(["aborted", "completed", "failed"]),
        "seeds that try everything"
    );
}
