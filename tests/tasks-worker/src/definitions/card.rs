//! The bank of the checkout example, in tables of the object: what it did outlives the object's memory.

use crate::world::World;
use futures::future::LocalBoxFuture;
use tidehold_durable_objects::platform::timer::sleep;
use tidehold_example_checkout::{Charge, PaymentInput, Payments, Unreachable};
use tidehold_session::ids::TaskId;

/// Notes belong to no task here.
const NOBODY: TaskId = TaskId(0);

/// Accepted money is under way for longer than any test.
const CLEARS_IN_MS: u64 = 3_600_000;

pub struct Bank(pub World);

impl Payments for Bank {
    /// Declining takes longer: by then the other cards are charged.
    fn charge<'a>(
        &'a self,
        key: &'a str,
        payment: &'a PaymentInput,
    ) -> LocalBoxFuture<'a, Result<Charge, Unreachable>> {
        Box::pin(async move {
            let reason = self.0.charge(key, &payment.card, payment.cents as f64);
            if reason.is_empty() {
                self.0.note(NOBODY, "charged");
                return Ok(Charge::Accepted {
                    receipt: format!("receipt {key}"),
                    clears_in: CLEARS_IN_MS,
                });
            }
            sleep(1_000).await;
            Ok(Charge::Declined { reason })
        })
    }

    fn refund<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            self.0.refund(key);
            self.0.note(NOBODY, "refunded");
            // Killed here, the caller does not learn of it.
            sleep(500).await;
            Ok(())
        })
    }
}
