//! Calls from outside: each of them settles, and a wait settles for a reason.

use super::{Inner, Model, Reach, Tick};
use std::collections::BTreeMap;
use std::rc::Rc;
use tidehold_session::SessionError;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::TaskRecord;

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(u64);

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    Nothing,
    Receipt(TaskId),
    Idle(Option<ConversationId>),
}

struct Call {
    name: String,
    awaits: Awaits,
    started: bool,
    /// What it waits for has happened since it started.
    happened: bool,
}

#[derive(Default)]
pub(super) struct Calls {
    next: u64,
    open: BTreeMap<CallId, Call>,
}

/// A call under way. Dropped before it settled, it was lost in a crash or cancelled.
pub struct Calling {
    model: Rc<Model>,
    pub id: CallId,
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut inner = self.model.inner.borrow_mut();
        inner.calls.open.remove(&self.id);
        inner.aborts.retain(|(id, _, _)| *id != self.id);
    }
}

impl Model {
    pub fn call_begins(self: &Rc<Self>, name: String, awaits: Awaits) -> Calling {
        self.trace.line(|| format!("call: {name}"));
        let mut inner = self.inner.borrow_mut();
        let id = CallId(inner.calls.next);
        inner.calls.next += 1;
        let call = Call {
            name,
            awaits,
            started: false,
            happened: false,
        };
        inner.calls.open.insert(id, call);
        drop(inner);
        Calling {
            model: Rc::clone(self),
            id,
        }
    }

    /// Its first poll: from here on what it waits for counts.
    pub fn call_starts(&self, calling: &Calling) {
        let mut inner = self.inner.borrow_mut();
        if let Some(call) = inner.calls.open.get_mut(&calling.id) {
            call.started = true;
        }
        inner.follow_waits();
    }

    /// A call settled. One that fails does so because its session ended, or for a reason of its own.
    pub fn call_ends<T>(&self, calling: &Calling, outcome: &Result<T, SessionError>, session_over: bool) {
        let (name, awaits, happened) = {
            let inner = self.inner.borrow();
            let Some(call) = inner.calls.open.get(&calling.id) else {
                return;
            };
            (call.name.clone(), call.awaits, call.happened)
        };
        self.trace.line(|| match outcome {
            Ok(_) => format!("settled: {name}"),
            Err(error) => format!("failed: {name}: {error}"),
        });
        match outcome {
            Ok(_) if awaits != Awaits::Nothing && !happened => {
                self.breach(format!("{name} resolved, and nothing of it happened"));
            }
            Err(error) if !session_over => {
                let own = matches!(error, SessionError::Rejected(_)) && awaits == Awaits::Nothing;
                if !own {
                    self.breach(format!("{name} failed in an open session: {error}"));
                }
            }
            _ => {}
        }
    }

    pub fn asks_to_abort(&self, id: TaskId) {
        if let Some(task) = self.inner.borrow_mut().tasks.get_mut(&id) {
            task.asked = true;
        }
    }

    pub fn asks_to_abort_all(&self, calling: &Calling, room: ConversationId, reach: Reach) {
        self.inner.borrow_mut().aborts.push((calling.id, room, reach));
    }

    /// `abortTask` answered that the task is marked and its run code is gone.
    pub fn was_marked(&self, id: TaskId) {
        let inner = self.inner.borrow();
        let Some(task) = inner.tasks.get(&id) else { return };
        let marked = !task.is_live() || task.record.abort_requested;
        let gone = !(task.active && task.mode == Some(super::Mode::Run));
        drop(inner);
        if !(marked && gone) {
            self.breach(format!(
                "the abort of task {id} was confirmed: marked {marked}, run code gone {gone}"
            ));
        }
    }

    pub fn was_terminal(&self, id: TaskId) {
        if self.inner.borrow().is_live(id) {
            self.breach(format!("task {id} was said to have ended"));
        }
    }

    /// The receipt of a wait.
    pub fn got_receipt(&self, id: TaskId, record: &TaskRecord) {
        self.receipt(id, record);
    }

    pub fn poke(&self, id: TaskId) {
        if let Some(task) = self.inner.borrow_mut().tasks.get_mut(&id) {
            // Until the call settles its commit may come at any time.
            task.poked = Some(Tick::MAX);
            task.poking = true;
        }
    }

    pub fn poke_taken(&self, id: TaskId) {
        let tick = self.tick();
        if let Some(task) = self.inner.borrow_mut().tasks.get_mut(&id) {
            task.poked = Some(tick);
            task.owed |= std::mem::take(&mut task.poking);
        }
        self.touch();
    }

    pub fn open_calls(&self) -> Vec<String> {
        let inner = self.inner.borrow();
        inner.calls.open.values().map(|call| call.name.clone()).collect()
    }
}

impl Inner {
    /// After anything that may end a wait.
    pub(super) fn follow_waits(&mut self) {
        let happened: Vec<CallId> = self
            .calls
            .open
            .iter()
            .filter(|(_, call)| call.started && !call.happened && self.has_happened(call.awaits))
            .map(|(id, _)| *id)
            .collect();
        for id in happened {
            if let Some(call) = self.calls.open.get_mut(&id) {
                call.happened = true;
            }
        }
    }

    fn has_happened(&self, awaits: Awaits) -> bool {
        match awaits {
            Awaits::Nothing => false,
            Awaits::Receipt(id) => self.tasks.contains_key(&id) && !self.is_live(id),
            Awaits::Idle(room) => self.is_idle(room),
        }
    }

    /// Waits whose event has come.
    pub(super) fn overdue_waits(&self) -> Vec<String> {
        let overdue = self.calls.open.values().filter(|call| call.happened);
        overdue.map(|call| call.name.clone()).collect()
    }
}
