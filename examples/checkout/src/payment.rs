//! One card payment: intent, effect, outcome.

use super::payments::{Charge, Payments};
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::FromJson;
use tidehold_session::host::{Host, Millis};
use tidehold_tasks::{JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, Wake};

/// The longest pause between two attempts to reach the bank.
const LONGEST_PAUSE_MS: Millis = 60_000;

/// Charges one card and ends when the money has arrived. Aborted, it gives back what it may have charged.
pub struct Payment {
    payments: Rc<dyn Payments>,
}

/// What to charge.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct PaymentInput {
    pub card: String,
    pub cents: u64,
}

/// Where a payment stands.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum PaymentPhase {
    Prepare,
    /// The intent is stored: from here on the card may have been charged under `key`.
    Charge {
        key: String,
        attempt: u32,
    },
    /// The bank did not answer; it is asked again at `at`.
    Retry {
        key: String,
        attempt: u32,
        at: Millis,
    },
    /// Charged; the money arrives at `at`.
    Clear {
        key: String,
        receipt: String,
        at: Millis,
    },
}

/// A payment that went through.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct PaymentResult {
    pub key: String,
    pub receipt: String,
}

impl Payment {
    /// The definition over a bank.
    pub fn new(payments: Rc<dyn Payments>) -> Self {
        Self { payments }
    }

    async fn charge(
        &self,
        runtime: &Runtime<Self>,
        input: &PaymentInput,
        key: String,
        attempt: u32,
    ) -> Result<(), TaskFault> {
        match self.payments.charge(&key, input).await {
            Ok(Charge::Accepted { receipt, clears_in }) => {
                let at = runtime.now() + clears_in;
                park(runtime, PaymentPhase::Clear { key, receipt, at }, at).await
            }
            Ok(Charge::Declined { reason }) => runtime.finish(Outcome::failed(reason)).await,
            Err(_) => {
                let at = runtime.now() + pause(attempt);
                park(runtime, PaymentPhase::Retry { key, attempt, at }, at).await
            }
        }
    }

    /// Gives back until the bank has answered: only then is the end known.
    pub(crate) async fn refund<T: Task>(&self, runtime: &Runtime<T>, key: &str) -> Result<(), TaskFault> {
        let mut attempt = 1;
        while self.payments.refund(key).await.is_err() {
            runtime.sleep(runtime.now() + pause(attempt)).await?;
            attempt += 1;
        }
        Ok(())
    }
}

/// Nothing is in memory until then: the wait is in the record, and the alarm is set to it.
async fn park(runtime: &Runtime<Payment>, checkpoint: PaymentPhase, until: Millis) -> Result<(), TaskFault> {
    let wait = Next::Wait {
        checkpoint,
        on: Vec::new(),
        policy: JoinPolicy::AllSettled,
        until: Some(until),
    };
    runtime.commit(async move |_, _| Ok(Some(wait))).await
}

fn pause(attempt: u32) -> Millis {
    (500 << attempt.min(8)).min(LONGEST_PAUSE_MS)
}

/// A key that no other payment of any session has.
fn new_key(host: &dyn Host) -> String {
    let mut bytes = [0; 16];
    host.entropy(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}

impl Task for Payment {
    const NAME: &'static str = "example.payment";
    const VERSION: u32 = 1;
    type Input = PaymentInput;
    type Checkpoint = PaymentPhase;
    type Outcome = PaymentResult;

    fn initial(&self, _: &PaymentInput) -> PaymentPhase {
        PaymentPhase::Prepare
    }

    fn wake(&self, checkpoint: &PaymentPhase) -> Wake {
        match checkpoint {
            PaymentPhase::Prepare | PaymentPhase::Charge { .. } => Wake::Now,
            PaymentPhase::Retry { at, .. } | PaymentPhase::Clear { at, .. } => Wake::At(*at),
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            PaymentPhase::Prepare => {
                let key = new_key(runtime.session().host().as_ref());
                runtime.advance(PaymentPhase::Charge { key, attempt: 1 }).await
            }
            PaymentPhase::Charge { key, attempt } => self.charge(&runtime, &task.input, key, attempt).await,
            PaymentPhase::Retry { key, attempt, at } => {
                runtime.sleep(at).await?;
                let attempt = attempt + 1;
                runtime.advance(PaymentPhase::Charge { key, attempt }).await
            }
            PaymentPhase::Clear { key, receipt, at } => {
                runtime.sleep(at).await?;
                runtime
                    .finish(Outcome::Completed(PaymentResult { key, receipt }))
                    .await
            }
        }
    }

    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let reason = match task.checkpoint {
            PaymentPhase::Prepare => "nothing was charged",
            PaymentPhase::Charge { key, .. }
            | PaymentPhase::Retry { key, .. }
            | PaymentPhase::Clear { key, .. } => {
                self.refund(&runtime, &key).await?;
                "refunded"
            }
        };
        let (reason, result) = (Some(reason.into()), None);
        runtime.finish(Outcome::Aborted { reason, result }).await
    }
}
