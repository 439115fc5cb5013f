//! One pass: reconcile commits until nothing follows any more, then one reservation commit for every eligible task.

use super::Inner;
use super::stage::{Budget, as_staged};
use crate::core::reconcile::{Reconcile, reconcile};
use crate::core::reserve::{Reservation, reserve};
use crate::core::state::Stage;
use crate::recovery;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;
use tidehold_session::{SessionError, Tx};

impl Inner {
    /// Asks for a pass. It runs in its own spawned turn, never inside a listener.
    pub(super) fn kick(self: &Rc<Self>) {
        self.dirty.set(true);
        if !self.passing.replace(true) {
            self.session.spawn(Rc::clone(self).run_passes());
        }
    }

    async fn run_passes(self: Rc<Self>) {
        while self.dirty.take() && self.state.borrow().is_scheduling() {
            let inner = Rc::clone(&self);
            match self
                .session
                .commit(async move |tx: Tx| inner.pass(&tx).await)
                .await
            {
                // The listener planned what was published; what was loaded or needed no write is planned here. A pass
                // leaves nothing undone that the plan would still call due, so this ends.
                Ok(()) => self.replan(),
                Err(error) => self.bookkeeping_failed(&error),
            }
        }
        self.passing.set(false);
    }

    /// A commit the scheduler makes for itself failed: running it again would not help (spec 10.1).
    pub(super) fn bookkeeping_failed(&self, error: &SessionError) {
        if self.session.health().is_ok() {
            self.session
                .fail(format!("the scheduler's own commit failed: {error}"));
        }
    }

    async fn pass(self: &Rc<Self>, tx: &Tx) -> Result<(), SessionError> {
        // Admitted before the session began to close: nothing starts any more.
        if self.state.borrow().stage == Stage::Ended {
            return Ok(());
        }
        self.load().await?;
        let actions = reconcile(&self.state.borrow());
        if actions.is_empty() {
            let reservations = self.decide_reservations();
            self.perform_reservations(tx, reservations).await?;
        } else {
            self.perform_reconcile(tx, actions).await?;
        }
        // Whatever it did: this may be the last pass for long.
        let opens = self.state.borrow().opens;
        if self.forgiven.get() && opens > 0 {
            recovery::write(tx, 0).await?;
        }
        Ok(())
    }

    /// Migrations are tried here, since what they yield decides whether a task is due.
    fn decide_reservations(&self) -> Vec<Reservation> {
        loop {
            let reservations = reserve(&self.state.borrow(), self.now());
            let untried: Vec<TaskId> = reservations
                .iter()
                .filter_map(|reservation| match reservation {
                    Reservation::Migrate(id) => Some(*id),
                    _ => None,
                })
                .collect();
            if untried.is_empty() {
                return reservations;
            }
            for id in untried {
                self.try_migration(id);
            }
        }
    }

    async fn perform_reconcile(&self, tx: &Tx, actions: Vec<Reconcile>) -> Result<(), SessionError> {
        let mut budget = Budget::new();
        // Withdrawals come first. Nothing else stages a record that is not its own.
        let mut staged = None;
        for action in actions {
            let id = match action {
                Reconcile::Withdraw(conversation) => {
                    self.options.hooks.withdraw_inputs(tx, conversation).await?;
                    self.state.borrow_mut().forget_queue(conversation);
                    continue;
                }
                Reconcile::EndAborts => {
                    recovery::end_aborts(tx).await?;
                    continue;
                }
                Reconcile::Mark(id, _) | Reconcile::Finalize(id) => id,
            };
            let Some(task) = self.live(id) else { continue };
            let record = as_staged(staged.get_or_insert_with(|| tx.staged()), &task.record);
            if !budget.take(&record) {
                break;
            }
            match (action, &record.state) {
                (Reconcile::Mark(_, reason), _) => self.stage_mark(tx, &record, reason).await?,
                (_, TaskState::Completing { outcome }) => {
                    self.stage_terminal(tx, &record, outcome.clone()).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn perform_reservations(
        self: &Rc<Self>,
        tx: &Tx,
        reservations: Vec<Reservation>,
    ) -> Result<(), SessionError> {
        let mut budget = Budget::new();
        for reservation in reservations {
            let (Reservation::Start(id, _) | Reservation::Orphan(id, _) | Reservation::Migrate(id)) =
                reservation;
            let Some(record) = self.live(id).map(|task| task.record) else {
                continue;
            };
            if !budget.take(&record) {
                break;
            }
            match reservation {
                Reservation::Start(id, mode) => self.stage_start(tx, id, mode).await?,
                Reservation::Orphan(_, reason) => self.stage_orphan(tx, &record, reason).await?,
                Reservation::Migrate(_) => {}
            }
        }
        Ok(())
    }
}
