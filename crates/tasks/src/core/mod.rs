//! The pure scheduling core: from a [`state::State`] to lists of actions. No async, no clock, no I/O.
//!
//! `state` is the mirror of live tasks. It changes by the doors of `enter` alone, which publications reach over `apply`.
//! What a change touches stands anew (`touch`): `stand` is the one decision of what happens to a task next, and `agenda`
//! keeps the answers in order, so that no commit looks at tasks it does not concern. The `forest` knows what is below what,
//! `joins` who waits for whom.
//!
//! From these, `reconcile` lists marks, withdrawals and final records, `reserve` what starts, `plan` when to look again and
//! `wake` when the object must wake; `step` decides between two phases; `finish` and `waits` judge what a task commits for
//! itself; `scope` answers traversals; `inspect` shows it all. `check` and `invariant` compute everything again, for tests.

pub mod agenda;
pub mod apply;
#[cfg(any(test, debug_assertions))]
pub mod check;
pub mod enter;
pub mod finish;
pub mod forest;
pub(crate) mod index;
pub mod inspect;
#[cfg(any(test, debug_assertions))]
pub mod invariant;
mod joins;
pub mod marks;
pub mod plan;
pub mod reconcile;
pub mod reserve;
pub(crate) mod sabotage;
pub mod scope;
pub mod stand;
pub mod state;
pub mod step;
pub mod touch;
pub mod waits;
pub mod wake;

#[cfg(test)]
mod tests;
