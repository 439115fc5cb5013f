//! See the check.
#![no_main]

#[path = "../checks/delta_apply.rs"]
mod delta_apply;

libfuzzer_sys::fuzz_target!(|input: &[u8]| delta_apply::check(input));
