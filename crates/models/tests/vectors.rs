//! The shared vectors, made by running pi-ai: every line of every file that covers something built here.
//!
//! Left out, because the cases ask for something this crate does not have:
//! - cases with lone surrogates, which Rust text cannot hold (whole `*.surrogates.jsonl` files among them);
//! - token counts that are negative or fractional: a usage holds whole tokens;
//! - the wording of syntax errors, which is V8's (what surrounds the wording is compared);
//! - `StreamingJsonParser.lag`: snapshots here are never late.

#[path = "vectors/pure.rs"]
mod pure;
#[path = "support/vectors.rs"]
mod reader;
#[path = "vectors/stream.rs"]
mod stream;
#[path = "vectors/tool_arguments.rs"]
mod tool_arguments;
mod support;

use reader::Tally;

#[test]
fn vectors() {
    let mut tally = Tally::default();
    pure::run(&mut tally);
    tool_arguments::run(&mut tally);
    stream::run(&mut tally);
    for failure in &tally.failures {
        println!("DIFFERS {failure}");
    }
    println!("{} cases run, {} left out by the documented list, {} differ", tally.run, tally.left_out, tally.failures.len());
    assert!(tally.failures.is_empty(), "{} cases differ", tally.failures.len());
}
