//! The shared vectors, made by running pi-ai: every line of every file that covers something built here.
//!
//! Left out, because the cases ask for something this crate does not have:
//! - cases with lone surrogates, which Rust text cannot hold (whole `*.surrogates.jsonl` files among them);
//! - token counts that are negative or fractional: a usage holds whole tokens;
//! - the wording of syntax errors, which is V8's (what surrounds the wording is compared);
//! - messages without content (`nullContent` of `transformMessages`), which cannot be read;
//! - `StreamingJsonParser.lag`: snapshots here are never late;
//! - `parseStreamingJson`: a one-shot parser that no provider uses.

#[path = "vectors/pure.rs"]
mod pure;
#[path = "support/vectors.rs"]
mod reader;
#[path = "support/replay.rs"]
mod replay;
#[path = "vectors/request.rs"]
mod request;
#[path = "vectors/stream.rs"]
mod stream;
mod support;
#[path = "vectors/tool_arguments.rs"]
mod tool_arguments;

use reader::Tally;

fn main() {
    let mut tally = Tally::default();
    pure::run(&mut tally);
    tool_arguments::run(&mut tally);
    stream::run(&mut tally);
    request::run(&mut tally);
    for failure in &tally.failures {
        println!("DIFFERS {failure}");
    }
    let Tally {
        run,
        left_out,
        failures,
        ..
    } = tally;
    println!(
        "{run} cases run, {left_out} left out by the documented list, {} differ",
        failures.len()
    );
    if !failures.is_empty() {
        std::process::exit(1);
    }
}
