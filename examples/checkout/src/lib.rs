//! A checkout that pays with several cards at once (spec 5.5): the worked example of `docs/tasks.md`.
//!
//! [`Checkout`] owns one [`Payment`] a card and waits for them: the first failure aborts the others, each refunds what it
//! charged, and the checkout then reads how all of them ended. What is outside of the session is behind [`Payments`];
//! [`Ledger`] is a bank in memory. Nothing here knows a platform: the same tasks run natively, in the simulator and in an
//! object. Its modules name each other by `super`, so that the tests inside `tidehold-tasks` can include them by path.

mod checkout;
mod ledger;
mod payment;
mod payments;

pub use checkout::{Checkout, CheckoutInput, CheckoutPhase, CheckoutResult, PaymentEnd};
pub use ledger::Ledger;
pub use payment::{Payment, PaymentInput, PaymentPhase, PaymentResult};
pub use payments::{Charge, Payments, Unreachable};

use std::rc::Rc;
use tidehold_tasks::TaskRegistry;

/// Installs both definitions over one bank.
pub fn install(registry: &TaskRegistry, payments: Rc<dyn Payments>) {
    let payment = Rc::new(Payment::new(payments));
    registry.install(Rc::clone(&payment));
    registry.install(Rc::new(Checkout::new(payment)));
}
