//! Opening: one bounded scan of live work, at most one commit, no task code (spec 5.1, invariant 6).

use super::Inner;
use super::stage::Budget;
use crate::core::apply::admit_recovered;
use crate::core::plan::due;
use crate::core::sabotage::{Sabotage, broken};
use crate::options::SchedulerOptions;
use crate::recovery::{self, RECOVERY};
use crate::registry::TaskRegistry;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tidehold_delta::Json;
use tidehold_session::documents::TheSession;
use tidehold_session::limits::SCAN_PAGE;
use tidehold_session::records::{TaskRecord, TaskState};
use tidehold_session::storage::TaskQuery;
use tidehold_session::{Session, SessionError, Tx};

impl Inner {
    pub(crate) async fn open(
        session: &Session,
        registry: TaskRegistry,
        options: SchedulerOptions,
    ) -> Result<Rc<Self>, SessionError> {
        let inner = Rc::new(Self {
            session: session.clone(),
            registry,
            options,
            state: RefCell::default(),
            invocations: RefCell::default(),
            starting: RefCell::default(),
            failed_migrations: RefCell::default(),
            waiters: RefCell::default(),
            following: Cell::new(false),
            passing: Cell::new(false),
            dirty: Cell::new(false),
            forgiven: Cell::new(false),
            armed: Cell::new(None),
            due: Cell::default(),
            timer: RefCell::default(),
            subscriptions: RefCell::default(),
            _claim: session.claim_scheduling()?,
        });
        inner.subscribe();
        let opened = Rc::clone(&inner);
        session
            .commit(async move |tx: Tx| opened.recover(&tx).await)
            .await?;
        inner.rearm();
        Ok(inner)
    }

    /// Weak throughout: the session and the registry must not keep the scheduler alive.
    fn subscribe(self: &Rc<Self>) {
        let (on_commit, on_end, on_install) = (Rc::downgrade(self), Rc::downgrade(self), Rc::downgrade(self));
        let commits = self.session.attach(move |publication| {
            if let Some(inner) = on_commit.upgrade() {
                inner.on_commit(publication);
            }
        });
        let ends = self.session.after_close_listeners(move |_| {
            if let Some(inner) = on_end.upgrade() {
                inner.on_end();
            }
        });
        self.subscriptions.borrow_mut().extend([commits, ends]);
        self.registry.listen(move |kind| {
            if let Some(inner) = on_install.upgrade() {
                inner.reassess_kind(kind);
                inner.replan();
            }
        });
    }

    async fn recover(&self, tx: &Tx) -> Result<(), SessionError> {
        let (mut interrupted, mut budget) = (Vec::new(), Budget::new());
        let mut cursor = None;
        let query = TaskQuery {
            live: true,
            ..TaskQuery::default()
        };
        loop {
            let page = tx.scan_tasks(&query, SCAN_PAGE, cursor.as_ref()).await?;
            self.admit(page.items, &mut interrupted, &mut budget);
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        self.following.set(true);
        // Also without live work: what a later task gets done ends the count of what an earlier one broke.
        let stored = tx.peek(&RECOVERY, TheSession).await?.unwrap_or(Json::Null);
        let opens = recovery::read(&stored);
        self.state.borrow_mut().recall(opens, recovery::aborts(&stored));
        if self.state.borrow().live_count() == 0 {
            return Ok(());
        }
        self.load().await?;
        self.count_open(tx, opens).await?;
        for record in interrupted {
            tx.stage_task(record).await?;
        }
        Ok(())
    }

    /// A surviving `running` task is `pending` again. What exceeds one batch stays `running` without an invocation, which
    /// means the same to every decision.
    fn admit(&self, records: Vec<TaskRecord>, interrupted: &mut Vec<TaskRecord>, budget: &mut Budget) {
        let mut recover = |mut record: TaskRecord| {
            if let TaskState::Running { checkpoint } = &record.state
                && budget.take(&record)
            {
                record.state = TaskState::Pending {
                    checkpoint: checkpoint.clone(),
                };
                interrupted.push(record.clone());
            }
            Rc::new(record)
        };
        let judge = |record: &TaskRecord| self.assess(record);
        let mut state = self.state.borrow_mut();
        admit_recovered(&mut state, records.into_iter().map(&mut recover), &judge);
    }

    /// Opens that find only parked work prove nothing and are not counted, so reading a parked session stays free.
    async fn count_open(&self, tx: &Tx, opens: u32) -> Result<(), SessionError> {
        let has_due_work = {
            let (state, now) = (self.state.borrow(), self.now());
            due(&state, now).now
        };
        if has_due_work && !broken(Sabotage::ForgetsOpens) {
            recovery::write(tx, opens.saturating_add(1)).await?;
        }
        Ok(())
    }
}
