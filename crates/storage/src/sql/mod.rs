//! The SQL backend: one schema and one set of statements over any [`SqlDriver`] (spec 11.2).
//!
//! One commit is one transaction: a list of [`Writes`], collected while nothing is written yet, and applied as a whole. Nothing is created before the first commit; until then reads answer empty without
//! touching SQL. In memory lives only what a reopen can rebuild: the counters of `marks`, which advance after a
//! transaction succeeded and never before, and what `recall` spares commits to read.

mod chunks;
mod codec;
mod commit;
pub mod driver;
mod encode;
mod marks;
#[cfg(not(target_arch = "wasm32"))]
pub mod native;
mod read;
mod recall;
mod rows;
mod schema;
mod scope;
mod segments;
mod small;
pub mod statements;
mod store;
pub mod writes;

pub use driver::{Param, Row, SqlDriver, SqlError, Value};
pub use store::SqlStorage;
pub use writes::Writes;
