use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{ConvertError, Json, json};

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(typed: T, wanted: Json) {
    let value = Json::from_serialize(&typed).unwrap();
    assert_eq!(value.to_string(), wanted.to_string());
    assert_eq!(value.to_typed::<T>().unwrap(), typed);
    // The same conventions as the usual JSON crate.
    assert_eq!(
        Json::parse(&serde_json::to_string(&typed).unwrap(), 512).unwrap(),
        value
    );
}

#[derive(Serialize, Deserialize, PartialEq, Debug, PartialOrd, Ord, Eq)]
struct Id(String);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
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

#[derive(Serialize, Deserialize, PartialEq, Debug)]
enum Plain {
    Unit,
    Newtype(u8),
    Tuple(i64, f64),
    Struct { a: Option<bool> },
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(u32),
    B { x: f64 },
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum Either {
    Number(i32),
    Text(String),
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "camelCase")]
struct Outer {
    id: Id,
    blocks: Vec<Block>,
    maybe: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    absent: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Json>,
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
            rest: BTreeMap::from([("extra".to_owned(), json!([1, {"b": true}]))]),
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
        vec![
            Plain::Unit,
            Plain::Newtype(7),
            Plain::Tuple(-3, 1.5),
            Plain::Struct { a: Some(true) },
        ],
        json!(["Unit", { "Newtype": 7 }, { "Tuple": [-3, 1.5] }, { "Struct": { "a": true } }]),
    );
    round_trip(
        vec![Adjacent::A(1), Adjacent::B { x: 2.0 }],
        json!([{ "t": "A", "c": 1 }, { "t": "B", "c": { "x": 2 } }]),
    );
    round_trip(vec![Either::Number(1), Either::Text("a".into())], json!([1, "a"]));
}

#[test]
fn plain_types_round_trip() {
    round_trip(
        (1u8, -1i64, 2.5f64, 'x', true, ()),
        json!([1, -1, 2.5, "x", true, null]),
    );
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
    assert_eq!(Json::from_serialize(&f64::NAN), Err(ConvertError::NotFinite));
    assert_eq!(
        Json::from_serialize(&vec![f32::INFINITY]),
        Err(ConvertError::NotFinite)
    );
    assert_eq!(
        Json::from_serialize(&(1u64 << 53)),
        Err(ConvertError::Integer(1 << 53))
    );
    assert_eq!(
        Json::from_serialize(&i64::MIN),
        Err(ConvertError::Integer(i64::MIN.into()))
    );
    assert!(matches!(
        Json::from_serialize(&u128::MAX),
        Err(ConvertError::Integer(_))
    ));
    assert_eq!(
        Json::from_serialize(&BTreeMap::from([(1, 2)])),
        Err(ConvertError::Key)
    );
    assert_eq!(
        Json::from_serialize(&BTreeMap::from([(Some("a"), 2)])),
        Err(ConvertError::Key)
    );
}

#[test]
fn what_is_no_such_type_is_refused() {
    assert!(json!({ "id": 1 }).to_typed::<Outer>().is_err());
    assert!(json!({ "type": "other" }).to_typed::<Block>().is_err());
    assert!(json!({ "Newtype": 1, "Unit": 2 }).to_typed::<Plain>().is_err());
    assert!(json!({ "Tuple": 1 }).to_typed::<Plain>().is_err());
    assert!(json!({ "Struct": [] }).to_typed::<Plain>().is_err());
    assert!(json!({ "Unit": 1 }).to_typed::<Plain>().is_err());
    assert!(json!(7).to_typed::<Plain>().is_err());
    assert!(json!(256).to_typed::<u8>().is_err());
    assert!(json!(-1).to_typed::<u8>().is_err());
    assert!(json!(1.5).to_typed::<i64>().is_err());
    assert!(json!(1e300).to_typed::<u64>().is_err());
    assert!(json!([1, 2, 3]).to_typed::<(u8, u8)>().is_err());
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
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
        Err(ConvertError::Depth)
    );
    assert!(matches!(
        Json::array([value]).to_typed::<Chain>(),
        Err(ConvertError::Depth)
    ));
}
