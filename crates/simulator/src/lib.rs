//! One seeded world for tests of what runs over a session: what is polled next, how long storage takes, which call is
//! the last of its process and what the clock says are functions of one number.
//!
//! Here lives what a story needs whatever it is about: [`world`] (the executor and its clock), [`storage`] (latency and
//! doom), [`alarm`] (the one thing beside storage that outlives a process), [`play`] (steps, time and the alarm in
//! order), [`trace`] and [`seeds`] (telling many seeds, and one of them in words). Here may not live: any knowledge of tasks,
//! submissions or models; a story brings its own model of what it checks. Tests depend on this crate, nothing that ships
//! does.

pub mod alarm;
pub mod play;
pub mod random;
pub mod seeds;
pub mod storage;
mod tally;
pub mod trace;
pub mod world;

pub use alarm::AlarmClock;
pub use play::{Play, Standing};
pub use random::Random;
pub use seeds::{Campaign, Telling, Told};
pub use storage::{Doom, DoomedCall, Rough, Weather};
pub use tally::Tally;
pub use trace::Trace;
pub use world::World;
