//! A sorted set of ids.

use litemap::LiteMap;

/// Kept as a sorted list: ids ascend with time, so most insertions append, and each further instance of a tree would cost
/// several times the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<K>(LiteMap<K, ()>);

impl<K: Ord> Set<K> {
    pub fn new() -> Self {
        Self(LiteMap::new_vec())
    }

    /// Adds the element; whether it is new.
    pub fn insert(&mut self, element: K) -> bool {
        self.0.insert(element, ()).is_none()
    }

    pub fn contains(&self, element: &K) -> bool {
        self.0.contains_key(element)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }

    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.0.retain(|element, ()| keep(element));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord> Default for Set<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord> Extend<K> for Set<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, elements: I) {
        for element in elements {
            self.insert(element);
        }
    }
}

impl<K: Ord> FromIterator<K> for Set<K> {
    fn from_iter<I: IntoIterator<Item = K>>(elements: I) -> Self {
        let mut set = Self::new();
        set.extend(elements);
        set
    }
}

impl<K: Ord> IntoIterator for Set<K> {
    type Item = K;
    type IntoIter = std::iter::Map<std::vec::IntoIter<(K, ())>, fn((K, ())) -> K>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_tuple_vec().into_iter().map(|(element, ())| element)
    }
}

#[cfg(test)]
mod tests {
    use super::Set;

    #[test]
    fn elements_are_sorted_and_single() {
        let mut set: Set<u64> = [3, 1, 2, 3].into_iter().collect();
        assert!(!set.insert(2));
        assert!(set.insert(0));
        assert_eq!(set.iter().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(set.contains(&3) && !set.contains(&4));
        set.retain(|element| *element != 1 && *element != 3);
        assert_eq!(set.clone().into_iter().collect::<Vec<_>>(), [0, 2]);
        assert!(!set.is_empty());
        set.retain(|_| false);
        assert!(set.is_empty());
    }
}
