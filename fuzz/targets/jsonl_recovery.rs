//! See the check.
#![no_main]

#[path = "../checks/jsonl_recovery.rs"]
mod jsonl_recovery;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    jsonl_recovery::check(input);
});
