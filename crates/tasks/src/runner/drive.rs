//! Driving one invocation: a step on the line, a handler off it, again (spec 5.1).

use super::Inner;
use super::assess::can_reserve;
use super::invocation::Invocation;
use crate::core::finish::ending;
use crate::core::state::{Mode, Stage};
use crate::core::step::{Returned, Surroundings, Verdict, step};
use crate::limits::FAULT_TEXT_BYTES;
use crate::runtime::Access;
use std::rc::Rc;
use tidehold_delta::Text;
use tidehold_session::panics::{caught, panic_text};
use tidehold_session::records::{TaskOutcome, TaskOutcomeError, TaskRecord, TaskState};
use tidehold_session::{SessionError, Tx};

/// A handler that returned.
struct Past {
    record: Rc<TaskRecord>,
    error: Option<String>,
}

impl Inner {
    pub(super) async fn drive(self: Rc<Self>, invocation: Rc<Invocation>) {
        // Code that ignores its signal keeps the backend open. Before this first poll nothing of it runs.
        let _open = self.session.keep_open();
        let mut past = None;
        while let Some(record) = self.step(&invocation, past.take()).await {
            let error = self.run_handler(&invocation, Rc::clone(&record)).await.err();
            past = Some(Past { record, error });
        }
        self.invocation_over(&invocation);
    }

    fn invocation_over(self: &Rc<Self>, invocation: &Invocation) {
        invocation.end();
        self.invocations.borrow_mut().remove(&invocation.id);
        let judge = |record: &TaskRecord| self.assess(record);
        let lives_on = self.state.borrow_mut().finish_invocation(invocation.id, &judge);
        invocation.tell_joined();
        // The end of a task was planned with its commit.
        if lives_on {
            self.replan();
        }
    }

    /// User code: its error or panic is its own.
    async fn run_handler(
        self: &Rc<Self>,
        invocation: &Rc<Invocation>,
        record: Rc<TaskRecord>,
    ) -> Result<(), String> {
        let access = Rc::new(Access::new(Rc::clone(self), Rc::clone(invocation)));
        let handler = match invocation.mode {
            Mode::Run => invocation.definition.run(record, access),
            Mode::Abort => invocation.definition.abort(record, access),
        };
        match caught(handler).await {
            Ok(result) => result.map_err(|fault| fault.to_string()),
            Err(panic) => Err(panic_text(panic.as_ref())),
        }
    }

    /// The record the next handler runs on; `None` ends the invocation.
    async fn step(
        self: &Rc<Self>,
        invocation: &Rc<Invocation>,
        past: Option<Past>,
    ) -> Option<Rc<TaskRecord>> {
        let (inner, current) = (Rc::clone(self), Rc::clone(invocation));
        let stepped = self
            .session
            .commit(async move |tx: Tx| inner.step_on_line(&tx, &current, past).await)
            .await;
        match stepped {
            Ok(next) => next,
            Err(error) => {
                self.bookkeeping_failed(&error);
                None
            }
        }
    }

    async fn step_on_line(
        &self,
        tx: &Tx,
        invocation: &Invocation,
        past: Option<Past>,
    ) -> Result<Option<Rc<TaskRecord>>, SessionError> {
        self.load().await?;
        let Some(record) = self.live(invocation.id).map(|task| task.record) else {
            invocation.end();
            return Ok(None);
        };
        let (closing, below_intent) = {
            let state = self.state.borrow();
            (state.stage == Stage::Ended, state.is_below_intent(record.id))
        };
        let around = Surroundings {
            mode: invocation.mode,
            closing,
            below_intent,
            may_hand_over: false,
        };
        let returned = past.as_ref().and_then(|past| {
            let checkpoint = past.record.checkpoint()?;
            Some(Returned {
                error: past.error.as_deref(),
                checkpoint,
            })
        });
        let mut verdict = step(&record, around, returned.clone());
        if verdict == Verdict::Go && past.is_some() {
            // Rule 5: only a task that goes on asks what is installed by now.
            invocation.refresh_registry(&self.registry);
            let may_hand_over = self.may_hand_over(invocation, &record);
            let around = Surroundings {
                may_hand_over,
                ..around
            };
            verdict = step(&record, around, returned);
        }
        if verdict == Verdict::Go {
            return Ok(Some(record));
        }
        // Runtime commits queued behind this step are refused.
        invocation.end();
        match verdict {
            Verdict::Fault(message) => self.stage_fault(tx, &record, message).await?,
            Verdict::HandOver => self.stage_hand_over(tx, &record).await?,
            Verdict::Stop | Verdict::Go => {}
        }
        Ok(None)
    }

    async fn stage_fault(&self, tx: &Tx, record: &TaskRecord, message: Text) -> Result<(), SessionError> {
        let outcome = TaskOutcome::Faulted {
            error: TaskOutcomeError {
                message: shortened(message),
                detail: None,
            },
        };
        let state = {
            let state = self.state.borrow();
            ending(state.forest().view(), record.id, outcome)
        };
        match state {
            // The clean-up of a held fault belongs to its final commit.
            TaskState::Terminal { outcome } => self.stage_terminal(tx, record, outcome).await,
            held => {
                tx.stage_task(TaskRecord {
                    state: held,
                    ..record.clone()
                })
                .await
            }
        }
    }

    async fn stage_hand_over(&self, tx: &Tx, record: &TaskRecord) -> Result<(), SessionError> {
        let Some(checkpoint) = record.checkpoint().cloned() else {
            return Ok(());
        };
        tx.stage_task(TaskRecord {
            state: TaskState::Pending { checkpoint },
            ..record.clone()
        })
        .await
    }

    /// Whether the phase's registry holds another definition than the invocation's that can take the task. One that cannot
    /// is reported once: the task goes on under its old code.
    fn may_hand_over(&self, invocation: &Invocation, record: &TaskRecord) -> bool {
        let registry = invocation.registry();
        let present = registry.get(&record.kind);
        let cause = match present {
            Some(present) if present.is(invocation.definition.as_ref()) => return false,
            Some(present) if can_reserve(present.as_ref(), record) => return true,
            Some(_) => "incompatible_task",
            None => "missing_task",
        };
        if invocation.is_news(present) {
            let (id, kind) = (record.id, &record.kind);
            self.report(format!(
                "task {id} ({kind}) keeps running under its old definition: {cause}"
            ));
        }
        false
    }
}

fn shortened(text: Text) -> Text {
    match text.get(..text.floor_char_boundary(FAULT_TEXT_BYTES)) {
        Some(start) if start.len() < text.len() => start.into(),
        _ => text,
    }
}
