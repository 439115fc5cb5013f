//! Unsettled work has a wake (invariant 6).

use super::{Inner, Known, Model, Point};
use tidehold_session::host::Millis;
use tidehold_session::ids::TaskId;
use tidehold_session::records::TaskState;

/// By when a task needs the object.
enum Need {
    Soon,
    By(Millis),
}

impl Model {
    /// After each step in which something happened. `alarm` is what the platform keeps.
    pub fn after_step(&self, alarm: Option<Millis>) {
        if !self.dirty.replace(false) {
            return;
        }
        let said = {
            let inner = self.inner.borrow();
            inner.asleep(alarm)
        };
        if let Some(text) = said {
            self.breach(text);
        }
    }
}

impl Inner {
    fn asleep(&self, alarm: Option<Millis>) -> Option<String> {
        for (id, task) in self.tasks.iter().filter(|(_, task)| task.is_live()) {
            match (self.need(*id, task), alarm) {
                (None, _) | (Some(Need::Soon), Some(_)) => {}
                (Some(Need::By(at)), Some(alarm)) if alarm <= at => {}
                (Some(Need::Soon), None) => {
                    return Some(format!("task {id} is unsettled, and nothing wakes it"));
                }
                (Some(Need::By(at)), alarm) => {
                    return Some(format!(
                        "task {id} wakes at {at}, and the alarm is set to {alarm:?}"
                    ));
                }
            }
        }
        None
    }

    fn need(&self, id: TaskId, task: &Known) -> Option<Need> {
        let record = &task.record;
        // A poke may make it start before its time.
        let by_time = |at: Millis| at > self.latest && task.poked.is_none();
        let later = |at: Millis| if by_time(at) { Need::By(at) } else { Need::Soon };
        if let TaskState::Completing { .. } = &record.state {
            return self.live_below(id).is_empty().then_some(Need::Soon);
        }
        if !task.fits(self.deployed()) && !task.active {
            return None;
        }
        if record.abort_requested {
            return self.live_below(id).is_empty().then_some(Need::Soon);
        }
        match &record.state {
            TaskState::Waiting { on, until, .. } => {
                let live = on.iter().any(|on| self.is_live(*on));
                let sleeps = on.is_empty() && until.is_some();
                match until {
                    _ if !live && !sleeps => Some(Need::Soon),
                    Some(_) if sleeps && task.owed => Some(Need::Soon),
                    Some(until) => Some(later(*until)),
                    None => None,
                }
            }
            _ if task.owed => Some(Need::Soon),
            // Only its own definition can be asked; a newer one that has not taken it over tries early.
            _ if self.deployed() != Some(record.version) => match &task.point {
                Some(Point::External { .. }) => None,
                _ => Some(Need::Soon),
            },
            _ => match &task.point {
                Some(Point::Poll { at, .. }) => Some(later(*at)),
                Some(Point::External { .. }) => None,
                _ => Some(Need::Soon),
            },
        }
    }
}
