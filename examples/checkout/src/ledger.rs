//! A bank in memory.

use super::payment::PaymentInput;
use super::payments::{Charge, Payments, Unreachable};
use futures::future::{LocalBoxFuture, ready};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tidehold_session::host::Millis;

/// A bank that never fails to answer and keeps one line a key. It outlives the sessions that use it. A card whose name starts
/// with `expired` is declined.
#[derive(Debug)]
pub struct Ledger {
    clears_in: Millis,
    lines: RefCell<BTreeMap<String, Line>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Line {
    Charged(u64),
    Declined(String),
    Void,
}

impl Ledger {
    /// Accepted payments arrive after `clears_in`.
    pub fn new(clears_in: Millis) -> Self {
        Self {
            clears_in,
            lines: RefCell::default(),
        }
    }

    /// What is charged and not given back, in cents.
    pub fn balance(&self) -> u64 {
        let lines = self.lines.borrow();
        let cents = lines.values().map(|line| match line {
            Line::Charged(cents) => *cents,
            Line::Declined(_) | Line::Void => 0,
        });
        cents.sum()
    }

    /// How many keys were used.
    pub fn keys(&self) -> usize {
        self.lines.borrow().len()
    }

    fn answer(&self, key: &str, payment: &PaymentInput) -> Charge {
        let mut lines = self.lines.borrow_mut();
        let line = lines.entry(key.to_owned()).or_insert_with(|| {
            if payment.card.starts_with("expired") {
                Line::Declined(format!("card {} has expired", payment.card))
            } else {
                Line::Charged(payment.cents)
            }
        });
        match line {
            Line::Charged(_) => Charge::Accepted {
                receipt: format!("receipt {key}"),
                clears_in: self.clears_in,
            },
            Line::Declined(reason) => Charge::Declined {
                reason: reason.clone(),
            },
            Line::Void => Charge::Declined {
                reason: "the payment was called off".to_owned(),
            },
        }
    }
}

impl Payments for Ledger {
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>> {
        Box::pin(ready(Ok(self.answer(key, payment))))
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        self.lines.borrow_mut().insert(key.to_owned(), Line::Void);
        Box::pin(ready(Ok(())))
    }
}
