//! Application of operations: whatever the bytes say, it never panics, never hangs, and keeps its promises.
//!
//! An input is either text, a base and batches one a line, or a recipe for such values: bytes that choose what comes next,
//! which reaches what no parser lets through (numbers that are not finite, any depth) and mostly builds operations that fit.

use tidehold_delta::{
    ApplyError, Array, Change, Json, MAX_DEPTH, Op, Replica, Segment, WireDecoder, WireEncoder, apply,
    apply_batch, decode_batch, encode_batch, write_batch,
};

/// Checks one input.
///
/// # Panics
/// When a promise is broken.
pub fn check(input: &[u8]) {
    match std::str::from_utf8(input) {
        Ok(text) if input.first().is_some_and(|byte| b"[{\"0n".contains(byte)) => check_text(text),
        _ => check_recipe(&mut Recipe { rest: input }),
    }
}

fn check_text(text: &str) {
    let mut lines = text.lines().map(|line| Json::parse(line, MAX_DEPTH));
    let Some(Ok(base)) = lines.next() else { return };
    let mut stream = Stream::of(base);
    for batch in lines.map_while(Result::ok).take(8) {
        stream.take(&batch);
    }
}

fn check_recipe(recipe: &mut Recipe) {
    let mut stream = Stream::of(recipe.value(0));
    for _ in 0..1 + recipe.below(3) {
        // Each operation is made for what the ones before it left.
        let mut present = stream.value.clone();
        let mut batch = Array::new();
        for _ in 0..recipe.below(9) {
            let op = recipe.op(&present);
            if let Ok(next) = apply_batch(Some(&present), &Json::array([op.clone()])) {
                present = next;
            }
            batch.push_back(op);
        }
        stream.take(&Json::Array(batch));
    }
    let wanted = recipe.value(0);
    check_assignment(&stream.value, &wanted);
}

/// A value and all that follow its batches.
struct Stream {
    value: Json,
    encoder: WireEncoder,
    decoder: WireDecoder,
    /// Reads the batches as if they were in the wire form.
    hostile: WireDecoder,
    replica: Replica,
    sequence: u64,
}

impl Stream {
    fn of(value: Json) -> Stream {
        let mut replica = Replica::new();
        let root = Op::Replace(value.clone());
        assert_eq!(replica.hydrate(0, &[root]).is_ok(), is_strict(&value));
        Stream {
            value,
            encoder: WireEncoder::new(),
            decoder: WireDecoder::new(),
            hostile: WireDecoder::new(),
            replica,
            sequence: 0,
        }
    }

    fn take(&mut self, batch: &Json) {
        let base = self.value.clone();
        let printed = (base.to_string(), batch.to_string());
        let outcome = apply_batch(Some(&base), batch);
        match decode_batch(batch) {
            Ok(ops) => self.check_decoded(batch, &ops, &outcome),
            Err(_) => assert!(outcome.is_err(), "a malformed batch was applied"),
        }
        if let Ok(ops) = self.hostile.decode(batch) {
            let applied = apply(Some(&base), &ops);
            assert!(applied.is_err() || decode_batch(&encode_batch(&ops)).is_ok());
        }
        assert_eq!(
            (base.to_string(), batch.to_string()),
            printed,
            "an input was changed"
        );

        let ready = self.replica.value().is_some();
        self.sequence += 1;
        let followed = self.replica.update_batch(self.sequence, batch);
        assert_eq!(followed.is_ok(), ready && outcome.is_ok());
        assert!(followed.is_ok() || self.replica == Replica::Cold);

        if let Ok(value) = outcome {
            if is_strict(&base) {
                assert!(is_strict(&value), "the result is no strict JSON: {value}");
                let reread = Json::parse(&value.to_string(), MAX_DEPTH);
                assert_eq!(reread.as_ref(), Ok(&value));
                assert!(self.replica.value() == Some(&value) || !ready);
                check_assignment(&base, &value);
            }
            self.value = value;
        }
    }

    fn check_decoded(&mut self, batch: &Json, ops: &[Op], outcome: &Result<Json, ApplyError>) {
        if !batch.is_finite() {
            // Not equal to itself, so only the outcome can be compared.
            assert_eq!(apply(Some(&self.value), ops).is_ok(), outcome.is_ok());
            return;
        }
        assert!(same(&apply(Some(&self.value), ops), outcome));
        let encoded = encode_batch(ops);
        assert_eq!(decode_batch(&encoded).as_deref(), Ok(ops));
        let mut text = String::new();
        write_batch(&mut text, ops);
        assert_eq!(text, encoded.to_string());
        for _ in 0..2 {
            let wire = self.encoder.encode(ops);
            assert_eq!(self.decoder.decode(&wire).as_deref(), Ok(ops), "{wire}");
        }
    }
}

/// Whether both are the same error, or the same value as far as values can be compared.
fn same(one: &Result<Json, ApplyError>, other: &Result<Json, ApplyError>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other || !one.is_finite(),
        (Err(one), Err(other)) => one == other,
        _ => false,
    }
}

fn is_strict(value: &Json) -> bool {
    value.is_finite() && !value.deeper_than(MAX_DEPTH)
}

