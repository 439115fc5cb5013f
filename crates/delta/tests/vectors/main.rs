//! Runs the shared vectors: `apply-vectors.jsonl` and `vectors.jsonl`, each with its lone-surrogate file.
//!
//! `TIDEHOLD_VECTORS` names another folder of the same layout (`delta/…` inside). There a missing file is
//! skipped with a line; of the repository's own none may be missing. A file that is present is run whole.
//! The last line counts.
//!
//! Left out, by design:
//! - lone surrogates: Rust text cannot hold them. Each such line must be refused as
//!   `ParseError::LoneSurrogate`, in whichever file it stands.
//! - mutations that hold on to an element while it moves (`hold`, `holdRemoved`, `$handle`, `at`): a
//!   [`tidehold_delta::Draft`] names a path, not an element.
//! - mutations with values no JSON has (`$js`), vectors whose callback fails, writes past the end of an
//!   array that are filled up later, and sorting by the string form of containers: the draft has no
//!   such calls.
//!
//! For the last two kinds only the mutations are left out; their operations are still applied.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod mutations;

use std::path::PathBuf;

use tidehold_delta::{Json, Op, ParseError, apply, apply_batch, decode_batch, encode_batch};

#[derive(Default)]
struct Tally {
    run: usize,
    left_out: usize,
    failures: Vec<String>,
}

fn main() {
    let mut tally = Tally::default();
    each_line("apply-vectors.jsonl", &mut tally, apply_case);
    each_line("apply-vectors-lone-surrogate.jsonl", &mut tally, apply_case);
    each_line("vectors.jsonl", &mut tally, change_case);
    each_line("vectors-lone-surrogate.jsonl", &mut tally, change_case);
    if tally.run == 0 && elsewhere().is_none() {
        tally.failures.push("not a single case was run".to_owned());
    }
    for failure in &tally.failures {
        println!("FAILED {}", failure.chars().take(600).collect::<String>());
    }
    let Tally {
        run,
        left_out,
        failures,
    } = tally;
    println!(
        "delta vectors: {run} cases run, {} failed, {left_out} left out",
        failures.len()
    );
    if !failures.is_empty() {
        std::process::exit(1);
    }
}

fn elsewhere() -> Option<PathBuf> {
    std::env::var_os("TIDEHOLD_VECTORS").map(PathBuf::from)
}

fn folder() -> PathBuf {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");
    elsewhere().unwrap_or_else(|| own.into()).join("delta")
}

fn each_line(file: &str, tally: &mut Tally, case: fn(&Json) -> Outcome) {
    let path = folder().join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        let missing = format!("{file}: not in {}", folder().display());
        if elsewhere().is_some() {
            println!("{missing}, skipped");
        } else {
            tally.failures.push(missing);
        }
        return;
    };
    let (before_run, before_left) = (tally.run, tally.left_out);
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let vector = match Json::parse(line, tidehold_delta::MAX_DEPTH) {
            Ok(vector) => vector,
            Err(ParseError::LoneSurrogate { .. }) => {
                tally.left_out += 1;
                continue;
            }
            Err(error) => {
                tally.failures.push(format!("{file}:{}: {error}", number + 1));
                continue;
            }
        };
        match case(&vector) {
            Outcome::Passed => tally.run += 1,
            Outcome::LeftOut => tally.left_out += 1,
            Outcome::Failed(why) => {
                tally.run += 1;
                let name = vector.get("name").and_then(Json::as_str).unwrap_or_default();
                tally
                    .failures
                    .push(format!("{file}:{} {name}: {why}", number + 1));
            }
        }
    }
    println!(
        "{file}: {} run, {} left out",
        tally.run - before_run,
        tally.left_out - before_left
    );
}

enum Outcome {
    Passed,
    LeftOut,
    Failed(String),
}

fn check(result: Result<(), String>) -> Outcome {
    result.map_or_else(Outcome::Failed, |()| Outcome::Passed)
}

fn expect_equal(what: &str, got: &Json, wanted: &Json) -> Result<(), String> {
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{what}: got {got}, wanted {wanted}"))
    }
}

