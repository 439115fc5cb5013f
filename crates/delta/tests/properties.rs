//! Random edits: the draft against a naive model, and its batch against the applier.
//!
//! Seeded by a generator of its own, so every run is the same; a failure names its seed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use serde_json::Value;
use tidehold_delta::{Change, Draft, Json, Op, Segment, apply, apply_batch, encode_batch, write_batch};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn text(&mut self) -> String {
        let parts = [
            "a",
            "b",
            "ab",
            "é",
            "😀",
            "🇩🇪",
            "\n",
            "日",
            "x",
            "👨\u{200d}👩",
            "aaaa",
            "",
        ];
        (0..self.below(5)).map(|_| self.pick(&parts)).collect()
    }

    fn key(&mut self) -> String {
        self.pick(&[
            "a",
            "b",
            "c",
            "d",
            "0",
            "7",
            "é",
            "",
            "toString",
            "__proto__",
            "constructor",
        ])
        .to_owned()
    }

    fn value(&mut self, levels: usize) -> Value {
        match self.below(if levels == 0 { 5 } else { 9 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => Value::from(self.below(100)),
            3 => Value::from(self.below(100) as f64 / 8.0),
            4 => Value::from(self.text()),
            5 | 6 => (0..self.below(5)).map(|_| self.value(levels - 1)).collect(),
            _ => Value::Object(
                (0..self.below(5))
                    .map(|_| (self.key(), self.value(levels - 1)))
                    .collect(),
            ),
        }
    }
}

fn json(value: &Value) -> Json {
    Json::parse(&value.to_string(), 512).unwrap()
}

/// A path to some container or string of the model.
fn place(random: &mut Random, model: &Value) -> Vec<Segment> {
    let mut path = Vec::new();
    let mut node = model;
    while random.below(4) != 0 {
        let (segment, child) = match node {
            Value::Array(items) if !items.is_empty() => {
                let index = random.below(items.len());
                (Segment::from(index), &items[index])
            }
            Value::Object(members) if !members.is_empty() => {
                let (key, child) = members.iter().nth(random.below(members.len())).unwrap();
                (Segment::from(key.as_str()), child)
            }
            _ => break,
        };
        path.push(segment);
        node = child;
    }
    path
}

fn find<'a>(model: &'a mut Value, path: &[Segment]) -> &'a mut Value {
    path.iter().fold(model, |node, segment| match segment {
        Segment::Key(key) => node.get_mut(&**key).unwrap(),
        Segment::Index(index) => node.get_mut(*index as usize).unwrap(),
    })
}

/// One random edit, carried out on both sides.
fn edit(random: &mut Random, root: &Draft, model: &mut Value) {
    let path = place(random, model);
    let draft = path
        .iter()
        .cloned()
        .fold(root.clone(), |draft, segment| draft.at(segment));
    if random.below(12) == 0 {
        // Assign a variation of what is there: differences in a few places.
        let node = find(model, &path);
        for _ in 0..random.below(4) {
            vary(random, node);
        }
        return draft.assign(json(node)).unwrap();
    }
    match find(model, &path) {
        Value::Object(members) => {
            let key = random.key();
            if random.below(3) == 0 {
                members.remove(&key);
                draft.at(key).remove().unwrap();
            } else {
                let value = random.value(2);
                draft.at(key.as_str()).set(json(&value)).unwrap();
                members.insert(key, value);
            }
        }
        Value::Array(items) => {
            let index = random.below(items.len() + 1);
            match random.below(5) {
                0 if index < items.len() => {
                    items.remove(index);
                    draft.at(index).remove().unwrap();
                }
                1 => {
                    let value = random.value(2);
                    draft.at(index).set(json(&value)).unwrap();
                    if index < items.len() {
                        items[index] = value
                    } else {
                        items.push(value)
                    }
                }
                2 => {
                    let value = random.value(2);
                    draft.push(json(&value)).unwrap();
                    items.push(value);
                }
                _ => {
                    let remove = random.below(4);
                    let added: Vec<Value> = (0..random.below(4)).map(|_| random.value(1)).collect();
                    draft
                        .splice(index, remove, added.iter().map(json).collect())
                        .unwrap();
                    let end = (index + remove).min(items.len());
                    items.splice(index..end, added);
                }
            }
        }
        Value::String(text) => {
            let more = random.text();
            if random.below(2) == 0 {
                text.push_str(&more);
                draft.append(&more).unwrap();
            } else {
                let from = text
                    .char_indices()
                    .nth(random.below(4))
                    .map_or(text.len(), |(at, _)| at);
                *text = [&text[from..], &more].concat();
                draft.set(text.as_str()).unwrap();
            }
        }
        scalar => {
            *scalar = random.value(2);
            draft.set(json(scalar)).unwrap();
        }
    }
}

