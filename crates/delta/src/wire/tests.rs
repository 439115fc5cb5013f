use super::*;
use crate::{ApplyError, Json, decode_batch, json};

#[test]
fn a_stream_reads_back_as_it_was_written() {
    let batches = [
        json!([["s", ["a"], 1], ["a", ["b", 0], "x"], ["t", ["b", 0], 1]]),
        json!([
            ["d", ["a"]],
            ["s", ["b", "0"], 1],
            ["p", [], 0, 1, [[]]],
            ["m", [], [1, 0]]
        ]),
        json!([]),
        json!([["p", [], 0, 0, []], ["r", {}], ["s", ["a"], 2], ["s", ["a"], 3]]),
    ];
    let wire = json!([
        [["s", ["a"], 1], ["a", ["b", 0], "x"], ["t", 1]],
        [
            ["#", 0, ["a"]],
            ["d", 0],
            ["s", ["b", "0"], 1],
            ["p", [], 0, 1, [[]]],
            ["m", [1, 0]]
        ],
        [],
        [
            ["#", 1, []],
            ["p", 1, 0, 0, []],
            ["r", {}],
            ["s", ["a"], 2],
            ["s", 3]
        ],
    ]);
    let (mut encoder, mut decoder) = (WireEncoder::new(), WireDecoder::new());
    for (batch, wire) in batches.iter().zip(wire.as_array().unwrap()) {
        let ops = decode_batch(batch).unwrap();
        assert_eq!(&encoder.encode(&ops), wire);
        assert_eq!(decoder.decode(wire), Ok(ops));
    }
}

#[test]
fn faults_have_their_class() {
    let cases = json!([
        ["PathError", ["d"]],
        ["PathError", ["s", 7, 1]],
        ["PathError", ["s", [], 1]],
        ["PathError", ["t", [], 1]],
        ["TypeError", ["#", 0.5, ["a"]]],
        ["TypeError", ["#", 0, ["a"], 1]],
        ["UnsafePathError", ["#", 0, ["__proto__"]]],
        ["UnsafePathError", ["#", 0, [-1]]],
        ["UnsafePathError", ["m", [null], []]],
        ["TypeError", ["s", 1.5, 1]],
        ["TypeError", ["s", "a", 1]],
        ["TypeError", ["a", ["a"], 1]],
        ["TypeError", ["t", ["a"], -1]],
        ["TypeError", ["p", ["a"], 0, 0, {}]],
        ["TypeError", ["d", ["a"], 1]],
        ["TypeError", ["x", ["a"]]],
        ["TypeError", [1]],
        ["TypeError", []],
        ["TypeError", 1],
        ["TypeError", ["r", 1, 2]],
    ]);
    for case in cases.as_array().unwrap() {
        let mut decoder = WireDecoder::new();
        let error = decoder
            .decode(&Json::array([case.index(1).unwrap().clone()]))
            .unwrap_err();
        assert_eq!(
            Some(error.class()),
            case.index(0).unwrap().as_str(),
            "{case}: {error}"
        );
        assert_eq!(decoder.decode(&json!([])), Err(error), "the stream has ended");
    }
    assert!(matches!(
        WireDecoder::new().decode(&json!({})),
        Err(ApplyError::Type(_))
    ));
}

#[test]
fn numbers_may_be_large_and_be_defined_again() {
    let mut decoder = WireDecoder::new();
    let wire = json!([
        ["#", 1e300, ["a"]],
        ["#", 1e301, ["b"]],
        ["s", 1e300, 1],
        ["#", 1e300, ["c"]],
        ["d", 1e300]
    ]);
    let wanted = decode_batch(&json!([["s", ["a"], 1], ["d", ["c"]]])).unwrap();
    assert_eq!(decoder.decode(&wire), Ok(wanted));
    assert!(decoder.decode(&json!([["d", 1e301]])).is_ok());
    assert!(decoder.decode(&json!([["r", 1], ["d", 1e301]])).is_err());
}