/// A change that assigns or sets `value` emits a batch that makes it.
fn check_assignment(base: &Json, value: &Json) {
    for assign in [true, false] {
        let change = Change::begin(base.clone());
        let draft = change.draft();
        let outcome = if assign {
            draft.assign(value.clone())
        } else {
            draft.set(value.clone())
        };
        let prepared = change.prepare().unwrap();
        // A base that nobody could have placed may be equal to a value that nobody can place.
        if is_strict(base) {
            assert_eq!(outcome.is_ok(), is_strict(value));
            let wanted = if outcome.is_ok() { value } else { base };
            assert_eq!(&prepared.value, wanted);
            assert_eq!(apply(Some(base), &prepared.ops).as_ref(), Ok(wanted));
            assert!(!prepared.ops.is_empty() || prepared.value.same(base));
        }
    }
}

/// Bytes that choose what comes next; zeros when they are used up.
struct Recipe<'a> {
    rest: &'a [u8],
}

impl Recipe<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    fn text(&mut self) -> String {
        const PARTS: [&str; 12] = [
            "",
            "a",
            "b",
            "é",
            "😀",
            "ab",
            "__proto__",
            "constructor",
            "0",
            "aaaaaaaaaaaaaaaa",
            "\u{2028}\"\\",
            "日",
        ];
        (0..self.below(4))
            .map(|_| PARTS[self.below(PARTS.len())])
            .collect()
    }

    fn number(&mut self) -> f64 {
        const ODD: [f64; 10] = [
            -1.0,
            0.5,
            -0.0,
            1e300,
            1e21,
            9_007_199_254_740_993.0,
            18_446_744_073_709_551_616.0,
            f64::NAN,
            f64::INFINITY,
            5e-324,
        ];
        match self.byte() {
            odd @ 0..64 => ODD[usize::from(odd) % ODD.len()],
            small => f64::from(small - 64),
        }
    }

    fn value(&mut self, levels: usize) -> Json {
        let choice = self.below(if levels < 6 { 10 } else { 5 });
        match choice {
            0 => Json::Null,
            1 => Json::Bool(self.below(2) == 0),
            2 => Json::Number(self.number()),
            3 | 4 => Json::from(self.text()),
            5 | 6 => Json::array((0..self.below(5)).map(|_| self.value(levels + 1))),
            7 => Json::object((0..self.below(5)).map(|_| (self.text(), self.value(levels + 1)))),
            // A long array, and a deep one.
            8 => Json::array((0..self.below(256)).map(|place| Json::from((place / 2) as f64))),
            _ => {
                let depth = 3 * usize::from(self.byte());
                (0..depth).fold(self.value(6), |inner, _| Json::array([inner]))
            }
        }
    }

    /// A tuple that mostly fits `present`.
    fn op(&mut self, present: &Json) -> Json {
        let (mut path, node) = self.path(present);
        let verb = self.below(10);
        let count = |recipe: &mut Self| match recipe.below(8) {
            0 => Json::Number(recipe.number()),
            near => Json::Number(near as f64 - 1.0),
        };
        let mut tuple = vec![Json::from(
            ["s", "d", "a", "t", "p", "m", "p", "s", "r", "#"][verb],
        )];
        match verb {
            0 | 7 => {
                // Mostly a child of what is there.
                if self.below(3) > 0 {
                    path.push(self.child(node));
                }
                tuple.extend([Json::array(path), self.value(3)]);
            }
            1 => tuple.push(Json::array(path)),
            2 => tuple.extend([Json::array(path), Json::from(self.text())]),
            3 => tuple.extend([Json::array(path), count(self)]),
            4 | 6 => {
                let items = Json::array((0..self.below(4)).map(|_| self.value(4)));
                tuple.extend([Json::array(path), count(self), count(self), items]);
            }
            5 => {
                let length = node.as_array().map_or(0, Array::len);
                let mut order: Vec<usize> = (0..length).collect();
                for place in 0..length.min(16) {
                    order.swap(place, self.below(length));
                }
                let order = order.into_iter().map(|place| Json::from(place as f64));
                tuple.extend([Json::array(path), Json::array(order)]);
            }
            8 => tuple.push(self.value(0)),
            _ => tuple.extend([count(self), Json::array(path)]),
        }
        match self.below(32) {
            // Malformed in some way.
            1 => drop(tuple.pop()),
            2 => tuple.push(self.value(5)),
            3 => {
                let place = self.below(tuple.len());
                tuple[place] = self.value(4);
            }
            _ => {}
        }
        Json::array(tuple)
    }

    fn path<'v>(&mut self, value: &'v Json) -> (Vec<Json>, &'v Json) {
        let mut path = Vec::new();
        let mut node = value;
        for _ in 0..self.below(6) {
            let segment = self.child(node);
            let child = match (&segment, node) {
                (Json::Number(index), Json::Array(items)) => items.get(*index as usize),
                (Json::String(key), Json::Object(members)) => members.get(key),
                _ => None,
            };
            path.push(segment);
            match child {
                Some(child) => node = child,
                None => break,
            }
        }
        (path, node)
    }

    /// A segment that mostly leads to something in `node`.
    fn child(&mut self, node: &Json) -> Json {
        let choice = self.byte();
        match node {
            _ if choice > 240 => self.value(5),
            Json::Array(items) => Json::from((usize::from(choice) % (items.len() + 1)) as f64),
            Json::Object(members) if choice < 200 && !members.is_empty() => {
                let key = members.keys().nth(usize::from(choice) % members.len());
                Json::from(&Segment::Key(key.unwrap().clone()))
            }
            _ => Json::from(self.text()),
        }
    }
}
