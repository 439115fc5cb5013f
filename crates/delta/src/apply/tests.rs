use super::*;
use crate::{Array, Path, Segment, decode_batch, encode_batch, json};

fn path(segments: &[&str]) -> Path {
    segments.iter().map(|segment| Segment::from(*segment)).collect()
}

#[test]
fn untouched_parts_are_shared_and_inputs_stay() {
    let base = json!({ "a": { "x": [1] }, "b": { "y": [2] }, "rows": [{ "k": 1 }, { "k": 2 }] });
    let before = base.to_string();
    let payload = json!({ "deep": [0] });
    let ops = [
        Op::Set(path(&["a", "z"]), payload.clone()),
        Op::Set(path(&["a", "z", "deep"]), json!("changed")),
        Op::Set(vec!["rows".into(), Segment::Index(1), "k".into()], json!(3)),
    ];
    let value = apply(Some(&base), &ops).unwrap();
    assert_eq!(
        value,
        json!({ "a": { "x": [1], "z": { "deep": "changed" } }, "b": { "y": [2] },
        "rows": [{ "k": 1 }, { "k": 3 }] })
    );
    assert!(value.get("b").unwrap().same(base.get("b").unwrap()));
    assert!(
        value
            .get("a")
            .unwrap()
            .get("x")
            .unwrap()
            .same(base.get("a").unwrap().get("x").unwrap())
    );
    let row = |value: &Json| value.get("rows").unwrap().index(0).unwrap().clone();
    assert!(row(&value).same(&row(&base)));
    assert_eq!(base.to_string(), before);
    assert_eq!(
        payload,
        json!({ "deep": [0] }),
        "a payload is copied before it is changed"
    );
    assert!(apply(Some(&base), &[]).unwrap().same(&base));
    // A batch can be applied twice.
    assert_eq!(apply(Some(&base), &ops).unwrap(), value);
}

#[test]
fn many_appends_make_one_string() {
    let base = json!({ "s": "a", "t": "b", "n": 0 });
    let mut ops = Vec::new();
    for _ in 0..500 {
        ops.push(Op::Append(path(&["s"]), "😀".into()));
        ops.push(Op::Append(path(&["t"]), "y".into()));
        ops.push(Op::Set(path(&["n"]), json!(1)));
        ops.push(Op::TrimStart(path(&["t"]), 1));
        ops.push(Op::Append(path(&["s"]), "z".into()));
    }
    let value = apply(Some(&base), &ops).unwrap();
    assert_eq!(
        value.get("s").unwrap().as_str().unwrap(),
        format!("a{}", "😀z".repeat(500))
    );
    assert_eq!(value.get("t").unwrap().as_str().unwrap(), "y");
}

#[test]
fn open_strings_survive_every_other_operation() {
    let batch = json!([
        ["a", ["l", 0], "1"],
        ["a", ["l", 1], "1"],
        ["a", ["7"], "1"],
        ["a", [7], "2"],
        ["p", ["l"], 0, 0, ["new"]],
        ["a", ["l", 1], "2"],
        ["m", ["l"], [2, 1, 0]],
        ["t", ["l", 1], 1],
        ["d", ["l", 2]],
        ["a", ["l", 1], "3"],
        ["s", ["copy"], "x"],
        ["a", ["copy"], "y"],
        ["s", ["copy"], "z"],
        ["a", ["copy"], "!"],
        ["a", ["gone"], "y"],
        ["d", ["gone"]],
    ]);
    let base = json!({ "l": ["a", "b"], "7": "", "gone": "x" });
    let value = apply_batch(Some(&base), &batch).unwrap();
    assert_eq!(value, json!({ "l": ["b1", "123"], "7": "12", "copy": "z!" }));
    // More strings than are kept open.
    let base = Json::object((0..40).map(|key| (key.to_string(), Json::from("-"))));
    let ops: Vec<Op> = (0..400)
        .map(|n| Op::Append(vec![Segment::from((n % 40).to_string())], "x".into()))
        .collect();
    let value = apply(Some(&base), &ops).unwrap();
    assert!(
        value
            .as_object()
            .unwrap()
            .values()
            .all(|text| text.as_str() == Some("-xxxxxxxxxx"))
    );
}

