//! Decisions that tests break on purpose: the simulator must notice each of them. Outside tests nothing is ever broken.

use crate::core::state::State;

/// Which decision is broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code, reason = "only tests break decisions"))]
pub enum Sabotage {
    #[default]
    None,
    /// An abort handler does not wait for the work below.
    TopDownAbort,
    /// Abort marks do not flow down.
    NoCascade,
    /// Parked tasks are reserved before their time.
    EarlyWake,
    /// The alarm forgets tasks that wait for a time.
    NoDeadlines,
    /// A task ends while its owned work is live.
    NoHold,
    /// A poke is taken as needless when the definition cannot be asked.
    LostPokes,
}

impl State {
    /// Whether a test broke this decision.
    #[cfg(test)]
    pub fn sabotaged(&self, sabotage: Sabotage) -> bool {
        self.sabotage == sabotage
    }

    /// Breaks a decision. All that was decided before is decided anew.
    #[cfg(test)]
    pub fn sabotage(&mut self, sabotage: Sabotage) {
        self.sabotage = sabotage;
        let live: Vec<_> = self.tasks.keys().copied().collect();
        for id in live {
            self.touch(crate::core::forest::Place::task(id));
        }
        self.settle();
    }

    /// Whether a test broke this decision.
    #[cfg(not(test))]
    pub(crate) const fn sabotaged(&self, _: Sabotage) -> bool {
        false
    }
}
