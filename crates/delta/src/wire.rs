//! The wire form of operations: paths by number, and none where the last one is meant again (Chord Delta's wire codec).
//!
//! One encoder and one decoder belong to one stream of one state and see all its batches in order. In a tuple of the wire
//! form a path may be
//! - spelled out, as in the decoded form;
//! - a number, defined earlier in the stream by `["#", number, path]`. A replacement (`r`) forgets all numbers;
//! - left out, when it is that of the operation before in the same batch. `r` and the start of a batch end this, `#` does
//!   not set it.
//!
//! For clients and tests: nothing that is stored has this form.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::WireDecoder;
pub use encode::WireEncoder;
