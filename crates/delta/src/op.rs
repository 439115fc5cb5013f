//! The seven operations and their tuples (durable spec section 8: Chord Delta, decoded form).

use crate::path::{decode_path, encode_path, loose_text};
use crate::{ApplyError, Array, Json, Path, Segment, Text, write_string};

/// One operation. A batch is a list of them, applied left to right.
///
/// Counts, lengths and offsets of text are in UTF-16 code units.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `["r", value]`: the whole value becomes `value`.
    Replace(Json),
    /// `["s", path, value]`: sets a member or element; an index equal to the length appends.
    Set(Path, Json),
    /// `["d", path]`: removes a member (a missing one is no error) or an element, closing the gap.
    Delete(Path),
    /// `["a", path, text]`: appends to the string there.
    Append(Path, Text),
    /// `["t", path, count]`: drops the first `count` code units of the string there, at most all.
    TrimStart(Path, u64),
    /// `["p", path, index, remove, items]`: array splice; index and removal clamp to the length.
    Splice {
        path: Path,
        index: u64,
        remove: u64,
        items: Array,
    },
    /// `["m", path, permutation]`: new element *i* is old element `permutation[i]`.
    Move(Path, Vec<u64>),
}

impl Op {
    /// Reads one tuple. Arity is exact; every segment of the path is checked.
    ///
    /// # Errors
    /// [`ApplyError::Type`] for a malformed tuple, [`ApplyError::UnsafePath`] for a bad segment.
    pub fn decode(tuple: &Json) -> Result<Op, ApplyError> {
        let tuple = tuple.as_array().map(Array::to_vec).unwrap_or_default();
        let Some((verb, rest)) = tuple.split_first() else {
            return malformed("op is not a tuple");
        };
        match (verb.as_str(), rest) {
            (Some("r"), [value]) => Ok(Op::Replace(value.clone())),
            (Some("r"), _) => malformed("r arity"),
            (Some("s"), [path, value]) => Ok(Op::Set(leaf_path(path)?, value.clone())),
            (Some("s"), _) => malformed("s arity"),
            (Some("d"), [path]) => Ok(Op::Delete(leaf_path(path)?)),
            (Some("d"), _) => malformed("d arity"),
            (Some("a"), [path, Json::String(text)]) => Ok(Op::Append(leaf_path(path)?, text.clone())),
            (Some("a"), _) => malformed("a shape"),
            (Some("t"), [path, count]) => match natural(count) {
                Some(count) => Ok(Op::TrimStart(leaf_path(path)?, count)),
                None => malformed("t shape"),
            },
            (Some("t"), _) => malformed("t shape"),
            (Some("p"), [path, index, remove, items]) => {
                let path = decode_path(path)?;
                let Some(index) = natural(index) else {
                    return malformed("p index");
                };
                let Some(remove) = natural(remove) else {
                    return malformed("p remove");
                };
                let Some(items) = items.as_array() else {
                    return malformed("p items");
                };
                Ok(Op::Splice {
                    path,
                    index,
                    remove,
                    items: items.clone(),
                })
            }
            (Some("p"), _) => malformed("p arity"),
            (Some("m"), [path, order]) => {
                let path = decode_path(path)?;
                let Some(order) = order.as_array() else {
                    return malformed("m permutation is not an array");
                };
                let order: Option<Vec<u64>> = order.iter().map(natural).collect();
                match order.filter(|order| is_bijection(order)) {
                    Some(order) => Ok(Op::Move(path, order)),
                    None => malformed("m permutation is not a bijection"),
                }
            }
            (Some("m"), _) => malformed("m arity"),
            _ => Err(ApplyError::Type(
                format!("unknown op verb: {}", loose_text(verb, 8)).into(),
            )),
        }
    }

    /// The tuple of this operation.
    pub fn encode(&self) -> Json {
        let count = |count: &u64| Json::Number(*count as f64);
        match self {
            Op::Replace(value) => Json::array(["r".into(), value.clone()]),
            Op::Set(path, value) => Json::array(["s".into(), encode_path(path), value.clone()]),
            Op::Delete(path) => Json::array(["d".into(), encode_path(path)]),
            Op::Append(path, text) => Json::array(["a".into(), encode_path(path), text.into()]),
            Op::TrimStart(path, units) => Json::array(["t".into(), encode_path(path), count(units)]),
            Op::Splice {
                path,
                index,
                remove,
                items,
            } => Json::array([
                "p".into(),
                encode_path(path),
                count(index),
                count(remove),
                Json::Array(items.clone()),
            ]),
            Op::Move(path, order) => Json::array([
                "m".into(),
                encode_path(path),
                Json::array(order.iter().map(count)),
            ]),
        }
    }

