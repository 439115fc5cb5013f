//! Replays the corpus of the fuzz target `jsonl_recovery` (scripts/fuzz), on every compiler, and damages some sessions more.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/jsonl_recovery.rs"]
mod jsonl_recovery;

use jsonl_recovery::{Outcome, check};
use std::cell::RefCell;
use tidehold_storage::conformance::random::Random;

/// Counts outcomes: a replay in which nothing opens, or everything, would show little.
#[derive(Default)]
struct Outcomes(RefCell<Vec<Outcome>>);

impl Outcomes {
    fn check(&self, input: &[u8]) {
        let outcome = check(input);
        self.0.borrow_mut().push(outcome);
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.0.borrow().iter().filter(|one| **one == outcome).count()
    }
}

#[test]
fn every_input_of_the_corpus_keeps_the_promises() {
    let outcomes = Outcomes::default();
    corpus::replay("jsonl_recovery", |input| outcomes.check(input));
    assert!(outcomes.count(Outcome::Opened) >= 10);
    assert!(outcomes.count(Outcome::Refused) >= 3);
}

#[test]
fn random_damage_keeps_the_promises() {
    let outcomes = Outcomes::default();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let length = 1 + 4 * (1 + random.below(3));
        let input: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        outcomes.check(&input);
    }
    assert!(outcomes.count(Outcome::Opened) > 200);
    assert!(outcomes.count(Outcome::Refused) > 200);
}
