//! Immutable application of batches (durable spec section 3.4; order of checks as in Chord Delta).

#[cfg(test)]
mod tests;

use crate::scratch::Scratch;
use crate::{ApplyError, Json, Op};

/// The value after `ops`, `base` being the value before them (`None`: no value yet, so that only a
/// replacement can begin; an empty batch then yields `null`).
///
/// `base` and `ops` stay as they are. Each container on a changed path is copied once per batch, all
/// else is shared with `base` and the payloads. Several operations on one string copy it once.
///
/// # Errors
/// The first operation that fails, with the class and message the format defines; operations built by
/// hand are checked like decoded ones. Payloads nested too deep for their place are
/// [`ApplyError::Depth`], numbers that are not finite [`ApplyError::Type`].
pub fn apply(base: Option<&Json>, ops: &[Op]) -> Result<Json, ApplyError> {
    let mut scratch = Scratch::new(base.cloned());
    for op in ops {
        op.check()?;
        scratch.step(op)?;
    }
    Ok(scratch.finish())
}

/// Like [`apply`], over the tuples of a batch.
///
/// An operation is decoded when it is reached, so a malformed one fails after the effect of its
/// predecessors has been checked: the error is always that of the first operation that fails.
pub fn apply_batch(base: Option<&Json>, batch: &Json) -> Result<Json, ApplyError> {
    let tuples = batch
        .as_array()
        .ok_or(ApplyError::Type("batch is not an array".into()))?;
    let mut scratch = Scratch::new(base.cloned());
    for tuple in tuples {
        scratch.step(&Op::decode(tuple)?)?;
    }
    Ok(scratch.finish())
}
