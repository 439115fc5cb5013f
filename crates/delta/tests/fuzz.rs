//! Replays the corpus of the fuzz target `delta_apply` (scripts/fuzz), on every compiler.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/delta_apply.rs"]
mod delta_apply;

#[test]
fn the_corpus_of_delta_apply_holds() {
    assert!(corpus::replay("delta_apply", delta_apply::check) >= 20);
}

/// What the corpus cannot have: inputs that were made up just now.
#[test]
fn random_recipes_hold() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for length in (0..3000).map(|round| round % 300) {
        let byte = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        let input: Vec<u8> = (0..length).map(byte).collect();
        delta_apply::check(&input);
    }
}
