//! Agent events (spec 9.4): one conversation's committed publications, translated.
//!
//! [`derive`] is pure; [`snapshot`] reads what a late joiner needs; [`hub`] hands batches to readers without ever
//! slowing a commit.

pub mod derive;
pub mod hub;
mod live_changes;
pub mod snapshot;