#[test]
fn trims_clamp_within_and_beyond_appended_text() {
    let base = json!({ "s": "aé😀" });
    for (units, left) in [(0, "aé😀xy"), (2, "😀xy"), (4, "xy"), (5, "y"), (6, ""), (99, "")] {
        let ops = [
            Op::Append(path(&["s"]), "xy".into()),
            Op::TrimStart(path(&["s"]), units),
        ];
        assert_eq!(apply(Some(&base), &ops).unwrap(), json!({ "s": left }));
    }
    let split = Op::TrimStart(path(&["s"]), 3);
    assert_eq!(apply(Some(&base), &[split]).unwrap_err().class(), "TypeError");
}

#[test]
fn operations_built_by_hand_are_checked() {
    let base = json!({ "l": [1, 2] });
    for (op, class) in [
        (Op::Set(vec![], Json::Null), "TypeError"),
        (Op::Append(vec![], "x".into()), "TypeError"),
        (Op::Set(path(&["__proto__"]), Json::Null), "UnsafePathError"),
        (Op::Delete(path(&["l", "constructor"])), "UnsafePathError"),
        (Op::Move(path(&["l"]), vec![0, 0]), "TypeError"),
        (Op::Move(path(&["l"]), vec![0, 2]), "TypeError"),
        (Op::Move(path(&["l"]), vec![0]), "PathError"),
        (Op::Set(path(&["n"]), Json::Number(f64::NAN)), "TypeError"),
        (Op::Replace(json!([(f64::INFINITY)])), "TypeError"),
        (
            Op::Set(vec!["l".into(), Segment::Index(u64::MAX)], Json::Null),
            "UnsafePathError",
        ),
    ] {
        assert_eq!(
            apply(Some(&base), std::slice::from_ref(&op)).unwrap_err().class(),
            class,
            "{op:?}"
        );
    }
}

#[test]
fn a_malformed_operation_fails_only_when_reached() {
    let base = json!({ "a": 1 });
    let batch = json!([["s", ["b", "c"], 1], ["x"]]);
    assert_eq!(apply_batch(Some(&base), &batch).unwrap_err().class(), "PathError");
    assert_eq!(decode_batch(&batch).unwrap_err().class(), "TypeError");
    assert_eq!(
        apply_batch(Some(&base), &json!({})).unwrap_err().class(),
        "TypeError"
    );
    assert_eq!(apply_batch(None, &json!([])).unwrap(), Json::Null);
}

/// The messages follow the reference, and with them the order of its checks.
#[test]
fn errors_name_the_first_thing_wrong() {
    let base = json!({ "l": [1, { "k": 2 }], "s": "x", "o": {} });
    for (op, message) in [
        (json!({}), "op is not a tuple"),
        (json!([]), "op is not a tuple"),
        (json!([5]), "unknown op verb: 5"),
        (json!(["s", ["__proto__"]]), "s arity"),
        (json!(["a", [null], 1]), "a shape"),
        (json!(["t", [null], 1]), "unsafe path segment: null"),
        (json!(["t", [], 1]), "path is empty"),
        (
            json!(["p", [[1, null, [2]]], (-1), 0, []]),
            "unsafe path segment: 1,,2",
        ),
        (json!(["p", ["no"], (-1), 0, []]), "p index"),
        (json!(["m", ["no"], [1]]), "m permutation is not a bijection"),
        (json!(["m", ["l"], [0]]), "unresolvable path: [\"l\"]"),
        (
            json!(["s", ["l", 1, "k", "x"], 1]),
            "unresolvable path: [\"l\",1,\"k\"]",
        ),
        (
            json!(["s", ["l", 7, "k", "x"], 1]),
            "unresolvable path: [\"l\",7,\"k\"]",
        ),
        (json!(["s", ["l", 3], 1]), "unsafe path segment: 3"),
        (json!(["s", ["l", "0", "k"], 1]), "unsafe path segment: 0"),
        (json!(["d", ["l", 2]]), "unresolvable path: [\"l\",2]"),
        (json!(["a", ["l", 2], ""]), "unresolvable path: [\"l\",2]"),
        (json!(["s", ["s", 0], 1]), "unresolvable path: [\"s\"]"),
        (json!(["p", ["o"], 0, 0, []]), "unresolvable path: [\"o\"]"),
    ] {
        let error = apply_batch(Some(&base), &Json::array([op.clone()])).unwrap_err();
        assert_eq!(error.to_string(), message, "{op}");
    }
}

