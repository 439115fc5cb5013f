//! Runs the shared vectors: `apply-vectors.jsonl` and `vectors.jsonl`, each with its lone-surrogate file,
//! `wire-vectors.jsonl` and `replica-vectors.jsonl`.
//!
//! `TIDEHOLD_VECTORS` names another folder of the same layout (`delta/…` inside). There a missing file is
//! skipped with a line; of the repository's own none may be missing. A file that is present is run whole.
//! The last line counts.
//!
//! Left out, by design; the last line counts them by reason:
//! - lone surrogates: Rust text cannot hold them. Each such line must be refused as
//!   `ParseError::LoneSurrogate`, in whichever file it stands. Mutations that split a pair have no call either.
//! - values no JSON has: `undefined`, functions, symbols and the like have no Rust value. Numbers that are not finite have
//!   one, and are run.
//! - deleted array elements: JavaScript's `delete` would leave a hole and is refused; `Draft::remove` closes the gap.
//! - lengths no usize holds: negative and fractional ones, and what is no number.
//! - arrays with holes for a while: a write beyond the end is refused at once, as the spec's tracker does, while the
//!   reference looks for holes in the end. What fails there must fail here; only a vector that fills them up is left out.
//! - holes by a longer length: they are `null`s here, as the spec's tracker has it, so what the reference refuses in the end
//!   goes through.
//!
//! Of those, only the mutations are left out; the operations of the vector are still applied.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod javascript;
mod mutations;
mod streams;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mutations::End;
use tidehold_delta::{Json, Op, ParseError, Prepared, apply, apply_batch, decode_batch, encode_batch};

#[derive(Default)]
struct Tally {
    run: usize,
    left_out: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

fn main() {
    let mut tally = Tally::default();
    each_line("apply-vectors.jsonl", &mut tally, apply_case);
    each_line("apply-vectors-lone-surrogate.jsonl", &mut tally, apply_case);
    each_line("vectors.jsonl", &mut tally, change_case);
    each_line("vectors-lone-surrogate.jsonl", &mut tally, change_case);
    each_line("wire-vectors.jsonl", &mut tally, streams::wire_case);
    each_line("replica-vectors.jsonl", &mut tally, streams::replica_case);
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
    let reasons: Vec<String> = left_out
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    println!(
        "delta vectors: {run} cases run, {} failed, {} left out ({})",
        failures.len(),
        left_out.values().sum::<usize>(),
        reasons.join(", ")
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
    let (before_run, before_left) = (tally.run, tally.left_out.values().sum::<usize>());
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let vector = match Json::parse(line, tidehold_delta::MAX_DEPTH) {
            Ok(vector) => vector,
            Err(ParseError::LoneSurrogate { .. }) => {
                *tally.left_out.entry("lone surrogates").or_default() += 1;
                continue;
            }
            Err(error) => {
                tally.failures.push(format!("{file}:{}: {error}", number + 1));
                continue;
            }
        };
        match case(&vector) {
            Outcome::Passed => tally.run += 1,
            Outcome::LeftOut(reason) => *tally.left_out.entry(reason).or_default() += 1,
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
        tally.left_out.values().sum::<usize>() - before_left
    );
}

enum Outcome {
    Passed,
    LeftOut(&'static str),
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

/// `{name, base, ops, result}`, or an error class.
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
            return expect_class(vector, error.class(), &error.to_string());
        }
        let value = outcome.map_err(|error| error.to_string())?;
        expect_equal("result", &value, vector.get("result").ok_or("no result")?)?;
        round_trip(base, batch, &value)
    })())
}

