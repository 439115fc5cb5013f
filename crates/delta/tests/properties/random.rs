//! Random values. Seeded by a generator of its own, so every run is the same; a failure names its seed.

use tidehold_delta::Json;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub fn text(&mut self) -> String {
        let parts = [
            "a",
            "b",
            "ab",
            "é",
            "😀",
            "🇩🇪",
            "\n",
            "日",
            "x",
            "👨\u{200d}👩",
            "aaaa",
            "",
        ];
        (0..self.below(5)).map(|_| *self.pick(&parts)).collect()
    }

    pub fn key(&mut self) -> String {
        let keys = [
            "a",
            "b",
            "c",
            "d",
            "0",
            "7",
            "é",
            "",
            "toString",
            "__proto__",
            "constructor",
        ];
        (*self.pick(&keys)).to_owned()
    }

    pub fn value(&mut self, levels: usize) -> Json {
        match self.below(if levels == 0 { 5 } else { 9 }) {
            0 => Json::Null,
            1 => Json::Bool(self.one_in(2)),
            2 => Json::from(self.below(100) as f64),
            3 => Json::from(self.below(100) as f64 / 8.0),
            4 => Json::from(self.text()),
            5 | 6 => Json::array((0..self.below(5)).map(|_| self.value(levels - 1))),
            _ => Json::object((0..self.below(5)).map(|_| (self.key(), self.value(levels - 1)))),
        }
    }

    /// An order of so many elements: all mixed, or two exchanged.
    pub fn order(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        let exchanges = if self.one_in(2) { length } else { 1 };
        for _ in 0..exchanges.min(length) {
            let (one, other) = (self.below(length), self.below(length));
            order.swap(one, other);
        }
        order
    }
}
