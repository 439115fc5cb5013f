//! What stories contained.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

/// Named counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally(RefCell<BTreeMap<&'static str, u64>>);

impl Tally {
    pub fn count(&self, what: &'static str) {
        self.add(what, 1);
    }

    pub fn add(&self, what: &'static str, count: u64) {
        *self.0.borrow_mut().entry(what).or_default() += count;
    }

    pub fn get(&self, what: &str) -> u64 {
        self.0.borrow().get(what).copied().unwrap_or(0)
    }

    pub fn merge(&self, other: &Self) {
        for (what, count) in other.0.borrow().iter() {
            self.add(what, *count);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (what, count)) in self.0.borrow().iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{count} {what}")?;
        }
        Ok(())
    }
}
