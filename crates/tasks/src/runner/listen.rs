//! Following publications: mirror, invocations, waiters, next pass and alarm, all in the turn of the commit.

use super::Inner;
use super::invocation::{ABORT_REQUESTED, Invocation};
use crate::core::apply::{Changes, Oracle, apply};
use crate::core::sabotage::{Sabotage, broken};
use crate::core::state::{Mode, Stage, pokes};
use crate::erased::ErasedTask;
use std::rc::Rc;
use tidehold_session::ids::TaskId;
use tidehold_session::publication::Publication;

impl Inner {
    pub(super) fn on_commit(self: &Rc<Self>, publication: &Publication) {
        if !self.following.get() {
            return;
        }
        let changes = {
            let starting = self.starting.borrow();
            let oracle = Oracle {
                assess: &|record| self.assess(record),
                starting: &|id| starting.contains_key(&id),
            };
            apply(&mut self.state.borrow_mut(), publication, oracle)
        };
        let Changes {
            started,
            aborted,
            poked,
            ended,
            relevant,
        } = changes;
        let definitions = std::mem::take(&mut *self.starting.borrow_mut());
        for (id, mode) in started {
            if let Some(definition) = definitions.get(&id) {
                self.start(id, mode, Rc::clone(definition));
                if broken(Sabotage::StartsTwice) {
                    self.start(id, mode, Rc::clone(definition));
                }
            }
        }
        for invocation in aborted.iter().filter_map(|id| self.invocation(*id)) {
            invocation.controller.abort(ABORT_REQUESTED);
        }
        for invocation in poked.iter().filter_map(|id| self.invocation(*id)) {
            invocation.tell_poked();
        }
        for record in &ended {
            self.failed_migrations.borrow_mut().remove(&record.id);
        }
        self.waiters.borrow_mut().settle(&ended);
        if relevant {
            self.replan();
            self.leave_wake();
        } else {
            self.keep_watchdog_ahead();
        }
    }

    /// Starts an invocation. Its first step waits for its turn on the line.
    pub(super) fn start(self: &Rc<Self>, id: TaskId, mode: Mode, definition: Rc<dyn ErasedTask>) {
        let (conversation, pokes) = {
            let mut state = self.state.borrow_mut();
            state.begin(id, mode);
            let Some(record) = state.record(id) else {
                return;
            };
            (record.conversation_id, pokes(record))
        };
        let invocation = Invocation::new(id, conversation, mode, definition, self.registry.snapshot());
        // Its code looks around when it starts: only later pokes are news.
        invocation.seen_pokes.set(pokes);
        self.invocations.borrow_mut().insert(id, Rc::clone(&invocation));
        self.session.spawn(Rc::clone(self).drive(invocation));
    }

    pub(super) fn invocation(&self, id: TaskId) -> Option<Rc<Invocation>> {
        self.invocations.borrow().get(&id).cloned()
    }

    /// The session closes or failed: nothing starts any more, code is signalled, waits are rejected.
    pub(super) fn on_end(&self) {
        self.state.borrow_mut().stage = Stage::Ended;
        self.timer.borrow_mut().take();
        let invocations: Vec<_> = self.invocations.borrow().values().cloned().collect();
        for invocation in invocations {
            invocation.give_up();
        }
        self.waiters.borrow_mut().reject_all();
    }
}
