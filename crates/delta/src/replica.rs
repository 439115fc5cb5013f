//! The following end of a replicated state (Chord's replica; durable spec section 9.1).
//!
//! For clients and tests: the document states of a session need no replica, they hold the revisions themselves.

#[cfg(test)]
mod tests;

use crate::{ApplyError, Json, Op, apply, apply_batch};

/// A copy of a state that lives elsewhere, kept up by its batches. It is either ready or has to be hydrated, and every
/// failure makes it the latter: a value that missed a batch is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Replica {
    /// Without a value, until the next snapshot.
    #[default]
    Cold,
    /// With the value after the batch `sequence`. A root of `null` is a value, too.
    Ready { sequence: u64, value: Json },
}

/// Why a batch was not taken. The replica is cold then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicaError {
    /// A snapshot must begin with a replacement.
    #[error("the snapshot is not a base batch")]
    NotABase,
    /// An update came before any snapshot, or after a failure.
    #[error("an update came before hydration")]
    Cold,
    /// An update is not the one that follows; batches were lost or repeated.
    #[error("expected the update {expected}, got {got}")]
    Gap { expected: u64, got: u64 },
    /// The batch is malformed or does not fit the value.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

impl Replica {
    /// A cold one.
    pub fn new() -> Replica {
        Replica::Cold
    }

    /// The value, `None` when cold.
    pub fn value(&self) -> Option<&Json> {
        match self {
            Replica::Cold => None,
            Replica::Ready { value, .. } => Some(value),
        }
    }

    /// Takes a snapshot: operations of which the first is a replacement. Any sequence is fine.
    pub fn hydrate(&mut self, sequence: u64, ops: &[Op]) -> Result<(), ReplicaError> {
        let is_base = matches!(ops.first(), Some(Op::Replace(_)));
        self.hydrate_from(sequence, is_base, || apply(None, ops))
    }

    /// [`Replica::hydrate`], with the tuples of a batch.
    pub fn hydrate_batch(&mut self, sequence: u64, batch: &Json) -> Result<(), ReplicaError> {
        let verb = batch.index(0).and_then(|tuple| tuple.index(0));
        let is_base = verb.and_then(Json::as_str) == Some("r");
        self.hydrate_from(sequence, is_base, || apply_batch(None, batch))
    }

    /// Takes the batch after the last one. An empty batch counts.
    pub fn update(&mut self, sequence: u64, ops: &[Op]) -> Result<(), ReplicaError> {
        self.update_from(sequence, |value| apply(Some(value), ops))
    }

    /// [`Replica::update`], with the tuples of a batch.
    pub fn update_batch(&mut self, sequence: u64, batch: &Json) -> Result<(), ReplicaError> {
        self.update_from(sequence, |value| apply_batch(Some(value), batch))
    }

    /// Forgets the value, as when the stream broke elsewhere.
    pub fn clear(&mut self) {
        *self = Replica::Cold;
    }

    fn hydrate_from(
        &mut self,
        sequence: u64,
        is_base: bool,
        value: impl FnOnce() -> Result<Json, ApplyError>,
    ) -> Result<(), ReplicaError> {
        self.clear();
        if !is_base {
            return Err(ReplicaError::NotABase);
        }
        let value = value()?;
        *self = Replica::Ready { sequence, value };
        Ok(())
    }

    fn update_from(
        &mut self,
        got: u64,
        next: impl FnOnce(&Json) -> Result<Json, ApplyError>,
    ) -> Result<(), ReplicaError> {
        let Replica::Ready { sequence, value } = std::mem::take(self) else {
            return Err(ReplicaError::Cold);
        };
        if sequence.checked_add(1) != Some(got) {
            let expected = sequence.saturating_add(1);
            return Err(ReplicaError::Gap { expected, got });
        }
        let value = next(&value)?;
        *self = Replica::Ready { sequence: got, value };
        Ok(())
    }
}
