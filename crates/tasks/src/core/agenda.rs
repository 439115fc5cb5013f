//! How every live task stands, and the order in which that is read off.

use crate::core::index::Index;
use crate::core::reserve::Reservation;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};
use tidehold_session::records::AbortMarkReason;

/// What a task's next step is. Derived from the state alone, without the time: starts are judged when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Standing {
    /// Nothing, until something changes: it waits for other tasks, for work below it, for something outside or for a fitting
    /// definition.
    #[default]
    Parked,
    /// An abort mark is to be set, or to replace one that a restart set. The time at which the task would have needed the
    /// object stays: an alarm is never later than what it is for.
    Mark(Option<AbortMarkReason>, Option<Millis>),
    /// Its held outcome becomes terminal.
    Finalize,
    /// The next pass starts it.
    Reserve(Reservation),
    /// The same, once this time has come.
    ReserveAt(Millis, Reservation),
    /// It is under way: the object must stay awake.
    UnderWay,
    /// Under way, with nothing to do for the object before this time.
    UnderWayUntil(Millis),
}

/// Lists of the next pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Conversations.
    Withdraw,
    Mark,
    Finalize,
    Reserve,
    /// Nothing for a pass, but the object must stay awake.
    UnderWay,
}

/// Every standing by what is asked of it. A parked task is in none of these.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agenda {
    /// `(list, id)`.
    due: Index,
    /// `(time, task)` of those that start then.
    starts: Index,
    /// `(time, task)` of those that need the object then for another reason.
    checks: Index,
}

impl Agenda {
    /// Moves a task from one standing to another.
    pub fn move_task(&mut self, id: TaskId, from: Standing, to: Standing) {
        if from != to {
            for (index, first) in self.entries(from) {
                index.remove(first, id.0);
            }
            for (index, first) in self.entries(to) {
                index.insert(first, id.0);
            }
        }
    }

    /// Where a standing is entered.
    fn entries(&mut self, standing: Standing) -> impl Iterator<Item = (&mut Index, u64)> {
        let (due, start, check) = match standing {
            Standing::Parked => (None, None, None),
            Standing::Mark(_, at) => (Some(Due::Mark), None, at),
            Standing::Finalize => (Some(Due::Finalize), None, None),
            Standing::Reserve(_) => (Some(Due::Reserve), None, None),
            Standing::ReserveAt(at, _) => (None, Some(at), None),
            Standing::UnderWay => (Some(Due::UnderWay), None, None),
            Standing::UnderWayUntil(at) => (None, None, Some(at)),
        };
        let due = due.map(|due| (&mut self.due, due as u64));
        let start = start.map(|at| (&mut self.starts, at));
        let check = check.map(|at| (&mut self.checks, at));
        due.into_iter().chain(start).chain(check)
    }

    /// Enters a conversation whose queued inputs must be withdrawn.
    pub fn withdraw(&mut self, id: ConversationId) {
        self.due.insert(Due::Withdraw as u64, id.0);
    }

    pub fn keep_queue(&mut self, id: ConversationId) {
        self.due.remove(Due::Withdraw as u64, id.0);
    }

    pub fn withdrawals(&self) -> impl Iterator<Item = ConversationId> + '_ {
        self.due.under(Due::Withdraw as u64).map(ConversationId)
    }

    /// Tasks of a list in id order.
    pub fn tasks(&self, due: Due) -> impl DoubleEndedIterator<Item = TaskId> + '_ {
        self.due.under(due as u64).map(TaskId)
    }

    /// Whether the next pass has something to do at `now`.
    pub fn is_due(&self, now: Millis) -> bool {
        let lists = [Due::Withdraw, Due::Mark, Due::Finalize, Due::Reserve];
        lists.iter().any(|due| self.due.has(*due as u64)) || self.starts_by(now).next().is_some()
    }

    /// Whether something under way needs the object now.
    pub fn is_under_way(&self, now: Millis) -> bool {
        self.due.has(Due::UnderWay as u64) || self.checks.up_to(now).next().is_some()
    }

    /// Tasks whose time to start has come.
    pub fn starts_by(&self, now: Millis) -> impl Iterator<Item = TaskId> + '_ {
        self.starts.up_to(now).map(|(_, id)| TaskId(id))
    }

    /// The earliest later time at which a task starts.
    pub fn next_start(&self, now: Millis) -> Option<Millis> {
        self.starts.after(now)
    }

    /// The earliest later time at which one of the others needs the object.
    pub fn next_check(&self, now: Millis) -> Option<Millis> {
        self.checks.after(now)
    }
}
