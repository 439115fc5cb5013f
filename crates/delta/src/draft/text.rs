//! How one string became another: an append, a trim from the front with an append, or a new string.
//!
//! Offsets are UTF-16 code units throughout. Both strings are well-formed, so an overlap never begins
//! or ends inside a surrogate pair: it would have to start with a low half or end with a high one.

use crate::{Json, Op, Path, Text, byte_of_unit, utf16_len};

/// Only this much of the old string's end is searched for what the new one begins with.
const MAX_OVERLAP: usize = 65_536;
/// Length of the first probe; the second is one unit long.
const PROBE: usize = 64;
/// Occurrences of a probe that are tried before giving up.
const MAX_CANDIDATES: usize = 8;

/// Appends the operations that turn `before` into `after` at `path`.
pub(super) fn text_ops(path: &Path, before: &Text, after: &Text, out: &mut Vec<Op>) {
    match strip_prefix(after, before) {
        Some("") => return,
        Some(rest) => return out.push(Op::Append(path.clone(), rest.into())),
        None => {}
    }
    let kept = overlap(before, after);
    match byte_of_unit(after, kept) {
        Some(byte) if kept > 0 => {
            let dropped = utf16_len(before) - kept;
            out.push(Op::TrimStart(path.clone(), dropped as u64));
            match after.get(byte..) {
                Some("") | None => {}
                Some(rest) => out.push(Op::Append(path.clone(), rest.into())),
            }
        }
        _ => out.push(Op::Set(path.clone(), Json::String(after.clone()))),
    }
}

/// What follows `prefix` in `text`. Compares eight bytes at a time, which the standard library built for size does not:
/// a text that streams in is compared whole for each piece.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (words, rest) = text.as_bytes().get(..prefix.len())?.as_chunks::<8>();
    let (prefix_words, prefix_rest) = prefix.as_bytes().as_chunks::<8>();
    let mut pairs = words.iter().zip(prefix_words);
    let same = pairs.all(|(a, b)| u64::from_ne_bytes(*a) == u64::from_ne_bytes(*b)) && rest == prefix_rest;
    if same { text.get(prefix.len()..) } else { None }
}

/// Code units of a suffix of `before` that is a prefix of `after`; 0 when none is found.
fn overlap(before: &str, after: &str) -> usize {
    let window = last_units(before, MAX_OVERLAP);
    let after: Vec<u16> = after.encode_utf16().take(MAX_OVERLAP).collect();
    let long = PROBE.min(after.len());
    let found = longest_at_probe(&window, &after, long);
    if found == 0 && long > 1 {
        longest_at_probe(&window, &after, 1)
    } else {
        found
    }
}

/// The first accepted occurrence of the probe is the leftmost, hence the longest overlap.
fn longest_at_probe(window: &[u16], after: &[u16], probe: usize) -> usize {
    let probe = after.get(..probe).unwrap_or_default();
    if probe.is_empty() || window.len() < probe.len() {
        return 0;
    }
    let accepted = |at: &usize| window.get(*at..).is_some_and(|suffix| after.starts_with(suffix));
    let occurrences = window
        .windows(probe.len())
        .enumerate()
        .filter(|(_, units)| *units == probe);
    occurrences
        .take(MAX_CANDIDATES)
        .map(|(at, _)| at)
        .find(accepted)
        .map_or(0, |at| window.len() - at)
}

/// The last `limit` code units of `text`.
fn last_units(text: &str, limit: usize) -> Vec<u16> {
    let mut units = Vec::with_capacity(limit.min(text.len()) + 1);
    for character in text.chars().rev() {
        if units.len() >= limit {
            break;
        }
        units.extend(character.encode_utf16(&mut [0; 2]).iter().rev());
    }
    units.truncate(limit);
    units.reverse();
    units
}
