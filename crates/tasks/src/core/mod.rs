//! The pure scheduling core: from a [`state::State`] to lists of actions. No async, no clock, no I/O.
//!
//! `state` is the mirror of live tasks and is fed by publications only (`apply`). `reconcile` decides marks, withdrawals
//! and final records; `reserve` decides what starts; `step` decides between two phases; `finish` and `waits` judge what a
//! task commits for itself; `wake` decides when the object must wake; `scope` answers traversals; `inspect` shows it all.

pub mod apply;
pub mod finish;
pub mod forest;
pub mod inspect;
pub mod invariant;
pub mod plan;
pub mod reconcile;
pub mod reserve;
pub(crate) mod sabotage;
pub mod scope;
pub mod set;
pub mod state;
pub mod step;
pub mod waits;
pub mod wake;

#[cfg(test)]
mod tests;
