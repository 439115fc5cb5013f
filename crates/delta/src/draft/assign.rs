//! Assignment by comparison: the one place where a change is found out instead of recorded.

use crate::draft::DraftError;
use crate::draft::held::Target;
use crate::draft::open::{Open, check_finite};
use crate::draft::permutation::permutation;
use crate::{Array, Json, MAX_DEPTH, Object, Path, Segment};

type Result<T> = std::result::Result<T, DraftError>;

/// Puts `value` at `target`, recording where it differs from the present value.
pub(super) fn assign(open: &mut Open, target: Target, value: Json) -> Result<()> {
    // Everything that could fail halfway is checked first.
    check_finite(&value)?;
    let above = target.path.len();
    if above > MAX_DEPTH || value.deeper_than(MAX_DEPTH - above) {
        return Err(DraftError::Depth);
    }
    let Some(present) = open.read(target)? else {
        return open.set(target, value);
    };
    // A list instead of recursion, for the small stack. The parts are independent of each other:
    // an array is either restructured or recursed into.
    let mut parts = vec![(target.path.to_vec(), present, value)];
    while let Some((path, before, after)) = parts.pop() {
        let target = target.at(&path);
        match (&before, &after) {
            _ if before.same(&after) => {}
            (Json::Object(before), Json::Object(after)) => {
                assign_members(open, target, before, after, &mut parts)?;
            }
            (Json::Array(before), Json::Array(after)) if before.len() == after.len() => {
                if let Some(order) = permutation(before, after) {
                    open.reorder(target, order)?;
                    continue;
                }
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    if !evidently_equal(before, after) {
                        parts.push((below(&path, index), before.clone(), after.clone()));
                    }
                }
            }
            (Json::Array(before), Json::Array(after)) => assign_elements(open, target, before, after)?,
            _ => open.set(target, after)?,
        }
    }
    Ok(())
}

/// Whether both are equal, as far as one look shows: containers are only compared by identity.
fn evidently_equal(before: &Json, after: &Json) -> bool {
    before.same(after) || (!before.is_container() && before == after)
}

fn below(path: &[Segment], segment: impl Into<Segment>) -> Path {
    let mut path = path.to_vec();
    path.push(segment.into());
    path
}

fn assign_members(
    open: &mut Open,
    target: Target,
    before: &Object,
    after: &Object,
    parts: &mut Vec<(Path, Json, Json)>,
) -> Result<()> {
    let path = target.path;
    for (key, value) in after {
        match before.get(key) {
            Some(present) if evidently_equal(present, value) => {}
            Some(present) => parts.push((below(path, key.clone()), present.clone(), value.clone())),
            None => open.set(target.at(&below(path, key.clone())), value.clone())?,
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(key)) {
        open.remove(target.at(&below(path, key.clone())))?;
    }
    Ok(())
}

/// Assigns an array of another length.
fn assign_elements(open: &mut Open, target: Target, before: &Array, after: &Array) -> Result<()> {
    if let Some(gaps) = removals(before, after) {
        // From the end, so that earlier positions stay valid.
        for (index, count) in gaps.into_iter().rev() {
            open.splice(target, Some(index), count, Array::new())?;
        }
        return Ok(());
    }
    let prefix = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - prefix;
    let backwards = before.iter().rev().zip(after.iter().rev());
    let suffix = backwards.take(rest).take_while(|(a, b)| a == b).count();
    let items = after.slice(prefix, after.len() - suffix);
    open.splice(target, Some(prefix), before.len() - suffix - prefix, items)
}

/// The runs (index in `before`, count) whose removal leaves exactly `after`, if removals suffice.
fn removals(before: &Array, after: &Array) -> Option<Vec<(usize, usize)>> {
    if after.len() >= before.len() {
        return None;
    }
    let mut wanted = after.iter().peekable();
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    for (index, item) in before.iter().enumerate() {
        if wanted.next_if(|next| *next == item).is_some() {
            continue;
        }
        match gaps.last_mut() {
            Some((start, count)) if *start + *count == index => *count += 1,
            _ => gaps.push((index, 1)),
        }
    }
    wanted.next().is_none().then_some(gaps)
}
