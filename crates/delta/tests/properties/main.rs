//! Random edits: the draft against a naive model, and its batch against the applier and the wire.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod model;
mod program;
mod random;

use program::Program;
use random::Random;
use tidehold_delta::{
    Change, Json, Op, Prepared, WireDecoder, WireEncoder, apply, apply_batch, encode_batch, write_batch,
};

/// What holds for every prepared change.
fn check_prepared(prepared: &Prepared, what: &str) {
    let Prepared { base, value, ops } = prepared;
    let batch = encode_batch(ops);
    let what = format!("{what}: {base} by {batch}");
    let mut text = String::new();
    write_batch(&mut text, ops);
    assert_eq!(text, batch.to_string(), "{what}");
    assert_eq!(apply(Some(base), ops).as_ref(), Ok(value), "{what}");
    let reread = Json::parse(&text, 512).unwrap();
    assert_eq!(apply_batch(Some(base), &reread).as_ref(), Ok(value), "{what}");
    let (mut encoder, mut decoder) = (WireEncoder::new(), WireDecoder::new());
    // Again and again, so that paths get their numbers.
    for _ in 0..3 {
        let wire = Json::parse(&encoder.encode(ops).to_string(), 512).unwrap();
        let decoded = decoder.decode(&wire).unwrap();
        assert_eq!(apply(Some(base), &decoded).as_ref(), Ok(value), "{what}");
    }
    if ops.is_empty() {
        assert!(value.same(base), "{what}");
    }
    let replacements = ops.iter().filter(|op| matches!(op, Op::Replace(_))).count();
    assert!(replacements == 0 || ops.len() == 1, "{what}");
}

#[test]
fn batches_reproduce_what_drafts_did() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let base = match random.below(3) {
            0 => Json::array((0..random.below(8)).map(|_| random.value(2))),
            _ => Json::object((0..6).map(|_| (random.key(), random.value(3)))),
        };
        let what = format!("seed {seed}");
        let printed = base.to_string();
        let change = Change::begin(base.clone());
        let steps = random.below(30);
        let mut program = Program::new(random, &base, &change);
        for _ in 0..steps {
            program.step();
            if program.random.one_in(4) {
                program.check(&what);
            }
        }
        program.check(&what);
        let dirty = change.is_dirty();
        let prepared = change.prepare().unwrap();
        assert_eq!(prepared.value, program.value(), "{what}: value");
        assert_eq!(base.to_string(), printed, "{what}: base");
        assert!(prepared.base.same(&base), "{what}: base");
        assert!(dirty || prepared.ops.is_empty(), "{what}: clean");
        check_prepared(&prepared, &what);
    }
}

/// A batch carries what the change placed, and nothing that was there before: scattered removals and moves retain.
#[test]
fn batches_carry_nothing_that_was_kept() {
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let row = |random: &mut Random| {
            let cells = (0..random.below(4)).map(|_| Json::from("kept"));
            Json::object([("cells", Json::array(cells)), ("name", Json::from("kept"))])
        };
        let base = Json::array((0..random.below(20)).map(|_| row(&mut random)));
        let change = Change::begin(base);
        let draft = change.draft();
        for _ in 0..random.below(20) {
            let length = draft.len().unwrap();
            let index = random.below(length + 1);
            match random.below(8) {
                0 | 1 => draft.splice(index, random.below(4), vec![]).unwrap(),
                2 => draft
                    .splice(index, random.below(2), vec![Json::array(["new".into()])])
                    .unwrap(),
                3 => draft.reorder(&random.order(length)).unwrap(),
                4 => draft.set_len(index).unwrap(),
                5 if index < length => drop(draft.at(index).at("name").append("new")),
                6 if index < length => drop(draft.at(index).at("cells").splice(0, 1, vec!["new".into()])),
                7 if index < length => drop(draft.at(index).at("cells").reverse()),
                _ => {}
            }
        }
        let prepared = change.prepare().unwrap();
        let batch = encode_batch(&prepared.ops).to_string();
        assert!(!batch.contains("kept"), "seed {seed}: {batch}");
        check_prepared(&prepared, &format!("seed {seed}"));
    }
}

/// Of an assigned array only the order is sent when nothing else differs.
#[test]
fn an_assigned_permutation_is_one_move() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let items: Vec<Json> = (0..random.below(30)).map(|_| random.value(2)).collect();
        let order = random.order(items.len());
        let base = Json::array(items.iter().cloned());
        let text = Json::array(order.iter().map(|from| items[*from].clone())).to_string();
        let change = Change::begin(base);
        change.draft().assign(Json::parse(&text, 512).unwrap()).unwrap();
        let prepared = change.prepare().unwrap();
        assert_eq!(prepared.value.to_string().len(), text.len());
        match prepared.ops.as_slice() {
            [] => assert_eq!(prepared.base, Json::parse(&text, 512).unwrap()),
            [Op::Move(..)] => {}
            other => panic!("seed {seed}: {}", encode_batch(other)),
        }
        check_prepared(&prepared, &format!("seed {seed}"));
    }
}

/// The rule for strings on its own: long, repetitive and multi-unit texts.
#[test]
fn string_edits_reproduce_the_string() {
    let mut random = Random::new(0);
    for round in 0..4000 {
        let unit = random.text();
        let before = unit.repeat(random.below(40)) + &random.text();
        let from = before
            .char_indices()
            .nth(random.below(30))
            .map_or(0, |(at, _)| at);
        let after = match random.below(4) {
            0 => random.text(),
            1 => before.clone() + &random.text(),
            _ => before[from..].to_owned() + &random.text(),
        };
        let base = Json::object([("s", Json::from(before.as_str()))]);
        let change = Change::begin(base.clone());
        change.draft().at("s").set(after.as_str()).unwrap();
        let prepared = change.prepare().unwrap();
        assert_eq!(prepared.value.get("s"), Some(&Json::from(after)));
        assert!(prepared.ops.len() <= 2);
        check_prepared(&prepared, &format!("round {round}"));
    }
}