fn vary(random: &mut Random, node: &mut Value) {
    match node {
        Value::Object(members) if random.below(3) == 0 => {
            members.insert(random.key(), random.value(1));
        }
        Value::Object(members) if !members.is_empty() => {
            let key = members.keys().nth(random.below(members.len())).unwrap().clone();
            if random.below(4) == 0 {
                members.remove(&key);
            } else {
                vary(random, &mut members[&key]);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = random.below(items.len());
            match random.below(4) {
                0 => drop(items.remove(index)),
                1 => items.insert(index, random.value(1)),
                _ => vary(random, &mut items[index]),
            }
        }
        Value::String(text) => text.push('+'),
        other => *other = random.value(1),
    }
}

#[test]
fn batches_reproduce_what_drafts_did() {
    for seed in 1..=6000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut model = match random.below(3) {
            0 => Value::Array((0..random.below(8)).map(|_| random.value(2)).collect()),
            _ => Value::Object((0..6).map(|_| (random.key(), random.value(3))).collect()),
        };
        let base = json(&model);
        let printed = base.to_string();
        let change = Change::begin(base.clone());
        let draft = change.draft();
        for _ in 0..random.below(25) {
            edit(&mut random, &draft, &mut model);
            if random.below(4) == 0 {
                assert_eq!(draft.get().unwrap().unwrap(), json(&model), "seed {seed}: read");
            }
        }
        let dirty = change.is_dirty();
        let prepared = change.prepare().unwrap();
        let batch = encode_batch(&prepared.ops);
        let mut written = String::new();
        write_batch(&mut written, &prepared.ops);
        assert_eq!(written, batch.to_string(), "seed {seed}");
        assert_eq!(prepared.value, json(&model), "seed {seed}: value");
        assert!(
            dirty || prepared.ops.is_empty(),
            "seed {seed}: clean, but {batch}"
        );
        assert_eq!(base.to_string(), printed, "seed {seed}: base");
        let applied =
            apply(Some(&base), &prepared.ops).unwrap_or_else(|error| panic!("seed {seed}: {error}: {batch}"));
        assert_eq!(applied, prepared.value, "seed {seed}: {batch}");
        let text = batch.to_string();
        let reread = Json::parse(&text, 512).unwrap();
        assert_eq!(
            apply_batch(Some(&base), &reread).unwrap(),
            prepared.value,
            "seed {seed}: {batch}"
        );
        let replacements = prepared
            .ops
            .iter()
            .filter(|op| matches!(op, Op::Replace(_)))
            .count();
        assert!(
            replacements == 0 || prepared.ops.len() == 1,
            "seed {seed}: {batch}"
        );
    }
}

/// The rule for strings on its own: long, repetitive and multi-unit texts.
#[test]
fn string_edits_reproduce_the_string() {
    let mut random = Random(88_172_645_463_325_252);
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
        let applied = apply(Some(&base), &prepared.ops).unwrap();
        assert_eq!(
            applied.get("s").unwrap().as_str().unwrap(),
            after,
            "round {round}: {before:?}"
        );
        assert!(prepared.ops.len() <= 2);
    }
}
