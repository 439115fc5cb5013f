//! Data-driven tests of the pure core: a world in, actions out.

mod apply;
mod finish;
mod naive;
mod random;
mod reconcile;
mod reserve;
mod scope;
mod step;
mod touch;
mod waits;
mod wake;
mod world;
