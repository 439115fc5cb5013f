//! Reproducible choices.

use std::cell::Cell;

/// A stream of choices that its seed decides. Drawing needs no `&mut`: every part of a world holds its own stream.
#[derive(Debug)]
pub struct Random(Cell<u64>);

impl Random {
    /// Neighbouring seeds give unrelated streams.
    pub fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// One of many streams of a seed: the same whenever it is asked for again.
    pub fn at(seed: u64, stream: u64) -> Self {
        let mixed = seed
            .wrapping_mul(0x9e37_79b9)
            .wrapping_add(stream.wrapping_mul(0x85eb_ca6b));
        Self::new(mixed)
    }

    /// 64 random bits: splitmix64.
    pub fn bits(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`; 0 for a limit of 0.
    pub fn below(&self, limit: u64) -> u64 {
        self.bits().checked_rem(limit).unwrap_or(0)
    }

    pub fn percent(&self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// 53 bits, so that it is a JSON number.
    pub fn seed(&self) -> u64 {
        self.bits() >> 11
    }

    /// A position in a list of this length; `None` in an empty one.
    pub fn index(&self, len: usize) -> Option<usize> {
        (len > 0).then(|| self.below(len as u64) as usize)
    }

    pub fn pick<'a, T>(&self, items: &'a [T]) -> Option<&'a T> {
        self.index(items.len()).and_then(|index| items.get(index))
    }
}
