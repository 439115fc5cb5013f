//! Ordered pairs of numbers: the one kind of index that the mirror keeps.

use std::collections::BTreeSet;
use std::collections::hash_map::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pairs in ascending order. Everything that is looked up by order (edges, waits, deadlines, what is due) is this one type,
/// because each further instance of a tree costs some kilobytes of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index(BTreeSet<(u64, u64)>);

impl Index {
    /// Adds the pair; whether it is new.
    pub fn insert(&mut self, first: u64, second: u64) -> bool {
        self.0.insert((first, second))
    }

    /// Takes the pair out; whether it was there.
    pub fn remove(&mut self, first: u64, second: u64) -> bool {
        self.0.remove(&(first, second))
    }

    pub fn contains(&self, first: u64, second: u64) -> bool {
        self.0.contains(&(first, second))
    }

    /// The second halves of the pairs with this first half, ascending.
    pub fn under(&self, first: u64) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.0
            .range((first, 0)..=(first, u64::MAX))
            .map(|(_, second)| *second)
    }

    pub fn has(&self, first: u64) -> bool {
        self.under(first).next().is_some()
    }

    /// The pairs whose first half is at most this, ascending.
    pub fn up_to(&self, first: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0.range(..=(first, u64::MAX)).copied()
    }

    /// The least first half above this one.
    pub fn after(&self, first: u64) -> Option<u64> {
        let next = self.0.range((first.saturating_add(1), 0)..).next();
        next.map(|(first, _)| *first)
    }

    /// Takes the last pair out and gives its second half.
    pub fn pop_last(&mut self) -> Option<u64> {
        self.0.pop_last().map(|(_, second)| second)
    }
}

/// The numbers in ascending order, each once. All ids are sorted here, as numbers: every further type to sort costs some
/// kilobytes of code.
pub fn ascending(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut sorted: Vec<u64> = numbers.into_iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// A map from ids. Its order means nothing but is the same in every run, so that a seed reproduces a story.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Spreads a number. Ids are given by the session, so nobody can choose them to collide.
#[derive(Clone, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The golden ratio; the fold brings the well-mixed high bits to where a table looks.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Index;

    #[test]
    fn pairs_are_sorted_and_found_by_their_first_half() {
        let mut index = Index::default();
        for (first, second) in [(3, 1), (1, 9), (3, 0), (3, 1), (4, u64::MAX)] {
            index.insert(first, second);
        }
        assert!(!index.insert(3, 1) && index.contains(1, 9) && !index.contains(9, 1));
        assert_eq!(index.under(3).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(index.up_to(3).collect::<Vec<_>>(), [(1, 9), (3, 0), (3, 1)]);
        assert_eq!(
            (index.after(0), index.after(3), index.after(4)),
            (Some(1), Some(4), None)
        );
        assert!(index.remove(1, 9) && !index.remove(1, 9) && !index.has(1) && index.has(4));
        assert_eq!((index.pop_last(), index.after(3)), (Some(u64::MAX), None));
    }
}
