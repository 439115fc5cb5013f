//! The bank, as tasks need it: every effect carries a key under which it happens at most once.

use super::payment::PaymentInput;
use futures::future::LocalBoxFuture;
use tidehold_session::host::Millis;

/// How a bank answers a charge.
#[derive(Clone, Debug, PartialEq)]
pub enum Charge {
    /// Charged. The money arrives after `clears_in`.
    Accepted { receipt: String, clears_in: Millis },
    /// Not charged, and never will be under this key.
    Declined { reason: String },
}

/// The bank did not answer. Whether it did what it was asked is unknown; asking again with the same key is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable;

/// A bank.
pub trait Payments {
    /// Charges a card. With a key that was used before it changes nothing and answers as it did then.
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>>;

    /// Gives back what was charged under the key, if anything, and voids the key: a charge that is still on its way will be
    /// declined. Repeating it changes nothing.
    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>>;
}