#[test]
fn depth_is_refused_at_application() {
    let nested = |levels: usize| (0..levels).fold(Json::Null, |inner, _| Json::array([inner]));
    let base = json!({ "a": {}, "l": [] });
    let set = |levels| [Op::Set(path(&["a", "x"]), nested(levels))];
    assert_eq!(apply(Some(&base), &set(510)).unwrap().depth(), 512);
    assert_eq!(apply(Some(&base), &set(511)), Err(ApplyError::Depth));
    let splice = |levels| {
        let items = Array::from(vec![nested(levels)]);
        [Op::Splice {
            path: path(&["l"]),
            index: 0,
            remove: 0,
            items,
        }]
    };
    assert_eq!(apply(Some(&base), &splice(510)).unwrap().depth(), 512);
    assert_eq!(apply(Some(&base), &splice(511)), Err(ApplyError::Depth));
    assert!(apply(None, &[Op::Replace(nested(512))]).is_ok());
    assert_eq!(apply(None, &[Op::Replace(nested(513))]), Err(ApplyError::Depth));
    // Step by step, each placement small: what counts is the depth of the result.
    let mut value = json!([]);
    let mut place: Path = Vec::new();
    for level in 1..=512 {
        place.push(Segment::Index(0));
        let result = apply(Some(&value), &[Op::Set(place.clone(), json!([]))]);
        match result {
            Ok(next) => value = next,
            Err(error) => {
                assert_eq!((error, level), (ApplyError::Depth, 512));
            }
        }
    }
    assert_eq!(value.depth(), 512);
    assert!(!value.deeper_than(512));
}

#[test]
fn tuples_round_trip() {
    let batch = json!([
        ["r", { "l": [1, 2, 3], "s": "abc" }],
        ["s", ["l", 3], 4],
        ["d", ["l", 0]],
        ["a", ["s"], "d"],
        ["t", ["s"], 1],
        ["p", ["l"], 0, 1, ["x"]],
        ["m", ["l"], [2, 0, 1]],
    ]);
    let ops = decode_batch(&batch).unwrap();
    assert_eq!(encode_batch(&ops).to_string(), batch.to_string());
    assert_eq!(
        apply(None, &ops).unwrap(),
        json!({ "l": [4, "x", 3], "s": "bcd" })
    );
}

/// Addresses of elements stay the same as long as nobody copies their container.
#[test]
fn a_container_is_copied_once_per_batch() {
    let rows = Json::array((0..2000).map(|row| json!({ "k": row, "tags": ["a", "b"] })));
    let base = Json::object([("rows", rows), ("other", json!([1, 2, 3]))]);
    let mut scratch = Scratch::new(Some(base.clone()));
    let address = |scratch: &Scratch, row: usize| -> *const Json {
        scratch
            .outline()
            .unwrap()
            .get("rows")
            .unwrap()
            .index(row)
            .unwrap()
            .get("k")
            .unwrap()
    };
    let set = |row: u64, value: u32| {
        Op::Set(
            vec!["rows".into(), Segment::Index(row), "k".into()],
            Json::from(value),
        )
    };
    let shared = address(&scratch, 5);
    scratch.step(&set(5, 1)).unwrap();
    let own = address(&scratch, 5);
    assert_ne!(shared, own, "copied on the first touch");
    for row in 0..2000 {
        scratch.step(&set(row, 2)).unwrap();
        scratch.step(&set(5, row as u32)).unwrap();
        assert_eq!(address(&scratch, 5), own, "and never again");
    }
    let value = scratch.finish();
    assert!(value.get("other").unwrap().same(base.get("other").unwrap()));
    let tags = |value: &Json| {
        value
            .get("rows")
            .unwrap()
            .index(1999)
            .unwrap()
            .get("tags")
            .unwrap()
            .clone()
    };
    assert!(tags(&value).same(&tags(&base)));
    assert_eq!(
        base.get("rows").unwrap().index(5).unwrap().get("k"),
        Some(&Json::from(5))
    );
}

/// While a string is open its stored text stays as it was: no copy per operation.
#[test]
fn an_open_string_is_joined_once() {
    let base = json!({ "s": "start" });
    let mut scratch = Scratch::new(Some(base.clone()));
    for _ in 0..100 {
        scratch.step(&Op::Append(path(&["s"]), "more".into())).unwrap();
        assert!(scratch.outline().unwrap().same(&base));
    }
    assert_eq!(scratch.read(&path(&["s"])).unwrap().as_str().unwrap().len(), 405);
}
