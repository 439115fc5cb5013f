//! Reads shared test vectors: one JSON object a line.
#![allow(dead_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use tidehold_delta::Json;

/// Deeper than any vector.
const DEPTH: usize = 512;

/// What became of a file's cases.
#[derive(Default)]
pub struct Tally {
    pub run: usize,
    pub left_out: usize,
    pub missing: Vec<String>,
    pub failures: Vec<String>,
}

/// What became of one case.
pub enum Outcome {
    Agrees,
    /// Left out by the documented list, with the reason.
    LeftOut,
    Differs(String),
}

impl Tally {
    /// Runs every line of `models/<name>.jsonl`.
    pub fn file(&mut self, name: &str, check: impl Fn(&Json) -> Outcome) {
        let path = folder().join(format!("{name}.jsonl"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            println!("{name}: not here, skipped");
            self.missing.push(name.to_owned());
            return;
        };
        let (mut run, mut left_out) = (0, 0);
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let outcome = match Json::parse(line, DEPTH) {
                Ok(case) => catch_unwind(AssertUnwindSafe(|| check(&case)))
                    .unwrap_or_else(|_| Outcome::Differs("panicked, see above".to_owned())),
                // Rust text holds no lone surrogates: cases that need one cannot even be read.
                Err(tidehold_delta::ParseError::LoneSurrogate { .. }) => Outcome::LeftOut,
                Err(error) => Outcome::Differs(format!("unreadable: {error}")),
            };
            match outcome {
                Outcome::Agrees => run += 1,
                Outcome::LeftOut => left_out += 1,
                Outcome::Differs(how) => self.failures.push(format!("{name} line {}: {how}", index + 1)),
            }
        }
        println!("{name}: {run} run, {left_out} left out");
        self.run += run;
        self.left_out += left_out;
    }
}

/// `TIDEHOLD_VECTORS` or the repository's own copy, then `models`.
fn folder() -> PathBuf {
    let root = match std::env::var_os("TIDEHOLD_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors"),
    };
    root.join("models")
}

/// Agreement of two values, numbers compared as doubles.
pub fn same(actual: &Json, expected: &Json) -> Outcome {
    if actual == expected {
        return Outcome::Agrees;
    }
    // Shown from a little before the first difference, which is what a reader needs.
    let (actual, expected) = (actual.to_string(), expected.to_string());
    let common = actual
        .chars()
        .zip(expected.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let cut = |text: &str| {
        text.chars()
            .skip(common.saturating_sub(100))
            .take(400)
            .collect::<String>()
    };
    Outcome::Differs(format!("\n  got  …{}\n  want …{}", cut(&actual), cut(&expected)))
}
