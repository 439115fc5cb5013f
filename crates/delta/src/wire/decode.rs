//! Wire tuples to operations.

use std::collections::HashMap;

use crate::op::{malformed, natural};
use crate::path::decode_path;
use crate::{ApplyError, Array, Json, Op};

/// The reading end of one stream. Everything is checked: the other side is not trusted.
#[derive(Clone, Debug, Default)]
pub struct WireDecoder {
    /// Defined paths, checked. By the bits of their number, which need not be small nor follow an order.
    paths: HashMap<u64, Array>,
    ended: Option<ApplyError>,
}

impl WireDecoder {
    /// The decoder of a new stream.
    pub fn new() -> WireDecoder {
        WireDecoder::default()
    }

    /// The operations of the next batch.
    ///
    /// # Errors
    /// [`ApplyError::Type`] for a malformed tuple or number, [`ApplyError::UnsafePath`] for a bad segment, and
    /// [`ApplyError::Path`] for a number that was not defined, a path left out with none before it, and the root where only
    /// a place inside can be meant. The first error ends the stream: every later call answers it again.
    pub fn decode(&mut self, batch: &Json) -> Result<Vec<Op>, ApplyError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        let decoded = self.batch(batch);
        self.ended = decoded.as_ref().err().cloned();
        decoded
    }

    fn batch(&mut self, batch: &Json) -> Result<Vec<Op>, ApplyError> {
        let Some(tuples) = batch.as_array() else {
            return malformed("batch is not an array");
        };
        let mut ops = Vec::new();
        let mut previous = None;
        for tuple in tuples {
            let parts = tuple.as_array().map(Array::to_vec).unwrap_or_default();
            let (verb, rest) = match parts.split_first() {
                Some((Json::String(verb), rest)) => (&**verb, rest),
                // `Op::decode` knows what to say.
                _ => ("", parts.as_slice()),
            };
            let Some(wanted) = arguments(verb) else {
                if verb == "#" {
                    self.define(rest)?;
                    continue;
                }
                let op = Op::decode(tuple)?;
                self.paths.clear();
                previous = None;
                ops.push(op);
                continue;
            };
            let (path, rest) = match rest.split_first() {
                Some((path, rest)) if rest.len() == wanted => (self.path(path)?, rest),
                _ if rest.len() == wanted => (previous.take().ok_or(ApplyError::unresolvable(&[]))?, rest),
                _ => return Err(ApplyError::Type(format!("{verb} arity").into())),
            };
            if path.is_empty() && !matches!(verb, "p" | "m") {
                return Err(ApplyError::unresolvable(&[]));
            }
            let tuple = [verb.into(), Json::Array(path.clone())];
            ops.push(Op::decode(&Json::array(
                tuple.into_iter().chain(rest.iter().cloned()),
            ))?);
            previous = Some(path);
        }
        Ok(ops)
    }

    /// `["#", number, path]`.
    fn define(&mut self, rest: &[Json]) -> Result<(), ApplyError> {
        match rest {
            [number, Json::Array(path)] if natural(number).is_some() => {
                decode_path(&Json::Array(path.clone()))?;
                self.paths.insert(key(number), path.clone());
                Ok(())
            }
            _ => malformed("# shape"),
        }
    }

    /// A path that is spelled out (checked with its tuple), or the one that a number means.
    fn path(&self, path: &Json) -> Result<Array, ApplyError> {
        match path {
            Json::Array(path) => Ok(path.clone()),
            Json::Number(_) if natural(path).is_none() => malformed("bad path id"),
            Json::Number(_) => {
                let known = self.paths.get(&key(path));
                known.cloned().ok_or(ApplyError::unresolvable(&[]))
            }
            _ => malformed("path is not an array"),
        }
    }
}

/// What a tuple holds beside its verb and path; `None` for those without a path.
fn arguments(verb: &str) -> Option<usize> {
    match verb {
        "d" => Some(0),
        "s" | "a" | "t" | "m" => Some(1),
        "p" => Some(3),
        _ => None,
    }
}

/// Equal for equal numbers. Large ones stay apart, which integers of 64 bits would not manage.
fn key(number: &Json) -> u64 {
    // The addition makes one zero of both.
    (number.as_f64().unwrap_or_default() + 0.0).to_bits()
}
