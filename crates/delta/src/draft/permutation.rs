//! Whether an array that is assigned holds the elements that are there, in another order.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Array, Json};

/// The order that makes `after` of `before`, both of one length: element `i` of `after` is element `order[i]` of `before`.
///
/// `None` when at most one element differs, or when they are not the same elements. Equal elements keep their order.
pub(super) fn permutation(before: &Array, after: &Array) -> Option<Vec<u64>> {
    let pairs = || before.iter().zip(after).enumerate();
    let moved: Vec<_> = pairs().filter(|(_, (before, after))| before != after).collect();
    if moved.len() < 2 {
        return None;
    }
    // By fingerprint, the places not yet given away, the first one last.
    let mut places: HashMap<u64, Vec<(usize, &Json)>> = HashMap::new();
    for (place, (before, _)) in moved.iter().rev() {
        places
            .entry(fingerprint(before))
            .or_default()
            .push((*place, *before));
    }
    let mut order: Vec<u64> = (0..before.len() as u64).collect();
    for (place, (_, after)) in moved {
        let free = places.get_mut(&fingerprint(after))?;
        let found = free.iter().rposition(|(_, before)| *before == after)?;
        let (from, _) = free.remove(found);
        *order.get_mut(place)? = from as u64;
    }
    Some(order)
}

/// Equal for equal values.
///
/// The sum over all parts of what each is and where it stands, so the order of members does not matter, and a list serves
/// instead of recursion, for the small stack.
fn fingerprint(value: &Json) -> u64 {
    let mut sum = 0_u64;
    let mut open = vec![(0, value)];
    while let Some((above, node)) = open.pop() {
        let own = match node {
            Json::Null => hash((above, 0)),
            Json::Bool(value) => hash((above, 1, value)),
            // The addition makes one zero of both.
            Json::Number(number) => hash((above, 2, (number + 0.0).to_bits())),
            Json::String(text) => hash((above, 3, text)),
            Json::Array(array) => {
                open.extend(
                    array
                        .iter()
                        .enumerate()
                        .map(|(at, item)| (hash((above, at)), item)),
                );
                hash((above, 4))
            }
            Json::Object(object) => {
                open.extend(object.iter().map(|(key, value)| (hash((above, key)), value)));
                hash((above, 5))
            }
        };
        sum = sum.wrapping_add(own);
    }
    sum
}

fn hash(part: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}
