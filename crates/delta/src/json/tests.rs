use std::sync::Arc;

use super::*;
use crate::{MAX_DEPTH, json};

fn parse(text: &str) -> Result<Json, ParseError> {
    Json::parse(text, MAX_DEPTH)
}

#[test]
fn numbers_print_like_javascript() {
    for (number, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (123.456, "123.456"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (-1.25e-7, "-1.25e-7"),
        (1e20, "100000000000000000000"),
        (1.5e20, "150000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e21, "1e+21"),
        (-1.5e21, "-1.5e+21"),
        (1e300, "1e+300"),
        (9007199254740991.0, "9007199254740991"),
        (9007199254740993.0, "9007199254740992"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        (5e-324, "5e-324"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ] {
        assert_eq!(format_number(number), text);
        assert_eq!(Json::Number(number).to_string(), text);
    }
}

#[test]
fn numbers_read_exactly() {
    for text in [
        "0.1",
        "2.2250738585072014e-308",
        "1.7976931348623157e+308",
        "5e-324",
        "9007199254740991",
    ] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
    assert_eq!(parse("1.0").unwrap(), parse("1e0").unwrap());
    assert_eq!(parse("-0").unwrap(), Json::Number(0.0));
    for text in [
        "01", "1.", ".5", "+1", "-", "1e", "1e+", "0x1", "NaN", "Infinity", "1e400", "-1e999",
    ] {
        assert!(matches!(parse(text), Err(ParseError::Syntax { .. })), "{text}");
    }
}

#[test]
fn only_what_must_be_is_escaped() {
    let text = "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \"\\/\u{7f}\u{2028}é😀";
    let printed = Json::from(text).to_string();
    assert_eq!(
        printed,
        "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\u{7f}\u{2028}é😀\""
    );
    assert_eq!(parse(&printed).unwrap().as_str(), Some(text));
}

#[test]
fn escapes_are_read() {
    assert_eq!(
        parse(r#""\"\\\/\b\f\n\r\tA\u00e9\uD83d\ude00""#)
            .unwrap()
            .as_str()
            .unwrap(),
        "\"\\/\u{8}\u{c}\n\r\tAé😀"
    );
    for text in [
        r#""\x""#,
        r#""\u12""#,
        r#""\u+123""#,
        r#""\"#,
        "\"a\nb\"",
        "\"\u{1}\"",
        "\"abc",
    ] {
        assert!(matches!(parse(text), Err(ParseError::Syntax { .. })), "{text}");
    }
}

#[test]
fn lone_surrogates_are_refused_by_name() {
    for text in [
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83dx""#,
        r#""\ud83d\ud83d""#,
        r#""\ude00\ud83d""#,
        r#""\ud83d\n""#,
    ] {
        assert_eq!(
            parse(text),
            Err(ParseError::LoneSurrogate { line: 1, column: 2 }),
            "{text}"
        );
    }
    let place = parse("{\n  \"é\": \"x\\ud83d\"}");
    assert_eq!(place, Err(ParseError::LoneSurrogate { line: 2, column: 10 }));
}

#[test]
fn syntax_errors_say_where() {
    let error = parse("[1,\n 2 3]").unwrap_err();
    assert_eq!(error.to_string(), "expected `,` or `]` at line 2 column 4");
    for text in [
        "",
        " ",
        "[",
        "]",
        "[1",
        "[1,",
        "[,1]",
        "[1,]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "nul",
        "nulll",
        "true false",
        "[1}",
        "{\"a\":1]",
        "\u{feff}1",
    ] {
        assert!(matches!(parse(text), Err(ParseError::Syntax { .. })), "{text}");
    }
}

#[test]
fn text_round_trips() {
    for text in [
        "null",
        r#"{"b":1,"a":[true,false,null,{"":""}],"10":{},"2":[]}"#,
        r#"[[],{},[[]],"x",-1.5e-9]"#,
        r#"{"__proto__":{"constructor":1}}"#,
    ] {
        let value = parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(value.encoded_len(), text.len());
        let foreign: Json = serde_json::from_str(text).unwrap();
        assert_eq!(foreign, value);
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }
    assert_eq!(
        parse(" [ 1 , { \"a\" : 2 } ] \r\n\t").unwrap().to_string(),
        r#"[1,{"a":2}]"#
    );
    assert_eq!(
        parse(r#"{"a":1,"b":2,"a":3}"#).unwrap().to_string(),
        r#"{"a":3,"b":2}"#
    );
}

#[test]
fn equality_ignores_member_order_and_number_form() {
    assert_eq!(
        parse(r#"{"a":1,"b":[2]}"#).unwrap(),
        parse(r#"{"b":[2.0],"a":1e0}"#).unwrap()
    );
    assert_ne!(json!({"a": 1}), json!({"b": 1}));
    assert_ne!(json!([1, 2]), json!([2, 1]));
    assert_ne!(json!([1]), json!([1, 2]));
    assert_ne!(json!({}), json!([]));
    assert_ne!(Json::from("1"), Json::from(1));
    assert_eq!(Json::Number(-0.0), Json::Number(0.0));
}

#[test]
fn accessors_look_at_one_kind() {
    let value = json!({"n": 3, "f": 1.5, "neg": (-2), "big": 1e300, "s": "x", "b": true, "l": [1, null]});
    assert_eq!(value.get("n").unwrap().as_u64(), Some(3));
    assert_eq!(value.get("f").unwrap().as_u64(), None);
    assert_eq!(value.get("neg").unwrap().as_u64(), None);
    assert_eq!(value.get("neg").unwrap().as_i64(), Some(-2));
    assert_eq!(value.get("big").unwrap().as_i64(), None);
    assert_eq!(Json::Number(f64::NAN).as_i64(), None);
    assert_eq!(value.get("s").unwrap().as_str(), Some("x"));
    assert_eq!(value.get("b").unwrap().as_bool(), Some(true));
    assert!(value.get("l").unwrap().index(1).unwrap().is_null());
    assert!(value.get("l").unwrap().index(2).is_none());
    assert!(value.get("missing").is_none());
    assert!(value.index(0).is_none());
    assert_eq!(Json::from(None::<u32>), Json::Null);
    assert_eq!(Json::from(vec!["a", "b"]), json!(["a", "b"]));
}

#[test]
fn the_macro_takes_json_and_expressions() {
    let name = "k".to_owned();
    let inner = json!({ "x": [ ], });
    let value = json!({
        "null": null, "list": [null, true, "s", 1 + 1, [[]], {}, inner.clone(),], (name): Some(2u32), "n": { "m": null },
        "call": vec![1, 2].len(),
    });
    assert_eq!(
        value.to_string(),
        r#"{"null":null,"list":[null,true,"s",2,[[]],{},{"x":[]}],"k":2,"n":{"m":null},"call":2}"#
    );
    assert_eq!(json!(null), Json::Null);
    assert_eq!(json!("x"), Json::from("x"));
}

#[test]
fn objects_keep_insertion_order_past_the_list() {
    let mut object = Object::new();
    for key in 0..30 {
        object.insert(format!("k{key}"), Json::from(key));
    }
    object.insert("k3", Json::from("new"));
    assert_eq!(object.remove("k5"), Some(Json::from(5)));
    assert_eq!(object.remove("k5"), None);
    let before = object.clone();
    object.insert("k5", Json::Null);
    let keys: Vec<String> = object.keys().map(|key| key.to_string()).collect();
    let wanted = (0..30)
        .filter(|key| *key != 5)
        .chain([5])
        .map(|key| format!("k{key}"));
    assert_eq!(keys, wanted.collect::<Vec<_>>());
    assert_eq!(before.len(), 29, "a clone does not see later changes");
    assert_eq!(object.get("k3"), Some(&Json::from("new")));
}

#[test]
fn arrays_behave_like_vectors() {
    // A small generator of its own: the sequence must be the same on every run.
    let mut state = 0x9E37_79B9_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((state >> 33) as usize) % below.max(1)
    };
    let mut kept: Vec<(Array, Vec<Json>)> = Vec::new();
    for round in 0..60 {
        let size = if round % 6 == 0 { 6000 } else { 400 };
        let mut model: Vec<Json> = (0..random(size)).map(Json::from).collect();
        let mut array: Array = model.iter().cloned().collect();
        for step in 0..60 {
            let index = random(model.len() + 1);
            match random(6) {
                0 => {
                    model.push(Json::from(step));
                    array.push_back(Json::from(step));
                }
                1 if index < model.len() => {
                    model[index] = Json::from("set");
                    array.set(index, Json::from("set")).unwrap();
                }
                2 => {
                    let end = (index + random(100)).min(model.len());
                    assert_eq!(array.slice(index, end).to_vec(), model[index..end]);
                }
                3 => kept.push((array.clone(), model.clone())),
                _ => {
                    let end = (index + random(90)).min(model.len());
                    let items: Vec<Json> = (0..random(120)).map(|n| Json::from(n + 1000)).collect();
                    array.splice(index, end - index, items.clone().into());
                    model.splice(index..end, items);
                }
            }
            assert_eq!(array.len(), model.len());
        }
        assert_eq!(array.to_vec(), model, "round {round}");
        assert!(array.iter().rev().eq(model.iter().rev()));
        assert_eq!(array.iter().len(), model.len());
    }
    for (array, model) in kept {
        assert_eq!(array.to_vec(), model, "a clone does not see later changes");
    }
}

#[test]
fn array_edges() {
    let mut array = Array::from(vec![Json::from(1)]);
    assert!(array.set(1, Json::Null).is_err());
    array.splice(9, 9, Array::from(vec![Json::from(2)]));
    assert_eq!(Json::Array(array.clone()), json!([1, 2]));
    assert_eq!(array.slice(1, 99).len(), 1);
    assert_eq!(array.slice(2, 1).len(), 0);
    assert_eq!(
        (array.first(), array.last()),
        (Some(&Json::from(1)), Some(&Json::from(2)))
    );
    assert!(Array::new().last().is_none());
}

fn nested(levels: usize) -> Json {
    (0..levels).fold(Json::Null, |inner, level| match level % 2 {
        0 => Json::array([inner]),
        _ => Json::object([("a", inner)]),
    })
}

#[test]
fn depth_counts_containers() {
    for (value, depth) in [
        (json!(1), 0),
        (json!([]), 1),
        (json!({"a": 1}), 1),
        (json!([[], {"a": [1]}]), 3),
    ] {
        assert_eq!(value.depth(), depth, "{value}");
        assert!(!value.deeper_than(depth));
        assert_eq!(value.deeper_than(depth.saturating_sub(1)), depth > 0);
    }
    // Taking the deep part out again leaves only the true depth.
    let mut array = Array::from(vec![nested(600), Json::Null]);
    assert!(Json::Array(array.clone()).deeper_than(600));
    array.set(0, Json::Null).unwrap();
    assert!(!Json::Array(array).deeper_than(1));
}

#[test]
fn depth_is_refused_where_text_enters() {
    let text = "[".repeat(10_000) + &"]".repeat(10_000);
    assert_eq!(parse(&text), Err(ParseError::TooDeep { limit: MAX_DEPTH }));
    assert!(matches!(
        parse(&"[{\"a\":".repeat(10_000)),
        Err(ParseError::TooDeep { .. })
    ));
    let limit = "[".repeat(512) + &"]".repeat(512);
    assert_eq!(parse(&limit).unwrap().depth(), 512);
    assert_eq!(
        parse(&format!("[{limit}]")),
        Err(ParseError::TooDeep { limit: 512 })
    );
    assert!(Json::parse("[]", 0).is_err());
    assert!(Json::parse("1", 0).is_ok());

    let mut foreign = serde_json::Deserializer::from_str(&text);
    foreign.disable_recursion_limit();
    assert!(<Json as serde::Deserialize>::deserialize(&mut foreign).is_err());
    assert!(serde_json::to_string(&nested(513)).is_err());
    assert!(serde_json::to_string(&nested(512)).is_ok());
}

/// Nothing refuses depth while code nests containers by hand, so everything that walks must bear it.
#[test]
fn any_depth_can_be_walked_and_dropped() {
    let text = "[".repeat(10_000) + &"]".repeat(10_000);
    let parsed = Json::parse(&text, usize::MAX).unwrap();
    assert_eq!(parsed.to_string(), text);

    for levels in [63, 64, 65, 66, 100_000] {
        let value = nested(levels);
        assert_eq!(value.depth(), levels);
        assert!(value.is_finite());
        assert!(value == nested(levels));
        assert_eq!(value.encoded_len(), value.to_string().len());
        let shared = value.clone();
        drop(value);
        assert_eq!(shared.depth(), levels);
    }
    // Wide and deep, through long arrays and large objects.
    let wide = (0..70_000).fold(Json::Null, |inner, level| match level % 200 {
        0 => Json::array((0..70).map(Json::from).chain([inner])),
        1 => Json::object(
            (0..12)
                .map(|k| (k.to_string(), Json::Null))
                .chain([("in".to_owned(), inner)]),
        ),
        _ => Json::array([inner]),
    });
    assert_eq!(wide.depth(), 70_000);
    drop(wide);
}

#[test]
fn numbers_that_are_not_finite_are_found() {
    assert!(json!({"a": [1, {"b": 2}]}).is_finite());
    assert!(!json!({"a": [1, {"b": (f64::NAN)}]}).is_finite());
    assert!(!Json::Number(f64::INFINITY).is_finite());
    let mut array = Array::from(vec![Json::Number(f64::NAN)]);
    array.set(0, Json::Null).unwrap();
    assert!(Json::Array(array).is_finite());
}

#[test]
fn clones_share() {
    let text: Text = Arc::from("x");
    let value = Json::object([("s", Json::from(&text)), ("l", json!([1]))]);
    let copy = value.clone();
    assert!(value.same(&copy));
    assert!(Arc::ptr_eq(
        &text,
        match copy.get("s").unwrap() {
            Json::String(shared) => shared,
            _ => unreachable!(),
        }
    ));
    assert!(!json!([1]).same(&json!([1])));
}
