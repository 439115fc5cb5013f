use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;

use crate::{ConvertError, ConvertProblem, FromJson, Json, json, present};

fn round_trip<T: Serialize + FromJson + PartialEq + std::fmt::Debug>(typed: T, wanted: Json) {
    let value = Json::from_serialize(&typed).unwrap();
    assert_eq!(value.to_string(), wanted.to_string());
    assert_eq!(value.to_typed::<T>().unwrap(), typed);
    // The same conventions as the usual JSON crate.
    assert_eq!(
        Json::parse(&serde_json::to_string(&typed).unwrap(), 512).unwrap(),
        value
    );
}

#[derive(Serialize, FromJson, PartialEq, Debug, PartialOrd, Ord, Eq)]
struct Id(String);

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Block {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    ToolCall {
        call_id: Id,
        index: u32,
        input: Json,
    },
    Nothing,
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
enum Plain {
    Unit,
    Newtype(u8),
    Struct { a: Option<bool> },
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(untagged)]
enum Either {
    Number(i32),
    Text(String),
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
struct Outer {
    id: Id,
    blocks: Vec<Block>,
    maybe: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    absent: Option<String>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
struct Rest {
    extra: Vec<Json>,
}

#[test]
fn structs_and_enums_round_trip() {
    round_trip(
        Outer {
            id: Id("i".into()),
            blocks: vec![
                Block::Text { text: "é".into() },
                Block::ToolCall {
                    call_id: Id("c".into()),
                    index: 3,
                    input: json!({"a": [1, 1.5, null]}),
                },
                Block::Nothing,
            ],
            maybe: None,
            absent: None,
            rest: Rest {
                extra: vec![json!(1), json!({ "b": true })],
            },
        },
        json!({
            "id": "i",
            "blocks": [
                { "type": "text", "text": "é" },
                { "type": "toolCall", "callId": "c", "index": 3, "input": { "a": [1, 1.5, null] } },
                { "type": "nothing" },
            ],
            "maybe": null,
            "extra": [1, { "b": true }],
        }),
    );
    round_trip(
        vec![Plain::Unit, Plain::Newtype(7), Plain::Struct { a: Some(true) }],
        json!(["Unit", { "Newtype": 7 }, { "Struct": { "a": true } }]),
    );
    round_trip(vec![Either::Number(1), Either::Text("a".into())], json!([1, "a"]));
}

#[test]
fn plain_types_round_trip() {
    round_trip(1u8, json!(1));
    round_trip(-1i64, json!(-1));
    round_trip(2.5f64, json!(2.5));
    round_trip(true, json!(true));
    round_trip((), Json::Null);
    round_trip(Rc::new(Box::new(vec!["x".to_owned()])), json!(["x"]));
    round_trip(9_007_199_254_740_991u64, json!(9_007_199_254_740_991u64));
    round_trip(-9_007_199_254_740_991i64, json!(-9_007_199_254_740_991i64));
    round_trip(Some(Id("a".into())), json!("a"));
    round_trip(None::<Id>, Json::Null);
    round_trip(BTreeMap::from([(Id("k".into()), 1)]), json!({ "k": 1 }));
    round_trip(
        json!({ "a": [null, { "b": "c" }] }),
        json!({ "a": [null, { "b": "c" }] }),
    );
    // An integral number serves a floating-point field.
    assert_eq!(json!(2).to_typed::<f64>(), Ok(2.0));
    assert_eq!(json!(2.0).to_typed::<u8>(), Ok(2));
}

#[test]
fn what_is_no_json_is_refused() {
    assert_eq!(
        Json::from_serialize(&f64::NAN),
        Err(ConvertProblem::NotFinite.into())
    );
    assert_eq!(
        Json::from_serialize(&vec![f32::INFINITY]),
        Err(ConvertProblem::NotFinite.into())
    );
    assert_eq!(
        Json::from_serialize(&(1u64 << 53)),
        Err(ConvertProblem::Integer((1u64 << 53).to_string()).into())
    );
    assert_eq!(
        Json::from_serialize(&i64::MIN),
        Err(ConvertProblem::Integer(i64::MIN.to_string()).into())
    );
    assert!(Json::from_serialize(&1u128).is_err());
    assert_eq!(
        Json::from_serialize(&BTreeMap::from([(1, 2)])),
        Err(ConvertProblem::Key.into())
    );
    assert_eq!(
        Json::from_serialize(&BTreeMap::from([(Some("a"), 2)])),
        Err(ConvertProblem::Key.into())
    );
}

#[test]
fn what_is_no_such_type_is_refused() {
    assert!(json!({ "id": 1 }).to_typed::<Outer>().is_err());
    assert!(json!({ "type": "other" }).to_typed::<Block>().is_err());
    assert!(json!({ "Newtype": 1, "Unit": 2 }).to_typed::<Plain>().is_err());
    assert!(json!({ "Struct": [] }).to_typed::<Plain>().is_err());
    assert!(json!({ "Unit": 1 }).to_typed::<Plain>().is_err());
    assert!(json!(7).to_typed::<Plain>().is_err());
    assert!(json!(256).to_typed::<u8>().is_err());
    assert!(json!(-1).to_typed::<u8>().is_err());
    assert!(json!(1.5).to_typed::<i64>().is_err());
    assert!(json!(1e300).to_typed::<u64>().is_err());
    assert!(json!({ "a": 1 }).to_typed::<Vec<Json>>().is_err());
    assert!(json!([1]).to_typed::<BTreeMap<String, Json>>().is_err());
    assert!(json!(1).to_typed::<()>().is_err());
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
struct Chain(Vec<Chain>);

#[test]
fn depth_is_bounded_both_ways() {
    let mut chain = Chain(Vec::new());
    for _ in 1..512 {
        chain = Chain(vec![chain]);
    }
    let value = Json::from_serialize(&chain).unwrap();
    assert_eq!(value.depth(), 512);
    assert_eq!(value.to_typed::<Chain>().unwrap(), chain);
    assert_eq!(
        Json::from_serialize(&Chain(vec![chain])),
        Err(ConvertProblem::Depth.into())
    );
    assert_eq!(
        Json::array([value]).to_typed::<Chain>(),
        Err(ConvertProblem::Depth.into())
    );
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Limits {
    max_size: u32,
    #[json(with = "doubled")]
    half: u32,
    mode: Mode,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_size: 7,
            half: 2,
            mode: Mode::OneAtATime,
        }
    }
}

fn doubled(json: &Json) -> Result<u32, ConvertError> {
    u32::from_json(json).map(|half| half * 2)
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    OneAtATime,
    #[serde(rename = "everything")]
    All,
}

#[test]
fn what_is_absent_comes_from_the_default() {
    assert_eq!(json!({}).to_typed::<Limits>(), Ok(Limits::default()));
    assert_eq!(
        json!({ "maxSize": 1, "half": 3, "mode": "everything" }).to_typed::<Limits>(),
        Ok(Limits {
            max_size: 1,
            half: 6,
            mode: Mode::All,
        })
    );
    round_trip(Mode::OneAtATime, json!("one-at-a-time"));
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(tag = "is", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum State {
    NotYet,
    Over(Over),
    Held {
        held_by: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[json(with = "present")]
        note: Option<Json>,
        #[serde(flatten)]
        over: Over,
    },
}

#[derive(Serialize, FromJson, PartialEq, Debug)]
#[serde(tag = "how", rename_all = "lowercase")]
enum Over {
    Well,
    Badly { count: u8 },
}

#[test]
fn tags_nest_and_null_differs_from_absent() {
    round_trip(
        vec![State::NotYet, State::Over(Over::Badly { count: 2 })],
        json!([{ "is": "not_yet" }, { "is": "over", "how": "badly", "count": 2 }]),
    );
    let held = |note| State::Held {
        held_by: None,
        note,
        over: Over::Well,
    };
    round_trip(held(None), json!({ "is": "held", "heldBy": null, "how": "well" }));
    round_trip(
        held(Some(Json::Null)),
        json!({ "is": "held", "heldBy": null, "note": null, "how": "well" }),
    );
    assert_eq!(
        json!({ "how": "well", "is": "held" }).to_typed::<State>(),
        Ok(held(None))
    );
}

/// The place inside the value is named, however deep.
#[test]
fn a_mismatch_says_where() {
    let problem = |json: Json| json.to_typed::<Vec<State>>().unwrap_err().to_string();
    assert_eq!(problem(json!({})), "expected an array");
    assert_eq!(problem(json!([1])), "0: expected an object");
    assert_eq!(problem(json!([{}])), "0: missing field `is`");
    assert_eq!(
        problem(json!([{ "is": 1 }])),
        "0.is: expected the name of a variant"
    );
    assert_eq!(
        problem(json!([{ "is": "x" }])),
        "0.is: unknown variant `x`, expected one of `not_yet`, `over`, `held`"
    );
    assert_eq!(
        problem(json!([{ "is": "not_yet" }, { "is": "over", "how": "badly", "count": 256 }])),
        "1.count: expected an integer that fits u8"
    );
    assert_eq!(
        json!({ "max": 1 }).to_typed::<Limits>().unwrap_err().to_string(),
        "unknown field `max`, expected one of `maxSize`, `half`, `mode`"
    );
    assert_eq!(
        json!({ "mode": "x" })
            .to_typed::<Limits>()
            .unwrap_err()
            .to_string(),
        "mode: unknown variant `x`, expected one of `one-at-a-time`, `everything`"
    );
    assert_eq!(
        json!({ "a": [1, "b"] })
            .to_typed::<BTreeMap<String, Vec<u8>>>()
            .unwrap_err()
            .to_string(),
        "a.1: expected an integer from 0"
    );
}
