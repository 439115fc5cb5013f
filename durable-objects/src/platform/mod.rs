//! Adapters between the crates' traits and the Workers platform. One file per thing adapted.

pub mod alarm;
pub mod fetch;
pub mod guard;
pub mod host;
pub mod life;
pub mod sql;
pub mod storage;
pub mod timer;
