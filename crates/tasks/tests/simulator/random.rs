//! Reproducible choices.

/// A stream of choices that its seed decides.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        // splitmix64, so that neighbouring seeds differ.
        Self(seed)
    }

    /// The choice of a task at one point of its life: the same whenever the point is reached again.
    pub fn at(seed: u64, point: u64) -> Self {
        Self(
            seed.wrapping_mul(0x9e37_79b9)
                .wrapping_add(point.wrapping_mul(0x85eb_ca6b)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`, which is positive.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// 53 bits, so that it is a JSON number.
    pub fn seed(&mut self) -> u64 {
        self.next() >> 11
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            None
        } else {
            items.get(self.below(items.len() as u64) as usize)
        }
    }
}
