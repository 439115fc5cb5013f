//! Replays the corpus of the fuzz target `jsonl_recovery` (scripts/fuzz), on every compiler, and damages some sessions more.

// Helpers are test code too; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/jsonl_recovery.rs"]
mod jsonl_recovery;

use tidehold_storage::conformance::random::Random;

#[test]
fn every_input_of_the_corpus_keeps_the_promises() {
    let inputs = corpus::replay("jsonl_recovery", jsonl_recovery::check);
    println!("jsonl_recovery: {inputs} inputs");
}

#[test]
fn random_damage_keeps_the_promises() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let length = 1 + 4 * (1 + random.below(3));
        let input: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        jsonl_recovery::check(&input);
    }
}
