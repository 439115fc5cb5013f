//! Opens without progress: counted, and backed off from.

use super::{Inner, Known, Model, Point};
use crate::limits::{PATIENT_OPENS, WATCHDOG_MS};
use std::rc::Rc;
use tidehold_session::host::Millis;
use tidehold_session::ids::{Seq, TaskId};
use tidehold_session::records::{ConversationRecord, TaskRecord, TaskState};

/// What opened the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayIn {
    Alarm,
    /// Someone who asks for progress.
    Call,
    /// Someone who reads.
    Look,
}

#[derive(Default)]
pub(super) struct Opens {
    count: u32,
    /// Before this life, if its first open must count.
    before: Option<u32>,
}

impl Opens {
    pub fn stored(&mut self, count: u32) {
        self.count = count;
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn cannot_tell(&mut self) {
        self.before = None;
    }
}

/// What storage holds after a crash.
pub struct Survived {
    pub tasks: Vec<TaskRecord>,
    pub rooms: Vec<ConversationRecord>,
    pub head: Option<Seq>,
    pub opens: u32,
}

impl Model {
    /// Whether something is stored that nobody heard of.
    pub fn is_behind(&self, head: Option<Seq>) -> bool {
        self.inner.borrow().seq != head
    }

    /// A new life begins. What had been published must be there.
    pub fn restart(&self, survived: Survived) {
        let tick = self.tick();
        let mut inner = self.inner.borrow_mut();
        let exact = inner.seq == survived.head;
        inner.seq = survived.head;
        inner.published = tick;
        inner.effects.clear();
        inner.aborts.clear();
        let deployed = inner.deployed();
        inner.deployed = vec![(tick, deployed)];
        let owner = |room: ConversationRecord| (room.id, room.owner.map(|owner| owner.task_id));
        inner.rooms.extend(survived.rooms.into_iter().map(owner));
        let lost: Vec<TaskId> = {
            let mut known = inner.tasks.keys().copied();
            let mut lost = Vec::new();
            known.by_ref().for_each(|id| {
                if survived.tasks.iter().all(|task| task.id != id) {
                    lost.push(id);
                }
            });
            lost
        };
        if !lost.is_empty() {
            inner.breach(format!("published tasks {lost:?} are gone"));
        }
        for record in survived.tasks {
            inner.survives(Rc::new(record), exact, tick);
        }
        inner.follow_intents(tick);
        if exact && survived.opens != inner.opens.count {
            inner.breach("the count of opens changed in a crash".to_owned());
        }
        inner.opens.count = survived.opens;
        inner.opens.before = inner.has_due_work().then_some(survived.opens);
        drop(inner);
        self.touch();
    }

    /// The open settled, and has set the alarm.
    pub fn opened(&self, way_in: WayIn, alarm: Option<Millis>) {
        self.trace.line(|| format!("open by {way_in:?}, alarm {alarm:?}"));
        let now = self.world.now();
        let mut inner = self.inner.borrow_mut();
        let Some(before) = inner.opens.before.take() else {
            return;
        };
        let count = inner.opens.count;
        if count != before + 1 {
            inner.breach(format!("an open with due work made {count} of {before} opens"));
        }
        if way_in == WayIn::Call || count <= PATIENT_OPENS {
            return;
        }
        let deadlines = inner
            .tasks
            .values()
            .filter_map(Known::own_time)
            .filter(|at| *at > now);
        let earliest = deadlines.min().unwrap_or(Millis::MAX).min(now + 2 * WATCHDOG_MS);
        if alarm.is_some_and(|alarm| alarm < earliest) {
            inner.breach(format!(
                "open {count} without progress set the alarm to {alarm:?} at {now}"
            ));
        }
    }
}

impl Inner {
    fn survives(&mut self, record: Rc<TaskRecord>, exact: bool, tick: u64) {
        let id = record.id;
        if let Some(known) = self.tasks.get(&id) {
            let same = *known.record == *record;
            let replaced = known.record.outcome().is_some() && known.record.outcome() != record.outcome();
            let fell_back = !known.is_live() && !same;
            if fell_back || replaced || (exact && !same) {
                self.breach(format!("task {id} is not what was published, after the crash"));
            }
        }
        self.take(&record, tick);
        if let Some(task) = self.tasks.get_mut(&id) {
            task.active = false;
            task.mode = None;
            task.phase = None;
            task.left = None;
            task.poking = false;
            task.poked = task.poked.map(|poked| poked.min(tick));
            task.asked = false;
            task.abandoned |= record.abandon_on_restart && record.is_live();
        }
    }

    /// Work that an open must count for: what may be parked or blocked is left out.
    fn has_due_work(&self) -> bool {
        let deployed = self.deployed();
        self.tasks.values().any(|task| {
            let record = &task.record;
            record.is_live()
                && deployed == Some(record.version)
                && matches!(
                    record.state,
                    TaskState::Pending { .. } | TaskState::Running { .. }
                )
                && !record.abort_requested
                && !self.is_below_intent(record.id)
                && matches!(
                    task.point,
                    Some(Point::Spawn | Point::Effect { .. } | Point::Join { .. } | Point::End { .. })
                )
        })
    }
}

impl Known {
    /// The time it is parked until.
    pub(super) fn own_time(&self) -> Option<Millis> {
        match (&self.record.state, &self.point) {
            (TaskState::Waiting { until, .. }, _) => *until,
            (_, Some(Point::Poll { at, .. })) => Some(*at),
            _ => None,
        }
    }
}
