//! A checkout: several payments that succeed or fail together.

use super::payment::{Payment, PaymentInput, PaymentResult};
use serde::Serialize;
use std::rc::Rc;
use tidehold_delta::FromJson;
use tidehold_session::ids::TaskId;
use tidehold_session::records::{TaskOutcome, TaskOutcomeError};
use tidehold_tasks::{
    JoinPolicy, Next, Outcome, Running, Runtime, Task, TaskFault, TaskOptions, Wake, create,
};

/// Pays with every card of its input, or with none.
pub struct Checkout {
    payment: Rc<Payment>,
}

/// What to charge where.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
pub struct CheckoutInput {
    pub payments: Vec<PaymentInput>,
}

/// Where a checkout stands.
#[derive(Clone, Debug, PartialEq, Serialize, FromJson)]
#[serde(tag = "phase", rename_all = "camelCase")]
pub enum CheckoutPhase {
    Start,
    /// The payments exist, in the order of the input. It waits here for all of them.
    Settle {
        payments: Vec<TaskId>,
    },
}

/// How every payment ended, in the order of the input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, FromJson)]
pub struct CheckoutResult {
    pub payments: Vec<PaymentEnd>,
}

/// How one payment ended: the name of its outcome. Of `orphaned` and `faulted` ones nobody knows whether they charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromJson)]
#[serde(rename_all = "camelCase")]
pub enum PaymentEnd {
    Completed,
    Failed,
    Aborted,
    Orphaned,
    Faulted,
}

impl Checkout {
    /// The definition over that of its payments.
    pub fn new(payment: Rc<Payment>) -> Self {
        Self { payment }
    }

    /// Creates the payments and waits for them, in one commit: there is no moment in which they exist and nobody waits.
    async fn start(&self, runtime: &Runtime<Self>, input: CheckoutInput) -> Result<(), TaskFault> {
        let payment = Rc::clone(&self.payment);
        runtime
            .commit(async move |tx, record| {
                let mut payments = Vec::with_capacity(input.payments.len());
                for order in &input.payments {
                    let options = TaskOptions::owned_by(record.id);
                    payments.push(create(&tx, payment.as_ref(), order, options).await?);
                }
                Ok(Some(Next::Wait {
                    on: payments.clone(),
                    checkpoint: CheckoutPhase::Settle { payments },
                    policy: JoinPolicy::FailFast,
                    until: None,
                }))
            })
            .await
    }

    /// All payments have ended. Unless all went through, those that did are given back.
    async fn settle(&self, runtime: &Runtime<Self>, payments: &[TaskId]) -> Result<(), TaskFault> {
        let outcomes = runtime.outcomes(payments).await?;
        let result = result(&outcomes);
        if result.payments.iter().all(|end| *end == PaymentEnd::Completed) {
            return runtime.finish(Outcome::Completed(result)).await;
        }
        self.give_back(runtime, &outcomes).await?;
        let failed = outcomes.iter().find_map(|outcome| match outcome {
            TaskOutcome::Failed { error, .. } => Some(error.clone()),
            _ => None,
        });
        let error = failed.unwrap_or_else(|| TaskOutcomeError {
            message: "a payment did not go through".into(),
            detail: None,
        });
        let result = Some(result);
        runtime.finish(Outcome::Failed { error, result }).await
    }

    /// Refunds the payments that went through. No intent is needed first: their keys are in their outcomes.
    async fn give_back(&self, runtime: &Runtime<Self>, outcomes: &[TaskOutcome]) -> Result<(), TaskFault> {
        for outcome in outcomes {
            if let TaskOutcome::Completed { result } = outcome {
                let paid: PaymentResult = result.to_typed()?;
                self.payment.refund(runtime, &paid.key).await?;
            }
        }
        Ok(())
    }
}

fn result(outcomes: &[TaskOutcome]) -> CheckoutResult {
    let payments = outcomes.iter().map(|outcome| match outcome {
        TaskOutcome::Completed { .. } => PaymentEnd::Completed,
        TaskOutcome::Failed { .. } => PaymentEnd::Failed,
        TaskOutcome::Aborted { .. } => PaymentEnd::Aborted,
        TaskOutcome::Orphaned { .. } => PaymentEnd::Orphaned,
        TaskOutcome::Faulted { .. } => PaymentEnd::Faulted,
    });
    CheckoutResult {
        payments: payments.collect(),
    }
}

impl Task for Checkout {
    const NAME: &'static str = "example.checkout";
    const VERSION: u32 = 1;
    type Input = CheckoutInput;
    type Checkpoint = CheckoutPhase;
    type Outcome = CheckoutResult;

    fn initial(&self, _: &CheckoutInput) -> CheckoutPhase {
        CheckoutPhase::Start
    }

    /// The wait for the payments is a state of the record; a checkout that does not wait has something to do.
    fn wake(&self, checkpoint: &CheckoutPhase) -> Wake {
        match checkpoint {
            CheckoutPhase::Start | CheckoutPhase::Settle { .. } => Wake::Now,
        }
    }

    async fn run(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        match task.checkpoint {
            CheckoutPhase::Start => self.start(&runtime, task.input).await,
            CheckoutPhase::Settle { payments } => self.settle(&runtime, &payments).await,
        }
    }

    /// Runs when every payment has ended: those that were live have refunded themselves.
    async fn abort(&self, task: Running<Self>, runtime: Runtime<Self>) -> Result<(), TaskFault> {
        let result = match task.checkpoint {
            CheckoutPhase::Start => CheckoutResult::default(),
            CheckoutPhase::Settle { payments } => {
                let outcomes = runtime.outcomes(&payments).await?;
                self.give_back(&runtime, &outcomes).await?;
                result(&outcomes)
            }
        };
        let (reason, result) = (None, Some(result));
        runtime.finish(Outcome::Aborted { reason, result }).await
    }
}
