//! Numbers that look random and are the same in every run.

/// xorshift.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Different seeds, also neighbours, give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        // A step of splitmix64; the state of a xorshift must not be 0.
        let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((state ^ (state >> 31)).max(1))
    }

    /// A number below `limit`, which is above 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    /// True in so many of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which are not empty.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        let at = self.below(items.len() as u64) as usize;
        items.get(at).cloned().expect("an index below the length")
    }

    /// One of `items`, if any.
    pub fn maybe_pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        (!items.is_empty()).then(|| self.pick(items))
    }
}