/// The error of `vector` has this class; `immutableErrorType` may be met instead of `errorType`.
fn expect_class(vector: &Json, class: &str, message: &str) -> Result<(), String> {
    let member = |key: &str| vector.get(key).and_then(Json::as_str);
    let classes = [member("errorType"), member("immutableErrorType")];
    if !classes.contains(&Some(class)) {
        return Err(format!("{class}: {message}, wanted {classes:?}"));
    }
    // The class is the contract; a differing message is only worth a line.
    if member("message").is_some_and(|wanted| wanted != message) {
        println!("note: message {message}, reference {:?}", member("message"));
    }
    Ok(())
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
    streams::over_the_wire(&ops)?;
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
    let Some(steps) = vector.get("mutations") else {
        return Outcome::Failed("no mutations".to_owned());
    };
    let kept = base.to_string();
    let end = mutations::run(base, steps);
    if base.to_string() != kept {
        return Outcome::Failed("the base was changed".to_owned());
    }
    match (end, vector.get("result")) {
        (End::Broken(why), _) => Outcome::Failed(why),
        (End::LeftOut(reason), _) => Outcome::LeftOut(reason),
        (End::Failed(_), None) if vector.get("error").is_some() => Outcome::Passed,
        (End::Failed(why), Some(_)) if writes_beyond_the_end(&why) => {
            Outcome::LeftOut("arrays with holes for a while")
        }
        (End::Failed(why), _) => Outcome::Failed(why),
        (End::Prepared { prepared, grew: true }, None) => match reproduces(base, &prepared) {
            Ok(()) => Outcome::LeftOut("holes by a longer length"),
            Err(why) => Outcome::Failed(why),
        },
        (End::Prepared { prepared, .. }, None) => {
            Outcome::Failed(format!("no error, but {}", prepared.value))
        }
        (End::Prepared { prepared, .. }, Some(result)) => check((|| {
            expect_equal("draft", &prepared.value, result)?;
            reproduces(base, &prepared)?;
            expect_tuples(vector, steps, &prepared.ops)
        })()),
    }
}

fn writes_beyond_the_end(refusal: &str) -> bool {
    let index = refusal.strip_prefix("unsafe path segment: ");
    index.is_some_and(|index| index.parse::<u64>().is_ok())
}

/// The operations make the value of the base, and say nothing when it is the base.
fn reproduces(base: &Json, prepared: &Prepared) -> Result<(), String> {
    let applied = apply(Some(base), &prepared.ops).map_err(|error| error.to_string())?;
    expect_equal("own operations", &applied, &prepared.value)?;
    if prepared.ops.is_empty() && !prepared.value.same(base) {
        return Err("no operations, but another value".to_owned());
    }
    if prepared.ops.len() > 1 && prepared.ops.iter().any(|op| matches!(op, Op::Replace(_))) {
        return Err("a replacement among other operations".to_owned());
    }
    round_trip(Some(base), &encode_batch(&prepared.ops), &prepared.value)
}

/// Where a rule leaves no choice, the tuples must be the reference's: a move is `m`, removals carry nothing, and one string
/// becomes another by the rule for strings.
fn expect_tuples(vector: &Json, steps: &Json, ops: &[Op]) -> Result<(), String> {
    let verbs: Vec<&str> = steps
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| step.get("op").and_then(Json::as_str).unwrap_or_default())
        .collect();
    let wanted = vector.get("ops").unwrap_or(&Json::Null);
    let first = wanted.index(0).and_then(|op| op.index(0)).and_then(Json::as_str);
    let moves = matches!(verbs.as_slice(), ["sort" | "reverse"]) && first == Some("m");
    if moves && !matches!(ops, [Op::Move(..)]) {
        return Err(format!("{} is no move", encode_batch(ops)));
    }
    let removal = |verb: &&str| matches!(*verb, "delete" | "deleteKeys" | "pop" | "shift");
    if verbs.iter().all(removal) && first != Some("r") {
        for op in ops {
            match op {
                Op::Delete(_) => {}
                Op::Splice { items, .. } if items.is_empty() => {}
                // A reserved key is folded into what is around it.
                _ if vector.to_string().contains("constructor") || vector.to_string().contains("proto") => {}
                _ => return Err(format!("{} carries values", op.encode())),
            }
        }
    }
    // Exceptions: a member removed and added again (we reproduce its new position), and the reference's preference for a
    // replacement by cost, which the spec does not have.
    let name = vector.get("name").and_then(Json::as_str).unwrap_or_default();
    if name.contains("string/") && !verbs.contains(&"delete") && first != Some("r") {
        expect_equal("tuples", &encode_batch(ops), wanted)?;
    }
    Ok(())
}
