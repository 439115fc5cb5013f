//! What one small change costs in documents of several sizes: `cargo run --release -p tidehold-delta --example cost`.
//!
//! The columns of one line must stay close to each other, except where a string or a whole order is copied.

// A clock is what this is about.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use tidehold_delta::{Change, Draft, Json, json};

fn main() {
    let rows = |count: usize| {
        let row = |id: usize| json!({ "id": (id as f64), "name": (format!("row {id}")), "done": false, "tags": ["a", "b"], "note": "some words of a row" });
        json!({ "counter": 0, "rows": (Json::array((0..count).map(row))) })
    };
    let documents = [8, 513, 8137, 65_536].map(rows);
    line("rows", "8 / 513 / 8,137 / 65,536 rows");
    rows_line(&documents, "root counter", |d, round| d.at("counter").set(round));
    rows_line(&documents, "field of the last row", |d, round| {
        last(d).at("id").set(round)
    });
    rows_line(&documents, "field of the middle row, held", |d, round| {
        let rows = d.at("rows");
        let middle = rows.at(rows.len()? / 2).hold()?;
        rows.push(0)?;
        middle.at("id").set(round)
    });
    rows_line(&documents, "append to a text", |d, _| {
        last(d).at("name").append("x")
    });
    rows_line(&documents, "shift and push", |d, _| {
        d.at("rows").at(0).remove()?;
        d.at("rows").push(json!({ "id": 1 }))
    });
    rows_line(&documents, "remove in the middle", |d, _| {
        d.at("rows").at(d.at("rows").len()? / 2).remove()
    });
    rows_line(&documents, "reverse", |d, _| d.at("rows").reverse());

    line("nested", "depth 1 / 2 / 3 of 64-wide objects");
    let documents = [1, 2, 3].map(nested);
    rows_line(&documents, "deep leaf", |d, round| {
        let mut leaf = d.clone();
        while leaf.at("k63").get()?.is_some() {
            leaf = leaf.at("k63");
        }
        leaf.set(round)
    });

    line("string", "1 KiB / 64 KiB / 1 MiB");
    let documents = [10, 16, 20].map(|bits| json!({ "s": ("0123456789abcdef".repeat(1 << (bits - 4))) }));
    rows_line(&documents, "append 32", |d, _| d.at("s").append(&"x".repeat(32)));
    rows_line(&documents, "1,000 appends of 1", |d, _| {
        (0..1000).try_for_each(|_| d.at("s").append("x"))
    });
}

fn last(draft: &Draft) -> Draft {
    let rows = draft.at("rows");
    rows.at(rows.len().map_or(0, |length| length - 1))
}

fn nested(levels: usize) -> Json {
    match levels {
        0 => json!(0),
        _ => Json::object((0..64).map(|key| (format!("k{key}"), nested(levels - 1)))),
    }
}

fn line(what: &str, sizes: &str) {
    println!("\n{what}: {sizes}");
}

fn rows_line(
    documents: &[Json],
    what: &str,
    edit: impl Fn(&Draft, f64) -> Result<(), tidehold_delta::DraftError>,
) {
    print!("{what:>32}");
    for document in documents {
        let mut spent = Duration::ZERO;
        let mut rounds = 0_u32;
        while spent < Duration::from_millis(200) && rounds < 100_000 {
            rounds += 1;
            let start = Instant::now();
            let change = Change::begin(document.clone());
            edit(&change.draft(), f64::from(rounds)).expect("the edit fits");
            drop(black_box(change.prepare()));
            spent += start.elapsed();
        }
        print!("{:>14.2} µs", spent.as_secs_f64() * 1e6 / f64::from(rounds));
    }
    println!();
}
