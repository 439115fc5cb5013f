//! Checkouts over several lives of their session: whatever a crash takes, every cent is where it belongs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests say so by failing"
)]

mod common;

use common::*;
use futures::future::LocalBoxFuture;
use std::rc::Rc;
use tidehold_example_checkout::*;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskOutcome;
use tidehold_storage::fault::CommitFault;

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