    /// The path; `None` for a replacement of the whole value.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Op::Replace(_) => None,
            Op::Set(path, _)
            | Op::Delete(path)
            | Op::Append(path, _)
            | Op::TrimStart(path, _)
            | Op::Splice { path, .. }
            | Op::Move(path, _) => Some(path),
        }
    }

    /// Appends the text of the tuple, that of [`Op::encode`] without building it.
    fn write(&self, out: &mut String) {
        out.push_str(match self {
            Op::Replace(_) => "[\"r\"",
            Op::Set(..) => "[\"s\",",
            Op::Delete(_) => "[\"d\",",
            Op::Append(..) => "[\"a\",",
            Op::TrimStart(..) => "[\"t\",",
            Op::Splice { .. } => "[\"p\",",
            Op::Move(..) => "[\"m\",",
        });
        if let Some(path) = self.path() {
            write_list(out, path, |out, segment| match segment {
                Segment::Key(key) => write_string(out, key),
                Segment::Index(index) => Json::Number(*index as f64).write(out),
            });
        }
        let count = |out: &mut String, count: &u64| Json::Number(*count as f64).write(out);
        if !matches!(self, Op::Delete(_)) {
            out.push(',');
        }
        match self {
            Op::Delete(_) => {}
            Op::Replace(value) | Op::Set(_, value) => value.write(out),
            Op::Append(_, text) => write_string(out, text),
            Op::TrimStart(_, units) => count(out, units),
            Op::Splice {
                index, remove, items, ..
            } => {
                count(out, index);
                out.push(',');
                count(out, remove);
                out.push(',');
                Json::Array(items.clone()).write(out);
            }
            Op::Move(_, order) => write_list(out, order, count),
        }
        out.push(']');
    }

    /// What [`Op::decode`] guarantees, for an operation built by hand.
    pub(crate) fn check(&self) -> Result<(), ApplyError> {
        let Some(path) = self.path() else { return Ok(()) };
        if path.is_empty() && !matches!(self, Op::Splice { .. } | Op::Move(..)) {
            return malformed("path is empty");
        }
        if let Some(reserved) = path.iter().find(|segment| segment.is_reserved()) {
            return Err(ApplyError::unsafe_segment(reserved));
        }
        match self {
            Op::Move(_, order) if !is_bijection(order) => malformed("m permutation is not a bijection"),
            _ => Ok(()),
        }
    }
}

/// Reads a batch: an array of tuples.
///
/// # Errors
/// Those of [`Op::decode`], and [`ApplyError::Type`] when `batch` is no array.
pub fn decode_batch(batch: &Json) -> Result<Vec<Op>, ApplyError> {
    match batch.as_array() {
        Some(tuples) => tuples.iter().map(Op::decode).collect(),
        None => malformed("batch is not an array"),
    }
}

/// The tuples of a batch.
pub fn encode_batch(ops: &[Op]) -> Json {
    Json::array(ops.iter().map(Op::encode))
}

/// Appends the text of a batch, that of [`encode_batch`] without building it.
pub fn write_batch(out: &mut String, ops: &[Op]) {
    write_list(out, ops, |out, op| op.write(out));
}

fn write_list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    let mut before = '[';
    for item in items {
        out.push(before);
        write(out, item);
        before = ',';
    }
    out.push_str(if items.is_empty() { "[]" } else { "]" });
}

pub(crate) fn malformed<T>(tag: &'static str) -> Result<T, ApplyError> {
    Err(ApplyError::Type(tag.into()))
}

fn leaf_path(value: &Json) -> Result<Path, ApplyError> {
    let path = decode_path(value)?;
    if path.is_empty() {
        malformed("path is empty")
    } else {
        Ok(path)
    }
}

/// A non-negative integer as JavaScript's `Number.isInteger` sees it; huge ones saturate, which only a
/// clamped count can notice.
pub(crate) fn natural(value: &Json) -> Option<u64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number >= 0.0).then_some(number as u64)
}

/// Whether `order` contains each of `0..order.len()` once.
pub(crate) fn is_bijection(order: &[u64]) -> bool {
    let mut seen = vec![false; order.len()];
    order.iter().all(|place| {
        let slot = usize::try_from(*place).ok().and_then(|place| seen.get_mut(place));
        slot.is_some_and(|seen| !std::mem::replace(seen, true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn the_text_of_a_batch_is_that_of_its_tuples() {
        let path = || vec!["k\"".into(), 3_usize.into(), "".into()];
        let items = Array::from(vec![json!({ "a": [1.5] }), json!(null)]);
        let ops = [
            Op::Replace(json!({ "a": 1 })),
            Op::Set(path(), json!([])),
            Op::Delete(path()),
            Op::Append(path(), "t\n".into()),
            Op::TrimStart(path(), 12),
            Op::Splice {
                path: Path::new(),
                index: 1,
                remove: u64::MAX,
                items,
            },
            Op::Move(path(), vec![1, 0]),
            Op::Move(Path::new(), vec![]),
        ];
        for count in 0..=ops.len() {
            let mut text = String::new();
            write_batch(&mut text, &ops[..count]);
            assert_eq!(text, encode_batch(&ops[..count]).to_string());
        }
    }
}
