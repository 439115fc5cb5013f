//! Tool arguments: repair, finished text, and the streaming parser with its changes.

use crate::pure::{member, pure, text};
use crate::reader::{Outcome, Tally, same};
use tidehold_delta::{Json, Segment};
use tidehold_models::partial::shown_arguments;
use tidehold_models::tool_arguments::repair::repair_json;
use tidehold_models::tool_arguments::{ArgumentsParser, Change, parse_tool_call_arguments};

pub fn run(tally: &mut Tally) {
    tally.file("repairJson", |case| {
        pure(case, |input| repair_json(&text(input, "json")))
    });
    tally.file("parseToolCallArguments", |case| {
        finished(&text(&member(case, "input"), "json"), &member(case, "output"))
    });
    for name in ["StreamingJsonParser", "StreamingJsonParser.surrogates"] {
        tally.file(name, streaming);
    }
}

fn finished(text: &str, expected: &Json) -> Outcome {
    let actual = parse_tool_call_arguments(text);
    match (
        expected.get("argumentsError").and_then(Json::as_str),
        actual.error,
    ) {
        (None, None) => same(&actual.arguments, &member(expected, "arguments")),
        (Some(expected), Some(actual)) => same_error(&actual, expected),
        (expected, actual) => Outcome::Differs(format!("{text}: got {actual:?}, want {expected:?}")),
    }
}

/// A syntax error's own words are V8's; its frame and the sentence about objects are not.
fn same_error(actual: &str, expected: &str) -> Outcome {
    let marker = "\n\nReceived arguments:\n";
    let (reason, rest) = expected.split_once(marker).expect("a framed error");
    let own = "Tool arguments must be a JSON object";
    let agrees = actual
        .split_once(marker)
        .is_some_and(|(actual_reason, actual_rest)| {
            actual_rest == rest && (reason == own) == (actual_reason == own)
        });
    if agrees {
        Outcome::Agrees
    } else {
        Outcome::Differs(format!("got {actual}, want {expected}"))
    }
}

fn streaming(case: &Json) -> Outcome {
    let input = member(case, "input");
    let output = member(case, "output");
    let chunks: Vec<String> = input.get("chunks").expect("chunks").to_typed().expect("texts");
    let steps = output.get("steps").and_then(Json::as_array).expect("steps");
    let mut parser = ArgumentsParser::default();
    for (chunk, step) in chunks.iter().zip(steps) {
        let changes = Json::array(parser.append(chunk).iter().map(change));
        let snapshot = parser.snapshot();
        let actual = Json::object([
            ("changes", changes),
            ("hasValue", Json::Bool(snapshot.is_some())),
            ("snapshot", snapshot.unwrap_or_default()),
            ("toolArguments", shown_arguments(&parser)),
        ]);
        if let Outcome::Differs(how) = same(&actual, step) {
            return Outcome::Differs(format!("{:?} after {chunk:?}: {how}", chunks.concat()));
        }
    }
    finished(&chunks.concat(), &member(&output, "finish"))
}

fn change(change: &Change) -> Json {
    let path_json = |path: &[Segment]| {
        Json::array(path.iter().map(|segment| match segment {
            Segment::Key(key) => Json::from(key),
            Segment::Index(index) => Json::from(*index),
        }))
    };
    match change {
        Change::Set { path, value } => Json::object([
            ("kind", Json::from("set")),
            ("path", path_json(path)),
            ("value", value.clone()),
        ]),
        Change::Append { path, text } => Json::object([
            ("kind", Json::from("append")),
            ("path", path_json(path)),
            ("text", Json::from(text)),
        ]),
    }
}