/// `{name, base, ops, result}`, or an error class; `immutableErrorType` may be met instead of it.
fn apply_case(vector: &Json) -> Outcome {
    check((|| {
        let no_base = vector.get("noBase").and_then(Json::as_bool) == Some(true);
        let base = if no_base { None } else { vector.get("base") };
        let kept = base.map(Json::to_string);
        let batch = vector.get("ops").ok_or("no ops")?;
        let outcome = apply_batch(base, batch);
        if base.map(Json::to_string) != kept {
            return Err("the base was changed".to_owned());
        }
        if vector.get("error").is_some() {
            let error = match outcome {
                Ok(value) => return Err(format!("no error, but {value}")),
                Err(error) => error,
            };
            let member = |key: &str| vector.get(key).and_then(Json::as_str);
            let classes = [member("errorType"), member("immutableErrorType")];
            if !classes.contains(&Some(error.class())) {
                return Err(format!("{}: {error}, wanted {classes:?}", error.class()));
            }
            // The class is the contract; a differing message is only worth a line.
            if member("message").is_some_and(|message| message != error.to_string()) {
                println!("note: message {error}, reference {:?}", member("message"));
            }
            return Ok(());
        }
        let value = outcome.map_err(|error| error.to_string())?;
        expect_equal("result", &value, vector.get("result").ok_or("no result")?)?;
        round_trip(base, batch, &value)
    })())
}

/// The decoded batch encodes to the same tuples and has the same effect.
fn round_trip(base: Option<&Json>, batch: &Json, value: &Json) -> Result<(), String> {
    let ops = decode_batch(batch).map_err(|error| error.to_string())?;
    let encoded = encode_batch(&ops);
    // Counts that only clamp saturate, and huge indices become the member they name.
    if !has_unsafe_integer(batch) {
        expect_equal("encoded", &encoded, batch)?;
    }
    if decode_batch(&encoded).as_ref() != Ok(&ops) {
        return Err(format!("{encoded} decodes to something else"));
    }
    let again = apply(base, &ops).map_err(|error| error.to_string())?;
    expect_equal("decoded and applied", &again, value)
}

fn has_unsafe_integer(value: &Json) -> bool {
    match value {
        Json::Number(number) => number.abs() > tidehold_delta::MAX_SAFE_INTEGER as f64,
        Json::Array(array) => array.iter().any(has_unsafe_integer),
        Json::Object(object) => object.values().any(has_unsafe_integer),
        _ => false,
    }
}

/// `{name, base, mutations, ops, result}`: the reference's operations applied to the base, then the
/// mutations carried out on a draft.
fn change_case(vector: &Json) -> Outcome {
    let base = vector.get("base").unwrap_or(&Json::Null);
    if let (Some(batch), Some(result)) = (vector.get("ops"), vector.get("result")) {
        let applied = apply_batch(Some(base), batch)
            .map_err(|error| error.to_string())
            .and_then(|value| {
                expect_equal("reference operations", &value, result)?;
                round_trip(Some(base), batch, &value)
            });
        if let Err(why) = applied {
            return Outcome::Failed(why);
        }
    }
    let (Some(steps), Some(result)) = (vector.get("mutations"), vector.get("result")) else {
        return Outcome::LeftOut;
    };
    match mutations::run(base, steps) {
        Err(mutations::Stop::Inexpressible) => Outcome::LeftOut,
        Err(mutations::Stop::Refused(error)) => Outcome::Failed(format!("draft: {error}")),
        Ok(prepared) => check((|| {
            expect_equal("draft", &prepared.value, result)?;
            let applied = apply(Some(base), &prepared.ops).map_err(|error| error.to_string())?;
            expect_equal("own operations", &applied, result)?;
            // The rule for one string leaves no choice, so there the tuples must match too. Exceptions: a
            // member removed and added again (we reproduce its new position), and the reference's
            // preference for a replacement by cost, which the spec does not have.
            let name = vector.get("name").and_then(Json::as_str).unwrap_or_default();
            let deletes = steps.as_array().is_some_and(|steps| {
                steps
                    .iter()
                    .any(|step| step.get("op").and_then(Json::as_str) == Some("delete"))
            });
            let wanted = vector.get("ops").filter(|ops| {
                let verb = ops.index(0).and_then(|op| op.index(0)).and_then(Json::as_str);
                name.contains("string/") && !deletes && verb != Some("r")
            });
            match wanted {
                Some(wanted) => expect_equal("tuples", &encode_batch(&prepared.ops), wanted),
                None => no_worse(&prepared.ops),
            }
        })()),
    }
}

/// A batch is a replacement alone, or holds none.
fn no_worse(ops: &[Op]) -> Result<(), String> {
    if ops.len() > 1 && ops.iter().any(|op| matches!(op, Op::Replace(_))) {
        return Err("a replacement among other operations".to_owned());
    }
    Ok(())
}
