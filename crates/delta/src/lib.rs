//! `tidehold-delta`: JSON values with shared structure, recording drafts, and Chord delta operations.
//!
//! Lives here: the value type every other crate stores and passes around ([`Json`]), its one printer and
//! one parser, the conversion to and from typed Rust values, the seven operations `r s d a t p m`
//! ([`Op`]), their immutable application ([`apply()`]), and the draft that records edits ([`Change`]);
//! and for clients and tests, the wire form ([`WireEncoder`]) and a follower ([`Replica`]).
//! May not live here: documents, revisions in storage, clocks, randomness, or any
//! knowledge of what the values mean. Every function is pure and bounded: depth above [`MAX_DEPTH`] and
//! non-finite numbers are refused, and no input makes this crate panic.
//! Start reading at `json.rs` (the value), then `op.rs`, `apply.rs` and `draft.rs`.

mod apply;
mod convert;
mod draft;
mod error;
mod json;
mod op;
mod open_text;
mod path;
mod replica;
mod scratch;
mod utf16;
mod wire;

// The derive names this crate by its path, also in here.
extern crate self as tidehold_delta;

pub use apply::{apply, apply_batch};
pub use convert::{ConvertError, ConvertProblem, FromJson, Members, present, variant_name};
pub use draft::{Change, Draft, DraftError, Prepared};
pub use error::ApplyError;
pub use json::{
    Array, ArrayIter, Json, MAX_SAFE_INTEGER, Object, ObjectIter, ParseError, Text, format_number,
    push_integer, string_len, write_string,
};
pub use op::{Op, decode_batch, encode_batch, write_batch};
pub use path::{Path, Segment};
pub use replica::{Replica, ReplicaError};
pub use tidehold_delta_derive::FromJson;
pub use utf16::{byte_of_unit, unit_of_byte, utf16_len};
pub use wire::{WireDecoder, WireEncoder};

/// The deepest value this crate converts, places or applies: containers around a scalar.
///
/// Boundaries refuse far less (128); this bound protects the small stack of a wasm instance, whose
/// overflow would reset every session of the isolate.
pub const MAX_DEPTH: usize = 512;
