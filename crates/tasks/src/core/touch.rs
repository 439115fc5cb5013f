//! What a change touches stands anew, and nothing else does.

use crate::core::forest::{Changes, Forest, Named, Place};
use crate::core::index::{Index, ascending};
use crate::core::scope::Start;
use crate::core::stand::{must_withdraw, stand};
use crate::core::state::State;
use tidehold_session::ids::TaskId;

/// Which waits for idle must look again.
#[derive(Clone, Debug, Default)]
pub struct Calmed {
    /// Every one: what was unknown may have kept any of them.
    pub all: bool,
    pub starts: Vec<Start>,
}

impl State {
    pub(super) fn touch(&mut self, place: Place) {
        self.touched.places.push(place);
    }

    /// Ends a change: everything it touched stands anew.
    pub(super) fn settle(&mut self) {
        let Changes {
            turned,
            found,
            unblocked,
        } = self.forest.take_changes();
        for place in &found {
            if let Named::Task(id) = place.named() {
                self.lose_wait_on(id);
            }
        }
        let mut touched = std::mem::take(&mut self.touched.places);
        sweep_found(&self.forest, &found, &mut touched);
        let changed = std::mem::take(&mut self.touched.intents);
        sweep_intents(self, changed, &mut touched);
        self.touched.calmed.all |= unblocked;
        for place in turned {
            match place.named() {
                Named::Task(_) => touched.push(place),
                Named::Conversation(_) if self.forest.is_busy_below(place) => {}
                Named::Conversation(id) => self.touched.calmed.starts.push(match place {
                    Place::ROOTS => Start::Roots,
                    _ => Start::Conversation(id),
                }),
            }
        }
        touched.append(&mut self.touched.places);
        let touched = ascending(touched.into_iter().map(Place::number));
        #[cfg(test)]
        {
            self.touched.stood += touched.len();
        }
        for place in touched {
            self.stand_anew(Place::numbered(place));
        }
    }

    fn stand_anew(&mut self, place: Place) {
        match place.named() {
            Named::Conversation(id) if must_withdraw(self, id) => self.agenda.withdraw(id),
            Named::Conversation(id) => self.agenda.keep_queue(id),
            Named::Task(id) => {
                let Some(task) = self.tasks.get(&id) else { return };
                let (before, standing) = (task.standing, stand(self, task));
                self.agenda.move_task(id, before, standing);
                if let Some(task) = self.tasks.get_mut(&id) {
                    task.standing = standing;
                }
            }
        }
    }

    /// Traversals that may have become idle since the last call.
    pub fn take_calmed(&mut self) -> Calmed {
        std::mem::take(&mut self.touched.calmed)
    }
}

/// A loaded edge changes what is above everything below it, once the chain is whole; until then another edge is missing,
/// and every decision waits for that.
fn sweep_found(forest: &Forest, found: &[Place], touched: &mut Vec<Place>) {
    for place in found {
        if forest.view().missing_above(*place).is_none() {
            touched.push(*place);
            touched.extend(forest.kept_below(*place));
        }
    }
}

/// An intent reaches all ordinary work below and the queues there, also across background tasks that have one of their own.
/// Owners come first, and what was met below one of them is not walked again: a cascade costs the tree it marks, however deep.
fn sweep_intents(state: &State, changed: Vec<TaskId>, touched: &mut Vec<Place>) {
    let forest = &state.forest;
    let mut swept = Index::default();
    for place in ascending(changed.into_iter().map(|id| Place::task(id).number())) {
        if !swept.insert(0, place) {
            continue;
        }
        let mut below = forest.kept_below(Place::numbered(place));
        while let Some(place) = below.next() {
            let is_boundary = match place.named() {
                Named::Task(task) => forest.is_background(task) && !state.cancels_below(task),
                Named::Conversation(_) => false,
            };
            if is_boundary || !swept.insert(0, place.number()) {
                below.pass_by();
            } else {
                touched.push(place);
            }
        }
    }
}
